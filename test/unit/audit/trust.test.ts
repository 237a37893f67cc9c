/** The auditor's own trust store decides whose signatures count, and where. */
import { describe, expect, it } from "vitest";
import { auditBundle, type Finding } from "../../../src/audit/index.ts";
import { canonicalText } from "../../../src/base/canonical.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import type { PrivateKey } from "../../../src/base/sign.ts";
import type { TrustDocument, TrustedKey } from "../../../src/model/trust.ts";
import { systemClock } from "../../../src/os/clock.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import { signTrust } from "../../../src/trust/trust-store.ts";
import { memorySource } from "../../support/audit/bundle.ts";
import { entriesIn, forged, json, textIn, withFile } from "../../support/audit/forge.ts";
import { audit, codesOf, exported, paidTwice, payTwice } from "../../support/audit/record.ts";
import { directories } from "../../support/directories.ts";
import { bank, hostAt, INPUTS, movedClock } from "../../support/gate.ts";
import { KEYS, nowSeconds, trust, trustDocument, trustedKey } from "../../support/host.ts";
import { seeded, textOf } from "../../support/trust.ts";

const NEW = { root: seeded(31), journal: seeded(32), receipt: seeded(33) };

function version(
  number: number,
  change: Partial<TrustDocument>,
  roots: readonly PrivateKey[] = [KEYS.root],
): JsonValue {
  return signTrust(trustDocument({ version: number, ...change }), roots);
}

/** All keys of the first version and some more, some of them told otherwise. */
function keysWith(
  more: readonly TrustedKey[],
  told: (entry: TrustedKey) => TrustedKey = (entry) => entry,
): TrustedKey[] {
  return [...trustDocument().keys.map(told), ...more];
}

const newKeys = [
  trustedKey(NEW.journal, "journal-2", "journal"),
  trustedKey(NEW.receipt, "receipts-2", "receipt"),
];

/** One run under each version, the second with new keys for everything that the host signs. */
async function rotated(second: JsonValue, clock: Clock = systemClock) {
  const places = directories();
  const directory = places.fresh();
  const first = trust();
  const before = await hostAt(directory, bank(), { trust: first, clock });
  await payTwice(before);
  await before.close();
  const after = await hostAt(directory, bank(), {
    trust: second,
    keys: { journal: NEW.journal, receipt: NEW.receipt },
    clock,
  });
  await payTwice(after, { ...INPUTS, account: "8" });
  const files = await exported(after);
  await after.close();
  places.remove();
  return { files, first, second };
}

describe("keys that were changed", () => {
  it("leave a clean record, whichever versions the auditor brings along", async () => {
    const second = version(2, { keys: keysWith(newKeys) });
    const { files, first } = await rotated(second);
    for (const own of [first, second, [first, second]]) {
      const report = await audit({ files, trust: own });
      expect(report.findings).toEqual([]);
      expect(report.trust?.version).toBe(2);
      expect(report.counts.runs.started).toBe(2);
    }
  });

  it("that are retired stay good for what they signed, and for nothing after", async () => {
    const clock = movedClock();
    const ends = Math.floor(clock.wallMs() / 1000) + 1;
    const retired = keysWith(newKeys, (entry) =>
      entry.role === "receipt" || entry.role === "journal" ? { ...entry, valid_to: ends } : entry,
    );
    const second = version(2, { keys: retired });
    const { files, first } = await rotated(second, clock);
    expect((await audit({ files, trust: [first, second] })).findings).toEqual([]);
    // The old receipt key signs once more, in a record that is written again with the journal's new key.
    const later = entriesIn(files).map((entry) => ({ ...entry, time: entry.time + 5_000 }));
    const forgedFiles = forged(files, later, { journal: NEW.journal, receipt: KEYS.receipt });
    const { findings } = await audit({ files: forgedFiles, trust: [first, second] });
    const messages = findings
      .filter(({ code }) => code === "receipt_signature")
      .map(({ message }) => message);
    expect(messages.join()).toContain("expired");
  });

  it("of the root are followed when both roots signed", async () => {
    const root = { threshold: 1, keys: [textOf(NEW.root)] };
    const second = version(2, { keys: keysWith(newKeys), root }, [KEYS.root, NEW.root]);
    const { files, first } = await rotated(second);
    expect((await audit({ files, trust: first })).findings).toEqual([]);
    expect((await audit({ files, trust: [first, second] })).findings).toEqual([]);
    // Alone it carries a signature that nothing explains: the auditor needs the version before it as well.
    await expect(audit({ files, trust: second })).rejects.toMatchObject({
      code: "trust_refused",
      data: { fault: "unknown_key" },
    });
  });
});

describe("keys that were revoked", () => {
  async function revoked(change: (entry: TrustedKey) => TrustedKey) {
    const recorded = await paidTwice();
    const later = version(2, { keys: keysWith([], change) });
    return {
      recorded,
      report: await audit({ ...recorded, trust: [recorded.trust, later] }),
    };
  }
  const of =
    (role: string, since: number | undefined, at = nowSeconds() + 3600) =>
    (entry: TrustedKey): TrustedKey =>
      entry.role === role
        ? {
            ...entry,
            revoked: { at, reason: "lost", ...(since === undefined ? {} : { since_seq: since }) },
          }
        : entry;

  const indexes = (findings: readonly Finding[]) =>
    findings.map(({ code, index }) => [code, index]);

  it("later, from some log index on, count up to there and no further", async () => {
    const { report } = await revoked(of("receipt", 9));
    expect(indexes(report.findings)).toEqual([
      ["receipt_signature", [9, 9]],
      ["receipt_signature", [11, 11]],
    ]);
    expect(report.findings[0]?.message).toContain("revoked");
  });

  it("later, without saying from where, count up to the time of it", async () => {
    expect((await revoked(of("receipt", undefined))).report.findings).toEqual([]);
    const before = await revoked(of("receipt", undefined, nowSeconds() - 60));
    expect(before.report.codes).toEqual({ receipt_signature: 3 });
  });

  it("make an approval count that was filed before, and not one that was filed after", async () => {
    expect((await revoked(of("approver", 7))).report.findings).toEqual([]);
    const { report } = await revoked(of("approver", 6));
    expect(report.codes).toEqual({ approval_invalid: 3 });
  });

  it("leave tree heads without worth", async () => {
    const { report } = await revoked(of("journal", 0));
    expect(codesOf(report)).toEqual(["head_signature", "tail_uncovered"]);
  });

  it("of reviewers make what they reviewed unreviewed", async () => {
    const { report } = await revoked(of("tool_reviewer", 0));
    expect(report.codes).toEqual({ tool_refused: 3 });
  });

  it("of reviewers from some log index on count no more there, however often they had counted before", async () => {
    const { report } = await revoked(of("tool_reviewer", 10));
    expect(indexes(report.findings)).toEqual([["tool_refused", [10, 10]]]);
  });
});

describe("a trust store that the record brings along", () => {
  it("of another root is not believed, however well the record fits to it (B077)", async () => {
    const root = { threshold: 1, keys: [textOf(NEW.root)] };
    const theirs = signTrust(trustDocument({ root }), [NEW.root]);
    const recorded = await paidTwice({ trust: theirs });
    expect((await audit(recorded)).clean).toBe(true);
    const report = await audit({ ...recorded, trust: trust() });
    expect(codesOf(report)).toEqual(
      [
        "decision_refused",
        "approval_unknown",
        "approval_missing",
        "head_signature",
        "receipt_signature",
        "tail_uncovered",
        "trust_differs",
        "trust_outdated",
      ].sort(),
    );
  });

  it("of the same version but other content is told apart by digest", async () => {
    const recorded = await paidTwice();
    const other = trust({ expires: nowSeconds() + 1000 });
    const report = await audit({ ...recorded, trust: other });
    expect(report.findings[0]).toMatchObject({ code: "trust_differs", file: "trust.json" });
  });

  it("of a version that leads nowhere from the auditor's is unproven", async () => {
    const third = version(3, {});
    const recorded = await paidTwice({ trust: third });
    expect(codesOf(await audit({ ...recorded, trust: trust() }))).toContain("trust_unproven");
    expect((await audit({ ...recorded, trust: third })).clean).toBe(true);
  });

  it("of an earlier version counts when the root that the auditor knows signed it", async () => {
    const recorded = await paidTwice();
    const third = version(3, {});
    expect((await audit({ ...recorded, trust: third })).clean).toBe(true);
    const stranger = { threshold: 1, keys: [textOf(NEW.root)] };
    const foreign = signTrust(trustDocument({ version: 3, root: stranger }), [NEW.root]);
    expect(codesOf(await audit({ ...recorded, trust: foreign }))).toContain("trust_unproven");
  });

  it("for another host is refused", async () => {
    const recorded = await paidTwice();
    const other = trust({ audience: "other.example/journal" });
    const codes = codesOf(await audit({ ...recorded, trust: other }));
    expect(codes).toContain("other_host");
    expect(codes).toContain("head_origin");
  });

  it("that only the file has, or that it has otherwise than the chain, is found", async () => {
    const recorded = await paidTwice();
    const list = json(textIn(recorded.files, "trust.json")) as readonly JsonValue[];
    const [first] = list;
    for (const text of [[first ?? null, first ?? null], [version(2, {})], [null]]) {
      const files = withFile(recorded.files, "trust.json", canonicalText(text));
      expect(codesOf(await audit({ ...recorded, files })), JSON.stringify(text)).toContain(
        "trust_unlisted",
      );
    }
  });
});

describe("the auditor's own file", () => {
  it.each<[string, JsonValue, string]>([
    ["an empty list", [], "empty"],
    ["no envelope", {}, "malformed_envelope"],
    ["versions that do not follow", [trust(), trust()], "wrong_version"],
    ["signed by a stranger", signTrust(trustDocument(), [KEYS.stranger]), "unknown_key"],
  ])("that is %s is refused before anything is looked at", async (_, own, fault) => {
    const judged = auditBundle(memorySource(new Map()), { trust: own });
    await expect(judged).rejects.toMatchObject({ code: "trust_refused", data: { fault } });
  });
});
