/** A trust store in a file, changed by its owner: the next version takes the place of the one before, or none does. */
import { existsSync } from "node:fs";
import { changeTrust, keyIdOf, type NewKey, readTrust, type TrustEdit } from "../../app/keys.ts";
import { secondsNow } from "../../app/time.ts";
import { RoteError } from "../../base/error.ts";
import type { JsonValue } from "../../base/json.ts";
import { isKeyName } from "../../base/note.ts";
import type { PrivateKey } from "../../base/sign.ts";
import { holderName, ROLES, type Role } from "../../model/trust.ts";
import type { TrustStore } from "../../trust/trust-store.ts";
import { fault, meantHint, usageFault } from "../fault.ts";
import { writeDocument } from "../files.ts";
import { readJsonFile } from "../json-file.ts";
import { openKeys } from "../passphrase.ts";
import { type Call, type Outcome, textOption, textOptions } from "../spec.ts";

const DAY = 86_400;
/** Keys and stores are good for so long where nothing else is said. */
const DAYS = 365;

/** Keys of the root that sign the change. */
export async function openRoots(call: Call): Promise<readonly PrivateKey[]> {
  const files = textOptions(call.options, "root");
  if (files.length > 0) return await openKeys(call, files);
  throw usageFault(
    "a trust store is signed by its root",
    "name the root's key files with --root FILE",
  );
}

/** When the next version was made, and until when it is good if that is said. */
export function editTimes({ options }: Call): Pick<TrustEdit, "issued" | "expires"> {
  const issued = secondsNow();
  const days = daysOf(textOption(options, "expires-days"), "expires-days");
  return days === undefined ? { issued } : { issued, expires: issued + days * DAY };
}

export function expiryOf({ expires, issued }: Pick<TrustEdit, "issued" | "expires">): number {
  return expires ?? issued + DAYS * DAY;
}

/** Until when a key is good that is listed now. */
export function keyEnd({ options }: Call): number {
  return secondsNow() + (daysOf(textOption(options, "days"), "days") ?? DAYS) * DAY;
}

/** A key from `role:name:public`. */
export function keyFrom(text: string, validTo: number): NewKey {
  const [role = "", name = "", key = "", ...more] = text.split(":");
  const known = ROLES.find((one): one is Role => one === role);
  if (name === "" || key === "" || more.length > 0) {
    throw usageFault(
      `--add ${text} is no ROLE:NAME:PUBLIC`,
      `roles are ${ROLES.join(", ")}; rote keys generate prints the public key`,
    );
  }
  if (known === undefined) {
    throw usageFault(
      `--add ${text}: there is no role "${role}"`,
      meantHint(role, ROLES, `roles are ${ROLES.join(", ")}`),
    );
  }
  refuseOddName(name, `--add ${text}`);
  return { public: key, name, role: known, valid_from: secondsNow(), valid_to: validTo };
}

/** Names of key holders have one spelling each, so that who asks and who approves can be told apart. */
export function refuseOddName(name: string, given: string): void {
  if (holderName.safeParse(name).success) return;
  throw usageFault(
    `${given}: "${name}" is no name of a key holder`,
    "a name has lower-case letters, digits and . _ -, begins with a letter or digit, and has 64 characters at most",
  );
}

/** The name of a host's journal, as --origin gives it. */
export function originOf(text: string): string {
  if (isKeyName(text) && text.length <= 255) return text;
  throw usageFault(
    `--origin "${text}" is no name of a host`,
    "write it like accounts.example/payments, without spaces and +, 255 characters at most",
  );
}

export async function trustIn({ arguments: words, terminal }: Call): Promise<JsonValue> {
  return await readJsonFile(words[0] ?? "", "trust", terminal);
}

/** The text of a key that a trust store lists, or has in its root, by its text or its id. */
export function listedKey({ document }: TrustStore, named: string): string {
  const texts = [...document.keys.map((entry) => entry.public), ...document.root.keys];
  const found = texts.find((text) => text === named || keyIdOf(text) === named);
  if (found !== undefined) return found;
  throw fault(
    "unknown_key",
    `the trust store does not list the key ${named}`,
    "rote keys show lists them, with their ids",
    { key: named },
  );
}

/** The next version, signed by the root; what is refused of the command line's own words is told by these words. */
export function changedBy(
  call: Call,
  trust: JsonValue,
  edit: TrustEdit,
  roots: readonly PrivateKey[],
): JsonValue {
  const [file = ""] = call.arguments;
  const { document } = readTrust(trust);
  for (const { public: text } of edit.add ?? []) {
    const listed = document.keys.find((entry) => entry.public === text);
    if (listed === undefined) continue;
    const message = `${file} lists the key ${text} already, of ${listed.name} as ${listed.role}`;
    throw fault("trust_refused", message, undefined, { fault: "repeated_key" });
  }
  try {
    return changeTrust(trust, edit, roots);
  } catch (error) {
    const known = error instanceof RoteError && error.data["fault"] === "unknown_key";
    if (!known) throw error;
    const named = textOptions(call.options, "root").join(", ");
    const message = `--root ${named}: not only keys of the root of ${file}`;
    throw fault("trust_refused", message, undefined, { fault: "foreign_root" });
  }
}

/** Puts the new version where the one before was, or where --out says. */
export function written(call: Call, envelope: JsonValue): Outcome {
  const [file = ""] = call.arguments;
  const out = textOption(call.options, "out") ?? file;
  writeDocument(out, `${JSON.stringify(envelope, null, 2)}\n`, out === file && existsSync(file));
  const { document, digest } = readTrust(envelope);
  const { version, audience, keys } = document;
  return {
    exit: "verified",
    json: { file: out, version, host: audience, keys: keys.length, digest },
    text:
      `ok ${out} is version ${version} of the trust store of ${audience}, ${keys.length} keys\n   ${digest}` +
      "\nnote: a host takes over one version after the other: have it opened with this one before the next is made",
  };
}

function daysOf(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9][0-9]{0,4}$/.test(text)) return Number(text);
  throw usageFault(`--${name} ${text} is no number of days`, `write for example --${name} 90`);
}
