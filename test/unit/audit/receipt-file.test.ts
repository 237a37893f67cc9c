/** One receipt with its proof, for somebody who has nothing else but a trust store. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exportReceipt, type ReceiptFile, verifyReceipt } from "../../../src/audit/index.ts";
import { canonicalText } from "../../../src/base/canonical.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { type Host, partsOf } from "../../../src/host/index.ts";
import type { TrustedKey } from "../../../src/model/trust.ts";
import type { Run } from "../../../src/run/index.ts";
import { signTrust } from "../../../src/trust/trust-store.ts";
import {
  changedAt,
  type Json,
  leavesOf,
  signedBy,
  statementIn,
} from "../../support/audit/forge.ts";
import { payTwice } from "../../support/audit/record.ts";
import { bank, hostAt, INPUTS } from "../../support/gate.ts";
import { KEYS, nowSeconds, trust, trustDocument } from "../../support/host.ts";

const own = trust();
let host: Host;
let first: Run;
let other: Run;
let file: ReceiptFile & Json;

const exported = async (receipt: string) =>
  exportReceipt(partsOf(host).journal, receipt) as ReceiptFile & Json;

beforeAll(async () => {
  host = await hostAt(null, bank(), { trust: own });
  first = await payTwice(host);
  other = await payTwice(host, { ...INPUTS, account: "8" });
  file = await exported(first.receipts[1] ?? "");
});
afterAll(() => host.close());

const check = (
  changed: JsonValue,
  expected: Parameters<typeof verifyReceipt>[1]["expected"] = null,
  by: JsonValue = own,
) => verifyReceipt(changed, { trust: by, expected });
const codes = (changed: JsonValue, by?: JsonValue) =>
  check(changed, null, by).findings.map(({ code }) => code);

describe("a receipt by itself", () => {
  it("verifies, says what it is about, and is in the log of a signed head", () => {
    const report = check(file);
    expect(report).toMatchObject({
      verified: true,
      findings: [],
      statement: { predicate: { run: first.id, node: "one", outcome: "done" } },
    });
    expect(file.index).toBe(9);
    expect(file.proof).toHaveLength(4);
  });

  it("of every run, and of every place in the log, verifies", async () => {
    for (const receipt of [...first.receipts, ...other.receipts]) {
      expect(check(await exported(receipt)).verified).toBe(true);
    }
  });

  it("of another run or operation than was asked for is refused, with both named (B079)", async () => {
    const operation = `sha256:${JSON.parse(JSON.stringify(check(file).statement)).subject[0].digest.sha256}`;
    expect(check(file, { run: first.id, operation }).verified).toBe(true);
    const wrongRun = check(file, { run: other.id });
    expect(wrongRun.findings).toMatchObject([{ code: "subject_differs" }]);
    expect(wrongRun.findings[0]?.message).toContain(first.id);
    expect(wrongRun.findings[0]?.message).toContain(other.id);
    const zeros = `sha256:${"0".repeat(64)}`;
    const wrongOperation = check(file, { operation: zeros });
    expect(wrongOperation.findings[0]?.message).toContain(operation);
    expect(wrongOperation.findings[0]?.message).toContain(zeros);
  });

  it("that does not exist is refused by name", async () => {
    for (const receipt of [`sha256:${"0".repeat(64)}`, "x", first.id]) {
      await expect(exported(receipt)).rejects.toMatchObject({ code: "unknown_receipt" });
    }
  });
});

describe("every change of it", () => {
  it("to any value in it is found", () => {
    for (const pointer of leavesOf(file)) {
      const token = pointer.slice(1).split("/");
      const value = token.reduce<JsonValue>((at, key) => (at as Json)[key] ?? null, file);
      const next =
        typeof value === "number"
          ? value + 1
          : changedText(String(value), pointer === "/entry" ? 400 : 0);
      expect(codes(changedAt(file, pointer, next)), pointer).not.toEqual([]);
      expect(codes(changedAt(file, pointer, undefined)), pointer).not.toEqual([]);
    }
  });

  it("to the order or number of hashes in the proof is found", () => {
    const proof = [...file.proof];
    for (const changed of [[...proof].reverse(), proof.slice(1), [...proof, proof[0] ?? ""], []]) {
      expect(codes({ ...file, proof: changed })).toEqual(["proof_invalid"]);
    }
  });

  it("to another receipt's entry, head or envelope is found", async () => {
    const another = await exported(other.receipts[1] ?? "");
    expect(codes({ ...file, entry: another.entry })).toContain("proof_invalid");
    expect(codes({ ...file, head: another.head })).toEqual(["proof_invalid"]);
    expect(codes({ ...file, envelope: another.envelope })).toContain("receipt_differs");
  });

  it("to each member of the signed statement is found, whoever wrote the entry (B076, B081)", () => {
    const entry = JSON.parse(file.entry) as Json;
    const body = entry["body"] as Json;
    for (const pointer of leavesOf(statementIn(body))) {
      const statement = changedAt(statementIn(body), pointer, "changed");
      const envelope = {
        ...(body["envelope"] as Json),
        payload: Buffer.from(canonicalText(statement)).toString("base64"),
      };
      const changed = canonicalText({ ...entry, body: { ...body, envelope } });
      expect(codes({ ...file, envelope, entry: changed }), pointer).toContain("receipt_signature");
    }
  });

  it("to who signed it is found: a key that it brings along counts for nothing (B077)", () => {
    const entry = JSON.parse(file.entry) as Json;
    const body = entry["body"] as Json;
    const envelope = signedBy(KEYS.stranger, "application/vnd.in-toto+json", statementIn(body));
    const changed = canonicalText({ ...entry, body: { ...body, envelope } });
    const found = check({ ...file, envelope, entry: changed });
    expect(found.findings[0]).toMatchObject({ code: "receipt_signature" });
    expect(found.findings[0]?.message).toContain("unknown_key");
    const unsigned = { ...(file.envelope as Json), signatures: [] };
    expect(check({ ...file, envelope: unsigned }).findings.map(({ code }) => code)).toContain(
      "receipt_signature",
    );
  });
});

describe("the trust store of who asks", () => {
  const told = (role: string, change: Partial<TrustedKey>): JsonValue =>
    signTrust(
      trustDocument({
        keys: trustDocument().keys.map((entry) =>
          entry.role === role ? { ...entry, ...change } : entry,
        ),
      }),
      [KEYS.root],
    );

  it.each<[string, string, Partial<TrustedKey>, readonly string[]]>([
    ["retired later", "receipt", { valid_to: nowSeconds() + 60 }, []],
    ["expired before", "receipt", { valid_to: nowSeconds() - 60 }, ["receipt_signature"]],
    ["valid only later", "receipt", { valid_from: nowSeconds() + 600 }, ["receipt_signature"]],
    [
      "revoked from a later index on",
      "receipt",
      { revoked: { at: 1, reason: "", since_seq: 10 } },
      [],
    ],
    [
      "revoked from an earlier index on",
      "receipt",
      { revoked: { at: 1, reason: "", since_seq: 9 } },
      ["receipt_signature"],
    ],
    [
      "revoked at an earlier time",
      "receipt",
      { revoked: { at: 1, reason: "" } },
      ["receipt_signature"],
    ],
    ["of another role", "receipt", { role: "witness" }, ["receipt_signature"]],
    ["of the journal, begun later", "journal", { valid_from: nowSeconds() + 600 }, []],
    [
      "of the journal, revoked from here",
      "journal",
      { revoked: { at: 1, reason: "", since_seq: 0 } },
      ["head_signature"],
    ],
    [
      "of the journal, expired before",
      "journal",
      { valid_to: nowSeconds() - 60 },
      ["head_signature"],
    ],
  ])("with the key %s decides", (_, role, change, expected) => {
    expect(codes(file, told(role, change))).toEqual(expected);
  });

  it("for another host refuses", () => {
    expect(codes(file, trust({ audience: "other.example/journal" }))).toEqual(
      expect.arrayContaining(["head_origin", "receipt_differs"]),
    );
  });
});

describe("what is no receipt file", () => {
  it.each<[string, JsonValue]>([
    ["nothing", null],
    ["another type", { type: "rote-receipt/v2" }],
    ["a list", []],
  ])("%s is refused", (_, value) => {
    expect(codes(value)).toEqual(["file_malformed"]);
  });

  it("with an unknown member beside is refused", () => {
    expect(codes({ ...file, verified: true })).toEqual(["file_malformed"]);
  });

  it("with an entry of another kind is refused", () => {
    const entry = JSON.parse(file.entry) as Json;
    expect(
      codes({
        ...file,
        entry: canonicalText({ ...entry, type: "checkpointed", body: { node: "x", ms: 1 } }),
      }),
    ).toEqual(["entry_unknown"]);
    expect(codes({ ...file, entry: "{" })).toEqual(["line_malformed"]);
    expect(codes({ ...file, entry: `${file.entry} ` })).toContain("line_not_canonical");
  });
});

function changedText(text: string, at: number): string {
  const digit = text.slice(at).search(/[0-9A-Za-z]/u) + at;
  return text.slice(0, digit) + (text[digit] === "a" ? "b" : "a") + text.slice(digit + 1);
}

/** The commands of docs/formats.md, as they stand there, one block behind the other. */
function documentedCommands(): string {
  const doc = readFileSync(new URL("../../../docs/formats.md", import.meta.url), "utf8");
  const [, part = ""] =
    /<!-- receipt by openssl -->([\s\S]*)<!-- \/receipt by openssl -->/u.exec(doc) ?? [];
  const blocks = [...part.matchAll(/```sh\n([\s\S]*?)```/gu)].map(([, block = ""]) => block);
  if (blocks.length < 5) throw new Error("docs/formats.md has no such commands");
  return blocks.join("\n");
}

function hasOpenssl(): boolean {
  try {
    return execFileSync("openssl", ["version"], { encoding: "utf8" }).startsWith("OpenSSL 3");
  } catch {
    return false;
  }
}

describe.skipIf(!hasOpenssl())("openssl alone (skipped only where there is no OpenSSL 3)", () => {
  const folder = mkdtempSync(join(tmpdir(), "rote-openssl-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const run = (receipt: JsonValue, trusted: JsonValue = own) => {
    writeFileSync(join(folder, "receipt.json"), canonicalText(receipt));
    // As `rote keys` leaves it: one member a line.
    writeFileSync(join(folder, "trust.json"), JSON.stringify(trusted, null, 2));
    try {
      return execFileSync("sh", ["-eu", "-c", documentedCommands()], {
        cwd: folder,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
      });
    } catch (error) {
      const { stdout, stderr } = error as { stdout?: string; stderr?: string };
      return `refused ${stdout ?? ""}${stderr ?? ""}`;
    }
  };

  it("verifies a receipt, its place in the log and the tree head by the commands of the documentation", () => {
    const said = run(file);
    expect(said).toContain("Entry Is In The Log Of 13");
    expect(said.match(/Signature Verified Successfully/gu)).toHaveLength(2);
    expect(said.trimEnd()).toMatch(/Receipt And Record Hold$/u);
    expect(said).toContain(canonicalText(statementIn(file)));
  });

  it("verifies one that stands elsewhere in a larger tree, by a trust store of several versions", async () => {
    const last = await exported(other.receipts.at(-1) ?? "");
    expect(last.index).not.toBe(file.index);
    expect(run(last, [own])).toMatch(/Receipt And Record Hold\s*$/u);
  });

  const envelope = () => file.envelope as Json;
  const [first64, second64] = ["A".repeat(43), "B".repeat(43)].map((text) => `${text}=`);

  it.each<[string, () => JsonValue]>([
    [
      "payload",
      () => {
        const payload = Buffer.from(String(envelope()["payload"]), "base64");
        payload[100] = (payload[100] ?? 0) ^ 1;
        return { ...file, envelope: { ...envelope(), payload: payload.toString("base64") } };
      },
    ],
    [
      "signature",
      () => {
        const [signature] = envelope()["signatures"] as readonly Json[];
        const sig = Buffer.from(String(signature?.["sig"]), "base64");
        sig[3] = (sig[3] ?? 0) ^ 1;
        const signatures = [{ ...signature, sig: sig.toString("base64") }];
        return { ...file, envelope: { ...envelope(), signatures } };
      },
    ],
    ["entry", () => ({ ...file, entry: file.entry.replace(/"time":\d/u, '"time":9') })],
    ["index", () => ({ ...file, index: file.index + 1 })],
    ["proof", () => ({ ...file, proof: [...file.proof].reverse() })],
    ["proof, which is too long,", () => ({ ...file, proof: [...file.proof, first64 ?? ""] })],
    ["proof, which is too short,", () => ({ ...file, proof: file.proof.slice(1) })],
    ["root", () => ({ ...file, head: file.head.replace(/^[\w+/]{43}=$/mu, second64 ?? "") })],
    ["size", () => ({ ...file, head: file.head.replace("\n13\n", "\n12\n") })],
    [
      "head's signature",
      () => ({ ...file, head: file.head.replace(/.{6}\n$/u, (end) => `AAAA${end.slice(4)}`) }),
    ],
  ])("refuses a receipt with another %s", (_, changed) => {
    expect(canonicalText(changed())).not.toBe(canonicalText(file));
    const said = run(changed());
    expect(said).toMatch(/^refused/u);
    expect(said).not.toContain("Receipt And Record Hold");
  });

  it.each(["receipt", "journal"])("refuses one under a trust store with another %s key", (role) => {
    const keys = trustDocument().keys.map((entry) =>
      entry.role === role
        ? { ...entry, public: Buffer.from(KEYS.stranger.publicKey.raw).toString("base64url") }
        : entry,
    );
    expect(run(file, signTrust(trustDocument({ keys }), [KEYS.root]))).toMatch(/^refused/u);
    const revoked = trustDocument().keys.map((entry) =>
      entry.role === role ? { ...entry, revoked: { at: 1, reason: "lost" } } : entry,
    );
    expect(run(file, signTrust(trustDocument({ keys: revoked }), [KEYS.root]))).toMatch(
      /^refused/u,
    );
  });
});
