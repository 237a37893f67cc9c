/**
 * Bundles of the sigstore conformance suite, judged with our DSSE, Merkle tree, signed notes and strict reader. Their
 * envelopes are signed with ECDSA, so that one signature is checked by the platform; certificates and timestamps are
 * outside of what Rote knows and not looked at.
 */
import { createHash, verify, X509Certificate } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fromBase64, sameBytes } from "../../../src/base/bytes.ts";
import { preAuthEncoding } from "../../../src/base/dsse.ts";
import { type JsonValue, readJson } from "../../../src/base/json.ts";
import { leafHash, verifyInclusion } from "../../../src/base/merkle.ts";
import { keyHint, type NoteKey, openNote, parseTreeHead } from "../../../src/base/note.ts";
import { readPointer } from "../../../src/base/pointer.ts";
import { publicKey } from "../../../src/base/sign.ts";
import { sharedPath, sharedPresent } from "../../support/shared.ts";

const SET = "vectors/sigstore-dsse-tlog";

/** About the validity of keys in a trusted root, which is not in these formats. */
const NOT_APPLICABLE = [
  "trust-root-tlog-missing-validity-start_fail",
  "trust-root-tlog-validity-end-inclusive",
];

class Bundle {
  readonly #json: JsonValue;

  constructor(json: JsonValue) {
    this.#json = json;
  }

  at(...tokens: readonly string[]): JsonValue | undefined {
    return readPointer(this.#json, tokens);
  }

  text(...tokens: readonly string[]): string {
    const value = this.at(...tokens);
    if (typeof value === "string") return value;
    throw new Error(`no text at ${tokens.join("/")}`);
  }

  bytes(...tokens: readonly string[]): Uint8Array {
    const read = fromBase64(this.text(...tokens));
    if (read === undefined) throw new Error(`no base64 at ${tokens.join("/")}`);
    return read;
  }
}

function read(folder: string, file: string): JsonValue | undefined {
  const path = sharedPath(`${SET}/${folder}/${file}`);
  if (!readdirSync(sharedPath(`${SET}/${folder}`)).includes(file)) return undefined;
  const json = readJson(readFileSync(path));
  if (!json.ok) throw new Error(`${path}: ${json.error.message}`);
  return json.value;
}

const ENTRY = ["verificationMaterial", "tlogEntries", "0"];
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest();

/** Everything that is wrong with a bundle. */
function faultsOf(folder: string): readonly string[] {
  const json = read(folder, "bundle.sigstore.json");
  if (json === undefined) throw new Error("no bundle");
  const bundle = new Bundle(json);
  const root = read(folder, "trusted_root.json");
  const faults: string[] = [];
  const certificate = bundle.bytes("verificationMaterial", "certificate", "rawBytes");
  const signed = signedBy(bundle);
  const { publicKey: key } = new X509Certificate(certificate);
  if (!verify("sha256", signed.message, key, signed.signature)) faults.push("signature");
  const body = bundle.bytes(...ENTRY, "canonicalizedBody");
  if (!isAbout(body, signed, certificate)) faults.push("binding");
  if (bundle.at(...ENTRY, "inclusionProof") === undefined) return [...faults, "no proof"];
  const size = BigInt(bundle.text(...ENTRY, "inclusionProof", "treeSize"));
  const index = BigInt(bundle.text(...ENTRY, "inclusionProof", "logIndex"));
  const rootHash = bundle.bytes(...ENTRY, "inclusionProof", "rootHash");
  const hashes = bundle.at(...ENTRY, "inclusionProof", "hashes") as readonly string[];
  const path = hashes.map((hash) => fromBase64(hash) ?? new Uint8Array());
  if (!verifyInclusion(leafHash(body), index, size, path, rootHash)) faults.push("inclusion");
  const note = bundle.text(...ENTRY, "inclusionProof", "checkpoint", "envelope");
  if (!isHead(note, size, rootHash, root)) faults.push("tree head");
  return faults;
}

interface Signed {
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
  readonly payload: Uint8Array | null;
}

function signedBy(bundle: Bundle): Signed {
  if (bundle.at("dsseEnvelope") === undefined) {
    const message = readFileSync(sharedPath(`${SET}/a.txt`));
    return { message, signature: bundle.bytes("messageSignature", "signature"), payload: null };
  }
  const payload = bundle.bytes("dsseEnvelope", "payload");
  const message = preAuthEncoding(bundle.text("dsseEnvelope", "payloadType"), payload);
  return { message, signature: bundle.bytes("dsseEnvelope", "signatures", "0", "sig"), payload };
}

/** The logged entry must be about exactly what is at hand: message, signature and certificate. */
function isAbout(
  body: Uint8Array,
  { message, signature, payload }: Signed,
  certificate: Uint8Array,
) {
  const json = readJson(body);
  if (!json.ok) return false;
  const entry = new Bundle(json.value);
  if (entry.text("kind") === "dsse") {
    const pem = Buffer.from(entry.bytes("spec", "signatures", "0", "verifier")).toString();
    return (
      payload !== null &&
      entry.text("spec", "payloadHash", "value") === sha256(payload).toString("hex") &&
      sameBytes(entry.bytes("spec", "signatures", "0", "signature"), signature) &&
      sameBytes(new X509Certificate(pem).raw, certificate)
    );
  }
  const at = ["spec", "hashedRekordV002"];
  return (
    sameBytes(entry.bytes(...at, "data", "digest"), sha256(message)) &&
    sameBytes(entry.bytes(...at, "signature", "content"), signature) &&
    sameBytes(
      entry.bytes(...at, "signature", "verifier", "x509Certificate", "rawBytes"),
      certificate,
    )
  );
}

/** Without a trusted root the log's own key is not known: then only what the head says is compared. */
function isHead(note: string, size: bigint, rootHash: Uint8Array, root: JsonValue | undefined) {
  const keys = root === undefined ? undefined : logKeys(root);
  const opened = keys && openNote(note, keys);
  if (opened !== undefined && !opened.ok) return false;
  const text = opened?.value.text ?? note.slice(0, note.indexOf("\n\n") + 1);
  const head = parseTreeHead(text);
  if (head === undefined || head.size !== size || !sameBytes(head.root, rootHash)) return false;
  return opened === undefined || opened.value.names.includes(head.origin);
}

/** The logs of a trusted root that sign with Ed25519, under their host names. */
function logKeys(root: JsonValue): readonly NoteKey[] {
  const logs = readPointer(root, ["tlogs"]) as readonly JsonValue[];
  return logs.flatMap((json): NoteKey[] => {
    const log = new Bundle(json);
    if (log.text("publicKey", "keyDetails") !== "PKIX_ED25519") return [];
    const key = publicKey(log.bytes("publicKey", "rawBytes").subarray(12));
    return [{ name: new URL(log.text("baseUrl")).hostname, key }];
  });
}

describe.skipIf(!sharedPresent(SET))("sigstore bundles (absent where the shared data is)", () => {
  const folders = sharedPresent(SET)
    ? readdirSync(sharedPath(SET), { withFileTypes: true }).flatMap((entry) =>
        entry.isDirectory() && !NOT_APPLICABLE.includes(entry.name) ? [entry.name] : [],
      )
    : [];

  it("are 20 that apply", () => {
    expect(folders).toHaveLength(20);
    expect(folders.filter((folder) => folder.endsWith("_fail"))).toHaveLength(12);
  });

  it.each(folders)("%s", (folder) => {
    const faults = faultsOf(folder);
    if (folder.endsWith("_fail")) expect(faults).not.toEqual([]);
    else expect(faults).toEqual([]);
  });

  it("with a good signature and a good proof of different envelopes are told by the comparison alone", () => {
    expect(faultsOf("dsse-mismatch-envelope_fail")).toEqual(["binding"]);
    expect(faultsOf("rekor2-dsse-mismatch-envelope_fail")).toEqual(["binding"]);
  });

  it("come from logs whose note key ids are the ones that we compute", () => {
    const root = read("rekor2-happy-path", "trusted_root.json");
    if (root === undefined) throw new Error("no trusted root");
    const logs = readPointer(root, ["tlogs"]) as readonly JsonValue[];
    const ids = logs.flatMap((json) => {
      const log = new Bundle(json);
      const ed25519 = log.text("publicKey", "keyDetails") === "PKIX_ED25519";
      return ed25519
        ? [Buffer.from(log.bytes("logId", "keyId")).subarray(0, 4).toString("hex")]
        : [];
    });
    const computed = logKeys(root).map(({ name, key }) =>
      Buffer.from(keyHint(name, key)).toString("hex"),
    );
    expect(computed.length).toBeGreaterThan(0);
    expect(computed).toEqual(ids);
  });
});
