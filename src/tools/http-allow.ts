/**
 * Where an HTTP tool may go. A request that no allowance covers is none; what one parser could read differently from
 * another is refused, not normalised.
 */

import { sha256Hex } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import { type Credential, isCredential } from "./credentials.ts";
import type { Target } from "./http-connect.ts";

export interface Allowance {
  /** Scheme, host and port as a browser writes them: `https://api.example.com`. */
  readonly origin: string;
  readonly methods: readonly HttpMethod[];
  /** Path prefixes by whole segments: `/v1/invoices` covers `/v1/invoices/7` and not `/v1/invoices-old`. */
  readonly paths: readonly string[];
  /** Also names that lead to loopback, private and other special addresses. Default false. */
  readonly privateAddresses?: boolean;
  /** Certificates of authorities to trust instead of the system's, PEM. */
  readonly ca?: string;
  /** Sent to this origin and to no other; only over https, but for private addresses. */
  readonly credentials?: readonly Credential[];
}

export const HTTP_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;
export type HttpMethod = (typeof HTTP_METHODS)[number];

export interface Allowed {
  readonly target: Target;
  readonly credentials: readonly Credential[];
}

const MAX_URL = 4096;
/** Escapes that hide a separator, a dot, an escape or an end, and segments that some servers take for the one above. */
const AMBIGUOUS = /%(2f|5c|2e|25|00)|\\|\/\/|\/\.\./i;

/** @throws RoteError `bad_tool` */
export function checkAllowances(name: string, allowances: readonly Allowance[]): void {
  const bad = (what: string) => new RoteError("bad_tool", `${name}: ${what}`, { name });
  if (allowances.length === 0) throw bad("nothing is allowed");
  for (const { origin, methods, paths, credentials, privateAddresses } of allowances) {
    if (!URL.canParse(origin) || new URL(origin).origin !== origin || !isHttp(new URL(origin))) {
      throw bad(`${JSON.stringify(origin)} is no origin like https://api.example.com`);
    }
    const known: readonly string[] = HTTP_METHODS;
    if (methods.length === 0 || !methods.every((method) => known.includes(method))) {
      throw bad(`the methods of ${origin} are some of ${known.join(" ")}`);
    }
    if (paths.length === 0 || !paths.every((path) => isPath(origin, path))) {
      throw bad(`the paths of ${origin} begin with / and need no normalising`);
    }
    if (!(credentials ?? []).every(isCredential)) {
      throw bad(`a credential of ${origin} has no good name, header or scheme`);
    }
    if ((credentials ?? []).length > 0 && !origin.startsWith("https:") && !privateAddresses) {
      throw bad(`${origin} would get credentials in the clear`);
    }
  }
}

/** What the definition says of it, so that a reviewer signs it. */
export function shownAllowances(
  allowances: readonly Allowance[],
): readonly { readonly [member: string]: JsonValue }[] {
  return allowances.map((allowance) => ({
    origin: allowance.origin,
    methods: allowance.methods,
    paths: allowance.paths,
    private_addresses: allowance.privateAddresses ?? false,
    ca_sha256: allowance.ca === undefined ? null : sha256Hex(Buffer.from(allowance.ca)),
    credentials: (allowance.credentials ?? []).map(({ name, header, scheme }) => ({
      name,
      header: header ?? "authorization",
      scheme: scheme ?? null,
    })),
  }));
}

/** How the request may go, or why it may not. */
export function allowedBy(
  allowances: readonly Allowance[],
  method: string,
  text: string,
): Allowed | string {
  if (text.length > MAX_URL || !URL.canParse(text)) return "/url: not an absolute URL";
  const url = new URL(text);
  if (url.href !== text) return "/url: not in normal form";
  if (!isHttp(url)) return "/url: neither http nor https";
  if (url.username !== "" || url.password !== "" || text.includes("#")) {
    return "/url: user, password and fragment have no place in it";
  }
  if (AMBIGUOUS.test(url.pathname)) return "/url: its path can be read in two ways";
  const found = allowances.find(
    ({ origin, methods, paths }) =>
      origin === url.origin &&
      methods.some((each) => each === method) &&
      paths.some((prefix) => covers(prefix, url.pathname)),
  );
  if (found === undefined) return "the host does not allow this method, origin and path";
  const target = { url, privateAddresses: found.privateAddresses ?? false, ca: found.ca };
  return { target, credentials: found.credentials ?? [] };
}

function covers(prefix: string, path: string): boolean {
  return path === prefix || path.startsWith(prefix.endsWith("/") ? prefix : `${prefix}/`);
}

function isPath(origin: string, path: string): boolean {
  if (!path.startsWith("/") || AMBIGUOUS.test(path) || path.includes("?")) return false;
  return URL.canParse(origin + path) && new URL(origin + path).href === origin + path;
}

function isHttp(url: URL): boolean {
  return url.protocol === "https:" || url.protocol === "http:";
}
