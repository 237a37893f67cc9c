/** Which addresses are on the public internet. Everything else needs the host's explicit word. */
import { BlockList, isIP } from "node:net";

/** IANA special-purpose registries, IPv4: this network, private, shared, loopback, link-local, tests, multicast, reserved. */
const NOT_PUBLIC_4: readonly (readonly [network: string, prefix: number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];

/** Inside the global unicast range: protocol assignments and Teredo, documentation, 6to4, which carries an IPv4 address. */
const NOT_PUBLIC_6: readonly (readonly [network: string, prefix: number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

const special4 = new BlockList();
for (const [network, prefix] of NOT_PUBLIC_4) special4.addSubnet(network, prefix, "ipv4");
const special6 = new BlockList();
for (const [network, prefix] of NOT_PUBLIC_6) special6.addSubnet(network, prefix, "ipv6");
/** Addresses that wrap an IPv4 address (mapped, translated) lie outside, and so do loopback, link-local and unique local. */
const global6 = new BlockList();
global6.addSubnet("2000::", 3, "ipv6");

export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special4.check(address, "ipv4");
    case 6:
      return global6.check(address, "ipv6") && !special6.check(address, "ipv6");
    default:
      return false;
  }
}
