/**
 * Credentials by name. Their values come from the host at the moment they are needed, go into one header, and are taken
 * out of whatever comes back.
 */
import { isJsonArray, type JsonValue } from "../base/json.ts";
import { NotSent } from "./http-connect.ts";

export interface Credential {
  readonly name: string;
  /** Header that carries it. Default `authorization`. */
  readonly header?: string;
  /** Word before the value. Default `Bearer` in `authorization`, else none. */
  readonly scheme?: string;
}

/** The value of a credential, or undefined when the host has none. */
export type Secrets = (name: string) => string | undefined;

export interface Carried {
  readonly headers: Readonly<Record<string, string>>;
  /** The value with every credential in it replaced by its name. */
  hide(this: void, value: JsonValue): JsonValue;
}

/** Shorter ones could not be told from data when they are taken out. */
const LEAST = 8;
const HEADER = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;
const VALUE = /^[\x20-\x7e]+$/;

/** Whether a host may declare it so. */
export function isCredential({ name, header, scheme }: Credential): boolean {
  const named = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name);
  return named && HEADER.test(header ?? "authorization") && VALUE.test(scheme ?? "Bearer");
}

/** @throws NotSent `credential_missing` */
export function carry(credentials: readonly Credential[], secrets: Secrets): Carried {
  const headers: Record<string, string> = {};
  for (const { name, header = "authorization", scheme } of credentials) {
    const value = secretOf(name, secrets);
    const word = scheme ?? (header === "authorization" ? "Bearer" : "");
    headers[header] = word === "" ? value : `${word} ${value}`;
  }
  return { headers, hide: hiding(credentials, secrets) };
}

/** @throws NotSent `credential_missing` */
export function hiding(
  credentials: readonly { readonly name: string }[],
  secrets: Secrets,
): (value: JsonValue) => JsonValue {
  const hidden = credentials.flatMap(({ name }) =>
    formsOf(secretOf(name, secrets)).map((form) => [form, `[credential ${name}]`] as const),
  );
  return (value) => hide(value, hidden);
}

/** @throws NotSent `credential_missing` */
export function secretOf(name: string, secrets: Secrets): string {
  let value: string | undefined;
  try {
    value = secrets(name);
  } catch {
    // Its text could repeat what it failed to decode.
  }
  if (value !== undefined && value.length >= LEAST && VALUE.test(value)) return value;
  throw new NotSent("credential_missing", `the host has no usable credential ${name}`);
}

/** How a target that repeats a credential is likely to write it. */
function formsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const escaped = encodeURIComponent(value);
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    bytes.toString("base64").replaceAll("=", ""),
    bytes.toString("base64url"),
    escaped,
    escaped.replaceAll(/%../g, (byte) => byte.toLowerCase()),
  ];
}

function hide(value: JsonValue, hidden: readonly (readonly [string, string])[]): JsonValue {
  if (hidden.length === 0) return value;
  if (typeof value === "string") {
    return hidden.reduce((text, [form, shown]) => text.replaceAll(form, shown), value);
  }
  if (typeof value === "number") {
    const text = String(value);
    const shown = hide(text, hidden);
    return shown === text ? value : shown;
  }
  if (value === null || typeof value !== "object") return value;
  if (isJsonArray(value)) return value.map((member) => hide(member, hidden));
  const copy: { [key: string]: JsonValue } = Object.create(null);
  for (const [key, member] of Object.entries(value)) {
    copy[String(hide(key, hidden))] = hide(member, hidden);
  }
  return copy;
}
