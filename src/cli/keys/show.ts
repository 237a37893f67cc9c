import { keyIdOf, publicKeyText, readTrust } from "../../app/keys.ts";
import { secondsNow } from "../../app/time.ts";
import { readJson } from "../../base/json.ts";
import type { TrustDocument, TrustedKey } from "../../model/trust.ts";
import { fault } from "../fault.ts";
import { MAX_DOCUMENT_BYTES, readDocument } from "../files.ts";
import { ofTrustFile } from "../json-file.ts";
import { openKey } from "../passphrase.ts";
import type { Call, Outcome } from "../spec.ts";
import { table } from "../table.ts";

/** The public half of a key file, or what a trust store says. */
export async function run(call: Call): Promise<Outcome> {
  const [file = ""] = call.arguments;
  const bytes = await readDocument(file, "file", MAX_DOCUMENT_BYTES, call.terminal);
  if (Buffer.from(bytes.subarray(0, 10)).toString("latin1") === "-----BEGIN") {
    const key = await openKey(call, file);
    const text = publicKeyText(key);
    const { id } = key.publicKey;
    return {
      exit: "verified",
      json: { file, id, public: text },
      text: `public  ${text}\nid      ${id}`,
    };
  }
  const read = readJson(bytes);
  if (!read.ok) {
    throw fault("trust_refused", `${file} is neither a key file nor a trust store`, undefined, {
      file,
      fault: "malformed_envelope",
    });
  }
  const { document, digest } = await ofTrustFile(file, () => readTrust(read.value));
  const now = secondsNow();
  return {
    exit: "verified",
    json: { file, digest, trust: document },
    text: trustText(document, digest, now),
  };
}

function trustText(document: TrustDocument, digest: string, now: number): string {
  const { audience, version, issued, expires, root, keys } = document;
  const rows = keys.map((entry) => [
    entry.role,
    entry.name,
    standing(entry, now),
    entry.public,
    keyIdOf(entry.public),
  ]);
  return [
    `host     ${audience}`,
    `version  ${version}, issued ${date(issued)}`,
    `expires  ${date(expires)}${expires <= now ? " (expired: nothing new is admitted)" : ""}`,
    `digest   ${digest}`,
    `root     ${root.threshold} of ${root.keys.length}: ${root.keys.join(", ")}`,
    "",
    table(["role", "name", "good", "public", "id"], rows),
  ].join("\n");
}

function standing({ valid_from: from, valid_to: to, revoked }: TrustedKey, now: number): string {
  if (revoked !== undefined) return `revoked ${date(revoked.at)}: ${revoked.reason}`;
  if (now < from) return `from ${date(from)}`;
  return now < to ? `until ${date(to)}` : `ended ${date(to)}`;
}

function date(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
