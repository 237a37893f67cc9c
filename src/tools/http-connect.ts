/**
 * Connections whose address was judged before they were opened.
 *
 * - D1 A name is resolved once, and the connection goes to an address that was looked at: no second answer of a name
 *   server can lead elsewhere. One address that is not allowed refuses the name.
 * - D2 Until a connection is handed out nothing of a request has left: every failure here is `NotSent`.
 */
import { lookup } from "node:dns/promises";
import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectSecure } from "node:tls";
import { isPublicAddress } from "./http-addresses.ts";
import { bounded, nameOf } from "./outcome.ts";

export interface Target {
  readonly url: URL;
  /** Also loopback, private and other special addresses. */
  readonly privateAddresses: boolean;
  /** Certificates of authorities to trust instead of the system's, PEM. */
  readonly ca: string | undefined;
}

/** The certain knowledge that nothing was sent. */
export class NotSent extends Error {
  override readonly name = "NotSent";
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(bounded(message), { cause });
    this.code = code;
  }
}

/** Milliseconds for one address: a name may have others. */
const CONNECT_MS = 10_000;

/** @throws NotSent */
export async function connect(target: Target, signal: AbortSignal): Promise<Socket> {
  const addresses = await addressesOf(target, signal);
  let failure = new NotSent("name_not_resolved", "the name has no address");
  for (const address of addresses) {
    if (signal.aborted) break;
    try {
      return await open(target, address, signal);
    } catch (error) {
      failure = toNotSent(error);
    }
  }
  throw signal.aborted ? cancelled() : failure;
}

export function cancelled(): NotSent {
  return new NotSent("cancelled", "cancelled before anything was sent");
}

async function addressesOf(
  { url, privateAddresses }: Target,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const found = isIP(host) === 0 ? await resolve(host, signal) : [host];
  const hidden = found.find((address) => !isPublicAddress(address));
  if (hidden !== undefined && !privateAddresses) {
    throw new NotSent("address_not_allowed", "the name leads to an address that is not public");
  }
  return found;
}

async function resolve(host: string, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const found = await Promise.race([lookup(host, { all: true }), abortedBy(signal)]);
    return found.map(({ address }) => address);
  } catch (error) {
    if (signal.aborted) throw cancelled();
    throw new NotSent("name_not_resolved", `the name was not resolved (${nameOf(error)})`, error);
  }
}

function abortedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(cancelled());
    signal.addEventListener("abort", () => reject(cancelled()), { once: true });
  });
}

function open({ url, ca }: Target, address: string, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const secure = url.protocol === "https:";
    const port = url.port === "" ? (secure ? 443 : 80) : Number(url.port);
    const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
    const socket = secure
      ? connectSecure({
          host: address,
          port,
          ...(isIP(host) === 0 ? { servername: host } : {}),
          ...(ca === undefined ? {} : { ca }),
          // Said, since a variable of the environment could say otherwise: the reviewed definition names who is trusted.
          rejectUnauthorized: true,
          ALPNProtocols: ["http/1.1"],
        })
      : connectPlain({ host: address, port });
    const giveUp = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS)]);
    const stop = () => fail(new NotSent("timeout", `no connection within ${CONNECT_MS} ms`));
    const fail = (error: unknown) => {
      giveUp.removeEventListener("abort", stop);
      socket.destroy();
      reject(toNotSent(error));
    };
    // Stays, so that a connection that breaks between two owners ends nobody's process.
    socket.on("error", fail);
    giveUp.addEventListener("abort", stop, { once: true });
    socket.once(secure ? "secureConnect" : "connect", () => {
      giveUp.removeEventListener("abort", stop);
      resolve(socket);
    });
  });
}

const CODES: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "connection_refused"],
  ["EHOSTUNREACH", "unreachable"],
  ["ENETUNREACH", "unreachable"],
]);

function toNotSent(error: unknown): NotSent {
  if (error instanceof NotSent) return error;
  const system = error instanceof Error && "code" in error ? String(error.code) : "";
  const code = CODES.get(system) ?? "connection_failed";
  return new NotSent(code, `there was no connection (${nameOf(error)})`, error);
}
