import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { type Json, type Loose, signedBy, statementIn } from "../../support/audit/forge.ts";
import { KEYS } from "../../support/host.ts";
import { body, changedEntries } from "./changed-entries.ts";

const { entries, found, with_ } = await changedEntries();

describe("an approval", () => {
  const signed = (change: (approval: Json) => JsonValue, key = KEYS.alice) =>
    with_(6, (entry) => ({
      ...entry,
      body: {
        ...entry.body,
        envelope: signedBy(
          key,
          "application/vnd.rote.approval.v1+json",
          change(statementIn(entry.body)),
        ),
      },
    }));

  it("of anybody but an approver is found where it was filed and where it was used", async () => {
    for (const key of [KEYS.stranger, KEYS.receipt, KEYS.reconciler, KEYS.bob]) {
      const findings = await found(signed((approval) => approval, key));
      expect(findings).toContainEqual(
        expect.objectContaining({ code: "decision_refused", index: [6, 6] }),
      );
      // At the fence and at both payments.
      expect(findings).toContainEqual(
        expect.objectContaining({ code: "approval_unknown", index: [7, 8], count: 2 }),
      );
    }
  });

  it.each([
    ["run", "run-other"],
    ["audience", "other.example/journal"],
    ["nonce", "AAAAAAAAAAAAAAAAAAAAAA"],
    ["display", `sha256:${"0".repeat(64)}`],
    ["operations", [`sha256:${"0".repeat(64)}`]],
    ["decision", "reject"],
    ["expires", 1],
  ])("with another %s, signed by the approver herself, is found", async (member, value) => {
    const findings = await found(signed((approval) => ({ ...approval, [member]: value })));
    expect(findings.map(({ index }) => index)).toContainEqual([6, 6]);
  });

  it("whose operations are listed in another order is another approval (B082)", async () => {
    const findings = await found(
      signed((approval) => ({
        ...approval,
        operations: [...(approval["operations"] as readonly JsonValue[])].reverse(),
      })),
    );
    expect(findings.find(({ index }) => index?.[0] === 6)?.message).toContain("wrong_operations");
  });

  it("that came only after what it approves is found", async () => {
    const late = entries[6];
    if (late === undefined) throw new Error("no decision");
    const findings = await found(entries.toSpliced(6, 1).toSpliced(8, 0, late));
    expect(findings).toContainEqual(
      expect.objectContaining({ code: "approval_unknown", index: [6, 7], count: 2 }),
    );
  });

  it("filed behind the end of its run is counted as late, and found where nobody signed it as it stands", async () => {
    const filed = entries[6];
    if (filed === undefined) throw new Error("no decision");
    const late = (change: (body: Json) => Json) => [
      ...entries,
      { ...filed, time: entries.at(-1)?.time ?? 0, body: change(filed.body) },
    ];
    expect(await found(late((given) => given))).toEqual([]);
    const forgeries: readonly ((given: Json) => Json)[] = [
      (given) => ({ ...given, envelope: null }),
      (given) => ({ ...given, decision: "reject" }),
      (given) => ({ ...given, approver: "bob" }),
      (given) => ({ ...given, nonce: "AAAAAAAAAAAAAAAAAAAAAA" }),
      (given) => ({
        ...given,
        envelope: signedBy(
          KEYS.stranger,
          "application/vnd.rote.approval.v1+json",
          statementIn(given),
        ),
      }),
    ];
    for (const forgery of forgeries) {
      expect(await found(late(forgery)), String(forgery)).toContainEqual(
        expect.objectContaining({ code: "decision_refused", index: [13, 13] }),
      );
    }
  });

  it("that had run out when it was used is found", async () => {
    const later = entries.map((entry, at) =>
      at < 8 ? entry : { ...entry, time: entry.time + 700_000 },
    );
    const findings = await found(later);
    expect(findings).toContainEqual(
      expect.objectContaining({
        code: "approval_invalid",
        index: [8, 8],
        message: expect.stringContaining("approval_expired"),
      }),
    );
  });

  it("used for something that it does not name is found, with both digests (B079)", async () => {
    const operation = entries[3]?.body["operation"] ?? null;
    const digest = entries[3]?.body["digest"] ?? null;
    const findings = await found(
      with_(8, (entry) => ({ ...entry, body: { ...entry.body, operation, digest } })),
    );
    const finding = findings.find(({ code }) => code === "approval_invalid");
    expect(finding?.message).toContain(String(digest));
    expect(finding?.message).toContain(String(entries[8]?.body["digest"]));
  });

  it("counted twice, by one approver or with one key, is found", async () => {
    const twice = (entry: Loose) => {
      const used = entry.body["approvals"] as readonly JsonValue[];
      return { ...entry, body: { ...entry.body, approvals: [...used, ...used] } };
    };
    const codes = (await found(with_(8, twice))).map(({ code }) => code);
    expect(codes).toContain("approval_invalid");
    expect(codes).toContain("approval_reused");
  });

  it("left out of an admission that wants one is found", async () => {
    const findings = await found(with_(8, body("/approvals", [])));
    expect(findings).toContainEqual(
      expect.objectContaining({ code: "approval_missing", index: [8, 8] }),
    );
    const fence = await found(with_(7, body("/approvals", [])));
    expect(fence).toContainEqual(
      expect.objectContaining({ code: "approval_missing", index: [7, 7] }),
    );
  });
});

describe("a receipt", () => {
  it("by a key that the record itself brings along is found (B077)", async () => {
    const findings = await found(
      with_(9, (entry) => ({
        ...entry,
        body: {
          ...entry.body,
          envelope: signedBy(
            KEYS.stranger,
            "application/vnd.in-toto+json",
            statementIn(entry.body),
          ),
        },
      })),
    );
    expect(findings).toContainEqual(
      expect.objectContaining({
        code: "receipt_signature",
        index: [9, 9],
        message: expect.stringContaining("unknown_key"),
      }),
    );
  });

  it("of another admission of the same run is found in its place", async () => {
    const envelope = entries[11]?.body["envelope"] ?? null;
    const findings = await found(with_(9, body("/envelope", envelope)));
    expect(findings).toContainEqual(
      expect.objectContaining({ code: "receipt_differs", index: [9, 9] }),
    );
  });

  it("that answers an admission that was answered is found", async () => {
    const findings = await found(with_(11, body("/admission", 5)));
    expect(findings).toContainEqual(
      expect.objectContaining({ code: "receipt_unmatched", index: [11, 11] }),
    );
  });

  it("with a key that is no signature at all is not signed (B077)", async () => {
    const findings = await found(with_(9, body("/envelope", { payloadType: "x", payload: "" })));
    expect(findings).toContainEqual(
      expect.objectContaining({ code: "receipt_signature", index: [9, 9] }),
    );
  });
});

describe("a second signature made from the first", () => {
  it("by adding the order of the group is refused (B078)", async () => {
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    const findings = await found(
      with_(9, (entry) => {
        const envelope = entry.body["envelope"] as Json;
        const [signature] = envelope["signatures"] as readonly Json[];
        const bytes = Buffer.from(String(signature?.["sig"]), "base64");
        let s = 0n;
        for (let at = 63; at >= 32; at -= 1) s = (s << 8n) | BigInt(bytes[at] ?? 0);
        s += order;
        for (let at = 32; at < 64; at += 1) {
          bytes[at] = Number(s & 255n);
          s >>= 8n;
        }
        const sig = bytes.toString("base64");
        return {
          ...entry,
          body: {
            ...entry.body,
            envelope: { ...envelope, signatures: [{ ...signature, sig }] },
          },
        };
      }),
    );
    expect(findings).toContainEqual(
      expect.objectContaining({
        code: "receipt_signature",
        index: [9, 9],
        message: expect.stringContaining("bad_signature"),
      }),
    );
  });
});
