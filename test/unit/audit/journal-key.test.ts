/**
 * What can be done by somebody who holds the journal's key: entries that say something else, in chains, tree and heads
 * that fit. What is found then is found by what entries and signed documents say of each other.
 */
import { describe, expect, it } from "vitest";
import { auditBundle } from "../../../src/audit/index.ts";
import { memorySource } from "../../support/audit/bundle.ts";
import { forged } from "../../support/audit/forge.ts";
import { body, changedEntries } from "./changed-entries.ts";

const { recorded, entries, found, with_ } = await changedEntries();

describe("each member of each entry", () => {
  it("is found when it is left out or when there is one more", async () => {
    for (const [at, { type, body: whole }] of entries.entries()) {
      for (const member of Object.keys(whole)) {
        const without = await found(with_(at, body(`/${member}`, undefined)));
        expect(without.length, `${type} without ${member}`).toBeGreaterThan(0);
      }
      const findings = await found(with_(at, body("/more", 1)));
      expect(findings).toContainEqual(
        expect.objectContaining({ code: "body_malformed", index: [at, at] }),
      );
    }
  });
});

describe("each entry", () => {
  it("left out is found", async () => {
    for (const at of entries.keys()) {
      const { type } = entries[at] ?? { type: "" };
      const findings = await found(entries.toSpliced(at, 1));
      // A run without its end is one that goes on, and an uncounted opening is told apart by nothing but the tree.
      if (type === "run_ended") continue;
      expect(findings.length, `${type} ${at}`).toBeGreaterThan(0);
    }
  });

  it("told twice is found", async () => {
    for (const at of entries.keys()) {
      const entry = entries[at];
      if (entry === undefined) continue;
      const findings = await found(entries.toSpliced(at, 0, entry));
      // A decision that is filed twice is one decision.
      if (entry.type === "approval_received" || entry.type === "approved") continue;
      expect(findings.length, `${entry.type} ${at}`).toBeGreaterThan(0);
    }
  });

  it("of another type is found", async () => {
    for (const [at, { type }] of entries.entries()) {
      const findings = await found(with_(at, (entry) => ({ ...entry, type: `${type}_2` })));
      expect(findings).toContainEqual(
        expect.objectContaining({ code: "entry_unknown", index: [at, at] }),
      );
    }
  });

  it("on a chain where it does not belong is found", async () => {
    for (const [at, { chain, type }] of entries.entries()) {
      const moved = chain === "host" ? recorded.run.id : "host";
      const findings = await found(with_(at, (entry) => ({ ...entry, chain: moved })));
      expect(
        findings.map(({ code }) => code),
        type,
      ).toContain("entry_unknown");
    }
  });

  it("that is older than the one before it is found", async () => {
    const findings = await found(with_(5, (entry) => ({ ...entry, time: entry.time - 60_000 })));
    expect(findings).toContainEqual(
      expect.objectContaining({ code: "time_fell", index: [5, 5], seq: [3, 3] }),
    );
  });

  it("of an overtaken lease, and of one that nobody announced, is found", async () => {
    const fell = await found(with_(5, (entry) => ({ ...entry, epoch: 0 })));
    expect(fell).toContainEqual(expect.objectContaining({ code: "epoch_fell", index: [5, 5] }));
    const rose = await found(with_(12, (entry) => ({ ...entry, epoch: 2 })));
    expect(rose).toContainEqual(expect.objectContaining({ code: "epoch_rose", index: [12, 12] }));
    const host = await found(with_(6, (entry) => ({ ...entry, epoch: 1 })));
    expect(host).toContainEqual(expect.objectContaining({ code: "epoch_rose", index: [6, 6] }));
  });
});

describe("a run", () => {
  it("with something behind its end, with two starts, or without a start is found", async () => {
    const end = entries[12];
    if (end === undefined) throw new Error("no end");
    const behind = await found([...entries, end]);
    expect(behind).toContainEqual(
      expect.objectContaining({ code: "run_after_end", index: [13, 13], seq: [10, 10] }),
    );
    const started = entries[2];
    const twice = await found(entries.toSpliced(3, 0, started ?? end));
    expect(twice).toContainEqual(expect.objectContaining({ code: "run_start", index: [3, 3] }));
    const without = await found(entries.toSpliced(2, 1));
    expect(without).toContainEqual(expect.objectContaining({ code: "run_start", seq: [0, 0] }));
  });

  it("that goes on is none that is wrong, and is counted", async () => {
    const source = memorySource(forged(recorded.files, entries.slice(0, 11)));
    const report = await auditBundle(source, { trust: recorded.trust });
    expect(report.clean).toBe(true);
    expect(report.counts.runs).toMatchObject({ started: 1, open: 1 });
    expect(report.counts.admissions).toEqual({ read: 1, effect: 2, open: 1 });
  });

  it("that ended with an admission in the air is found, with the admission's place", async () => {
    const findings = await found(entries.toSpliced(11, 1));
    expect(findings).toContainEqual(
      expect.objectContaining({ code: "receipt_missing", seq: [7, 7] }),
    );
  });

  it.each([
    ["state", "uncertain"],
    ["state", "rejected"],
    ["reason", "tool_error"],
  ])("whose end has another %s is found", async (member, value) => {
    const findings = await found(with_(12, body(`/${member}`, value)));
    expect(findings).toContainEqual(
      expect.objectContaining({ code: "run_end_differs", index: [12, 12] }),
    );
  });
});
