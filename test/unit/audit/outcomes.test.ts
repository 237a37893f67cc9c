/** Records of runs that did not simply succeed, and of more than fits into entries. */
import { describe, expect, it } from "vitest";
import { auditBundle } from "../../../src/audit/index.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import type { Reconciliation } from "../../../src/model/trust.ts";
import { PAYLOAD_TYPES, reconciliationSchema } from "../../../src/model/trust.ts";
import { envelopeDigest, signDocument } from "../../../src/trust/signed-document.ts";
import { memorySource } from "../../support/audit/bundle.ts";
import {
  changedAt,
  entriesIn,
  forged,
  type Json,
  type Loose,
  linesIn,
  textIn,
  withFile,
  withLines,
} from "../../support/audit/forge.ts";
import { audit, codesOf, payTwice, type Recorded, record } from "../../support/audit/record.ts";
import {
  asked,
  bank,
  begin,
  CHECK,
  FENCED_PAYMENT,
  INPUTS,
  ONE_PAYMENT,
  ONE_READ,
  pay,
  recipeOf,
} from "../../support/gate.ts";
import { decision, hostOptions, KEYS, nowSeconds, ORIGIN } from "../../support/host.ts";

const KEYED = recipeOf([
  CHECK,
  pay("pay", ["check"], {}, { key: { op: "concat", values: ["order-", { input: "account" }] } }),
]);

/** A bank that breaks off in the middle of each payment. */
function broken() {
  return bank({
    tool: {
      call: () => {
        throw new Error("the line went dead");
      },
    },
  });
}

function reconciliation(run: string, operation: string, change: Partial<Reconciliation> = {}) {
  const document: Reconciliation = {
    type: "rote-reconciliation/v1",
    audience: ORIGIN,
    run,
    operation: operation as Reconciliation["operation"],
    found: "not_done",
    evidence: "the account shows nothing",
    reconciler: "carl",
    at: nowSeconds(),
    ...change,
  };
  return signDocument(PAYLOAD_TYPES.reconciliation, reconciliationSchema, document, [
    KEYS.reconciler,
  ]);
}

async function paidUncertainly(found: "done" | "not_done" | null): Promise<Recorded> {
  return record(
    {},
    async (host) => {
      const { run } = await begin(host, KEYED);
      const { operations } = asked(run);
      const approval = decision(asked(run), KEYS.alice, "alice");
      expect(await run.advanceAsync(host, { approval })).toBe("uncertain");
      if (found !== null)
        await host.reconcile(reconciliation(run.id, operations[0] ?? "", { found }));
    },
    broken(),
  );
}

describe("an effect that nobody knows the outcome of", () => {
  it.each(["done", "not_done", null] as const)(
    "is a clean record (reconciled: %s)",
    async (found) => {
      const report = await audit(await paidUncertainly(found));
      expect(report.findings).toEqual([]);
      expect(report.counts.receipts.uncertain).toBe(1);
      expect(report.counts.runs.ended.uncertain).toBe(1);
      expect(report.counts.reconciliations).toBe(found === null ? 0 : 1);
    },
  );

  it("keeps its natural key taken, unless somebody found that it was not done", async () => {
    for (const [found, codes] of [
      [null, ["key_repeated"]],
      ["done", ["key_repeated"]],
      ["not_done", []],
    ] as const) {
      const { files, trust: own } = await paidUncertainly(found);
      const entries = entriesIn(files);
      const again = entries
        .filter(({ chain, type }) => chain !== "host" || type === "approval_received")
        .map((entry) => ({ ...entry, chain: entry.chain === "host" ? "host" : "run-other" }));
      const source = memorySource(forged(files, [...entries, ...again], { receipt: KEYS.receipt }));
      const report = await auditBundle(source, { trust: own });
      expect(codesOf(report).filter((code) => code === "key_repeated")).toEqual(codes);
    }
  });

  it.each<[string, (entry: Loose) => Loose, string]>([
    ["of nobody's hand", (one) => told(one, { reconciler: "carla" }), "carl signed for carla"],
    ["of another run", (one) => told(one, { run: "run-other" }), "no uncertain operation"],
    ["of another host", (one) => told(one, { audience: "other" }), "it is for other"],
    ["of another operation", (one) => told(one, { operation: zeros }), "no uncertain operation"],
    [
      "under another digest",
      (one) => ({ ...one, body: { ...one.body, digest: zeros } }),
      "calls it",
    ],
  ])("a finding out %s is found", async (_, change, message) => {
    const { files, trust: own } = await paidUncertainly("not_done");
    const entries = entriesIn(files);
    const at = entries.findIndex(({ type }) => type === "reconciled");
    const changed = entries.map((entry, index) => (index === at ? change(entry) : entry));
    const { findings } = await auditBundle(memorySource(forged(files, changed)), { trust: own });
    expect(findings).toEqual([
      expect.objectContaining({
        code: "reconciliation_refused",
        index: [at, at],
        message: expect.stringContaining(message),
      }),
    ]);
  });

  it("told of twice is found", async () => {
    const { files, trust: own } = await paidUncertainly("not_done");
    const entries = entriesIn(files);
    const twice = entries.find(({ type }) => type === "reconciled");
    if (twice === undefined) throw new Error("nothing reconciled");
    const report = await auditBundle(memorySource(forged(files, [...entries, twice])), {
      trust: own,
    });
    expect(codesOf(report)).toEqual(["reconciliation_refused"]);
  });

  it("ends its run as uncertain, and every other end is found", async () => {
    const { files, trust: own } = await paidUncertainly(null);
    const changed = entriesIn(files).map((entry) =>
      entry.type === "run_ended"
        ? {
            ...entry,
            body: { ...entry.body, state: "verified", reason: "completed", failure: null },
          }
        : entry,
    );
    const report = await auditBundle(memorySource(forged(files, changed)), { trust: own });
    expect(codesOf(report)).toEqual(["run_end_differs"]);
  });
});

const zeros = `sha256:${"0".repeat(64)}` as Reconciliation["operation"] & `sha256:${string}`;

/** Signed again, by whoever may, saying something else. */
function told(entry: Loose, change: Partial<Reconciliation>): Loose {
  const envelope = entry.body["envelope"] as Json;
  const document = JSON.parse(Buffer.from(String(envelope["payload"]), "base64").toString());
  const { run, operation, ...rest } = { ...document, ...change };
  return { ...entry, body: withDigest(reconciliation(run, operation, rest)) };
}

function withDigest(envelope: JsonValue): Json {
  return { envelope, digest: envelopeDigest(envelope) };
}

describe("an operation that the gate refused", () => {
  const refusing = { policy: { ...hostOptions(null, []).policy, deny: ["tool:read:*"] } };
  const refused = () =>
    record(refusing, async (host) => {
      const { run } = await begin(host, ONE_READ);
      expect(run.state).toBe("denied");
    });

  it("is on record with what it would have been", async () => {
    const recorded = await refused();
    const report = await audit(recorded);
    expect(report.findings).toEqual([]);
    expect(report.counts).toMatchObject({
      admissions: { read: 0, effect: 0 },
      receipts: { refused: 1 },
      runs: { ended: { denied: 1 } },
    });
  });

  it("of which nothing is kept is found", async () => {
    const recorded = await refused();
    const receipt = entriesIn(recorded.files).find(({ type }) => type === "receipt");
    const name = `blobs/sha256/${String(receipt?.body["operation"]).slice("sha256:".length)}`;
    expect(recorded.files.has(name)).toBe(true);
    const report = await audit({ ...recorded, files: withFile(recorded.files, name, null) });
    expect(codesOf(report)).toEqual(["receipt_unmatched"]);
  });

  it("does not pass for one that was done", async () => {
    const { files, trust: own } = await refused();
    const changed = entriesIn(files).map((entry) =>
      entry.type === "receipt" ? { ...entry, body: { ...entry.body, outcome: "done" } } : entry,
    );
    const report = await auditBundle(memorySource(forged(files, changed)), { trust: own });
    expect(codesOf(report)).toEqual(["receipt_differs", "run_end_differs"].slice(0, 1));
  });
});

describe("a rejection", () => {
  it("is a clean record, and no payment", async () => {
    const recorded = await record({}, async (host) => {
      const { run } = await begin(host, FENCED_PAYMENT);
      await run.advanceAsync(host, {
        approval: decision(asked(run), KEYS.bob, "bob", { decision: "reject" }),
      });
      expect(run.state).toBe("denied");
    });
    const report = await audit(recorded);
    expect(report.findings).toEqual([]);
    expect(report.counts.approvals).toMatchObject({ approved: 0, rejected: 1, used: 0 });
  });
});

describe("what is too large for an entry", () => {
  const LARGE = "x".repeat(20_000);

  async function large(): Promise<Recorded> {
    const of = bank({ tool: { call: async () => ({ kind: "done", result: LARGE }) } });
    return record(
      {},
      async (host) => {
        const { run } = await begin(host, ONE_PAYMENT, { account: LARGE, amount: "1" });
        await run.advanceAsync(host, { approval: decision(asked(run), KEYS.alice, "alice") });
        expect(run.state).toBe("verified");
      },
      of,
    );
  }

  it("is kept beside, and judged as if it stood in it", async () => {
    const report = await audit(await large());
    expect(report.findings).toEqual([]);
    expect(report.counts.receipts.done).toBe(1);
  });

  it("is missed by the entry that names it", async () => {
    const recorded = await large();
    const entries = entriesIn(recorded.files);
    const operation = entries.find(({ type }) => type === "admitted")?.body["operation"] as Json;
    const result = entries.find(({ type }) => type === "receipt")?.body["result_blob"];
    const inputs = entries.find(({ type }) => type === "run_started")?.body["inputs_blob"];
    for (const name of [operation["blob"], result, inputs]) {
      const files = withFile(recorded.files, `blobs/sha256/${String(name)}`, null);
      const report = await audit({ ...recorded, files });
      expect(codesOf(report), String(name)).toContain("blob_missing");
    }
  });
});

describe("a long record", () => {
  const long = () =>
    record({}, async (host) => {
      for (let at = 0; at < 12; at += 1) await payTwice(host, { ...INPUTS, account: `a${at}` });
    });

  it("has a tree head behind each run and none too many", async () => {
    const report = await audit(await long());
    expect(report.findings).toEqual([]);
    expect(report.counts.runs.started).toBe(12);
    expect(report.counts.heads).toBeGreaterThanOrEqual(12);
  });

  it("each head that is dropped is found, by the run behind whose end it stood", async () => {
    const recorded = await long();
    const heads = textIn(recorded.files, "heads.txt").split("%\n").slice(0, -1);
    const ends = entriesIn(recorded.files).flatMap(({ type }, at) =>
      type === "run_ended" ? [at] : [],
    );
    for (const [at, head] of heads.entries()) {
      const size = Number(head.split("\n")[1]);
      if (!ends.includes(size - 1)) continue;
      const rest = heads.toSpliced(at, 1).map((each) => `${each}%\n`);
      const report = await audit({
        ...recorded,
        files: withFile(recorded.files, "heads.txt", rest.join("")),
      });
      expect(report.findings).toContainEqual(
        expect.objectContaining({ code: "head_missing", index: [size - 1, size - 1] }),
      );
    }
  });

  it("heads in another order, and one of a size that was signed before, are found", async () => {
    const recorded = await long();
    const heads = textIn(recorded.files, "heads.txt").split("%\n").slice(0, -1);
    const [first = "", second = "", ...rest] = heads;
    for (const changed of [
      [second, first, ...rest],
      [first, first, second, ...rest],
    ]) {
      const text = changed.map((each) => `${each}%\n`).join("");
      const files = withFile(recorded.files, "heads.txt", text);
      expect(codesOf(await audit({ ...recorded, files }))).toContain("head_order");
    }
  });

  it("many entries missing are one finding with their range and count", async () => {
    const recorded = await long();
    const lines = linesIn(recorded.files);
    const entries = entriesIn(recorded.files);
    const chain = entries.find(({ type }) => type === "run_started")?.chain;
    const kept = lines.filter((_, at) => {
      const { chain: of, seq } = entries[at] ?? { chain: "", seq: 0 };
      return of !== chain || seq < 2 || seq > 8;
    });
    const report = await audit({ ...recorded, files: withLines(recorded.files, kept) });
    expect(report.findings).toContainEqual(
      expect.objectContaining({
        code: "chain_gap",
        chain,
        seq: [2, 8],
        message: expect.stringContaining("7 entries, 2 to 8"),
      }),
    );
  });

  it("a whole run that was left out is missed by the heads, and by the count (B087)", async () => {
    const recorded = await long();
    const lines = linesIn(recorded.files);
    const entries = entriesIn(recorded.files);
    const chain = entries.find(({ type }) => type === "run_started")?.chain;
    const kept = lines.filter((_, at) => entries[at]?.chain !== chain);
    const report = await audit({ ...recorded, files: withLines(recorded.files, kept) });
    expect(codesOf(report)).toContain("head_root");
    expect(codesOf(report)).toContain("head_beyond");
    expect(report.counts.runs.started).toBe(11);
  });

  it("lists no more findings than it was asked for, and counts them all", async () => {
    const recorded = await long();
    const blind = entriesIn(recorded.files).map((entry) =>
      entry.type === "admitted"
        ? { ...entry, body: changedAt(entry.body, "/digest", zeros) as Json }
        : entry,
    );
    const source = memorySource(forged(recorded.files, blind));
    const report = await auditBundle(source, { trust: recorded.trust, mostListed: 5 });
    expect(report.findings).toHaveLength(5);
    expect(report.codes.operation_differs).toBe(36);
    expect(report.omitted).toBeGreaterThan(30);
  });
});
