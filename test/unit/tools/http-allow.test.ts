import { describe, expect, it } from "vitest";
import { isPublicAddress } from "../../../src/tools/http-addresses.ts";
import { type Allowance, allowedBy, checkAllowances } from "../../../src/tools/http-allow.ts";

const ALLOW: readonly Allowance[] = [
  {
    origin: "https://api.example.com",
    methods: ["GET", "POST"],
    paths: ["/v1/invoices", "/open/"],
  },
  { origin: "https://api.example.com:8443", methods: ["DELETE"], paths: ["/"] },
];

const verdict = (method: string, url: string) => {
  const found = allowedBy(ALLOW, method, url);
  return typeof found === "string" ? found : "allowed";
};

describe("what an HTTP tool may reach", () => {
  it.each([
    ["GET", "https://api.example.com/v1/invoices"],
    ["POST", "https://api.example.com/v1/invoices/7"],
    ["GET", "https://api.example.com/v1/invoices?state=open&x=%2Fa"],
    ["GET", "https://api.example.com/open/"],
    ["GET", "https://api.example.com/open/a%20b"],
    ["DELETE", "https://api.example.com:8443/anything/at/all"],
  ])("%s %s is allowed", (method, url) => {
    expect(verdict(method, url)).toBe("allowed");
  });

  it.each([
    ["GET", "https://api.example.com/"],
    ["GET", "https://api.example.com/v1"],
    ["GET", "https://api.example.com/v1/invoices-old"],
    ["GET", "https://api.example.com/V1/invoices"],
    ["GET", "https://api.example.com/open"],
    ["DELETE", "https://api.example.com/v1/invoices"],
    ["get", "https://api.example.com/v1/invoices"],
    ["GET", "http://api.example.com/v1/invoices"],
    ["GET", "https://api.example.com:8443/v1/invoices"],
    ["GET", "https://api.example.com.evil.example/v1/invoices"],
    ["GET", "https://xapi.example.com/v1/invoices"],
    ["GET", "https://api.example.com./v1/invoices"],
  ])("%s %s is another method, origin or path", (method, url) => {
    expect(verdict(method, url)).toBe("the host does not allow this method, origin and path");
  });

  it.each([
    "https://api.example.com/v1/invoices/../admin",
    "https://api.example.com/v1/invoices/%2e%2e/admin",
    "https://api.example.com\\@evil.example/v1/invoices",
    "https://API.example.com/v1/invoices",
    "https://api.example.com:443/v1/invoices",
    "https:api.example.com/v1/invoices",
    " https://api.example.com/v1/invoices",
    "https://api.example.com/v1/invoices/a b",
    "https://api.example.com/v1/in\tvoices",
    "https://api.example.com",
  ])("%j is not in normal form", (url) => {
    expect(verdict("GET", url)).toBe("/url: not in normal form");
  });

  it.each([
    "https://api.example.com/v1/invoices/..%2fadmin",
    "https://api.example.com/v1/invoices/%5C..%5Cadmin",
    "https://api.example.com/v1/invoices//admin",
    "https://api.example.com/v1/invoices/..;/admin",
    "https://api.example.com/v1/invoices/%252e%252e/admin",
    "https://api.example.com/v1/invoices/x%00",
  ])("%j has a path that can be read in two ways", (url) => {
    expect(verdict("GET", url)).toBe("/url: its path can be read in two ways");
  });

  it.each([
    ["user and password", "https://me:secret@api.example.com/v1/invoices", /have no place/],
    ["a fragment", "https://api.example.com/v1/invoices#a", /have no place/],
    ["another scheme", "file:///etc/passwd", /neither http nor https/],
    ["no scheme", "/v1/invoices", /not an absolute URL/],
    ["too many characters", `https://api.example.com/v1/${"a".repeat(4096)}`, /not an absolute/],
  ])("an URL with %s is refused", (_, url, message) => {
    expect(verdict("GET", url)).toMatch(message);
  });

  const bad: readonly [string, readonly Allowance[], RegExp][] = [
    ["nothing", [], /nothing is allowed/],
    ["a URL for an origin", [{ ...ALLOW[0]!, origin: "https://a.example/" }], /no origin/],
    ["an origin of another scheme", [{ ...ALLOW[0]!, origin: "ftp://a.example" }], /no origin/],
    ["no methods", [{ ...ALLOW[0]!, methods: [] }], /methods/],
    ["a method that is none", [{ ...ALLOW[0]!, methods: ["TRACE" as "GET"] }], /methods/],
    ["a path that climbs", [{ ...ALLOW[0]!, paths: ["/a/../b"] }], /paths/],
    ["a path without slash", [{ ...ALLOW[0]!, paths: ["a"] }], /paths/],
    [
      "credentials in the clear",
      [{ ...ALLOW[0]!, origin: "http://a.example", credentials: [{ name: "k" }] }],
      /in the clear/,
    ],
    [
      "a header that is none",
      [{ ...ALLOW[0]!, credentials: [{ name: "k", header: "a b" }] }],
      /no good name/,
    ],
  ];
  it.each(bad)("a tool cannot be declared with %s", (_, allow, message) => {
    expect(() => checkAllowances("t", allow)).toThrow(message);
  });
});

describe("addresses", () => {
  it.each(["8.8.8.8", "1.1.1.1", "172.15.0.1", "172.32.0.1", "2606:4700::1111", "2a00:1450::1"])(
    "%s is public",
    (address) => expect(isPublicAddress(address)).toBe(true),
  );

  it.each([
    "0.0.0.0",
    "10.0.0.1",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "198.19.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::7f00:1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "2001:0:1::1",
    "2001:db8::1",
    "fc00::1",
    "fd12::1",
    "fe80::1",
    "ff02::1",
    "localhost",
    "",
  ])("%j is not public", (address) => expect(isPublicAddress(address)).toBe(false));
});
