import { describe, expect, it } from "vitest";
import { createFindings } from "../../../src/audit/finding.ts";
import { auditBundle, FINDING_CODES } from "../../../src/audit/index.ts";
import { linesOf, wholeOf } from "../../../src/audit/lines.ts";
import { createSeen } from "../../../src/audit/seen.ts";
import { memorySource } from "../../support/audit/bundle.ts";
import { trust } from "../../support/host.ts";

async function* portions(text: string, length: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  // One buffer for all, as sources may do.
  const shared = Buffer.alloc(length);
  for (let at = 0; at < bytes.byteLength; at += length) {
    const count = bytes.copy(shared, 0, at, at + length);
    yield shared.subarray(0, count);
  }
}

async function lines(text: string, length: number, maxBytes = 100) {
  const found: string[] = [];
  for await (const { bytes, unfinished, tooLong } of linesOf(portions(text, length), maxBytes)) {
    const mark = `${unfinished ? "~" : ""}${tooLong ? "!" : ""}`;
    found.push(Buffer.from(bytes).toString() + mark);
  }
  return found;
}

describe("lines", () => {
  it("are the same however the portions fall", async () => {
    for (let length = 1; length < 12; length += 1) {
      expect(await lines("one\n\nthree\nfour\n", length)).toEqual(["one", "", "three", "four"]);
      expect(await lines("one\ntw", length)).toEqual(["one", "tw~"]);
      expect(await lines("", length)).toEqual([]);
      expect(await lines("\n", length)).toEqual([""]);
    }
  });

  it("that are too long are told and not kept, and the next one is whole again", async () => {
    for (let length = 1; length < 12; length += 1) {
      expect(await lines("12345\n123456\n12\n1234567", length, 5)).toEqual([
        "12345",
        "!",
        "12",
        "~!",
      ]);
    }
  });

  it("a file is read whole up to a limit", async () => {
    expect(Buffer.from((await wholeOf(portions("123456", 4), 6)) ?? []).toString()).toBe("123456");
    expect(await wholeOf(portions("123456", 4), 5)).toBeUndefined();
  });
});

describe("what was seen", () => {
  it("is found again, what was not is not, and what was taken out is gone", () => {
    const seen = createSeen();
    const all = Array.from({ length: 5_000 }, (_, at) => `text ${at}`);
    for (const text of all) expect(seen.add(text)).toBe(true);
    for (const text of all) expect(seen.add(text)).toBe(false);
    expect(seen.size).toBe(5_000);
    for (const text of all.filter((_, at) => at % 3 === 0)) seen.delete(text);
    expect(all.filter((text) => seen.has(text))).toEqual(all.filter((_, at) => at % 3 !== 0));
    seen.delete("never there");
    for (const text of all) seen.add(text);
    expect(all.every((text) => seen.has(text))).toBe(true);
    expect(seen.has("text 5000")).toBe(false);
  });
});

describe("findings", () => {
  const place = (index: number, chain = "run-1", seq = index) => ({
    file: "journal.jsonl",
    index: [index, index] as const,
    chain,
    seq: [seq, seq] as const,
  });

  it("next to each other with one code are one range, with how many it stands for", () => {
    const findings = createFindings();
    for (const index of [3, 4, 5, 9]) findings.add("chain_link", place(index), `at ${index}`);
    findings.add("chain_gap", place(6), "gap");
    findings.add("chain_link", place(6, "run-2"), "elsewhere");
    expect(
      findings.list.map(({ code, index, count, message }) => [code, index, count, message]),
    ).toEqual([
      ["chain_link", [3, 5], 3, "at 3"],
      ["chain_link", [9, 9], 1, "at 9"],
      ["chain_gap", [6, 6], 1, "gap"],
      ["chain_link", [6, 6], 1, "elsewhere"],
    ]);
    expect(Object.fromEntries(findings.counts)).toEqual({ chain_link: 5, chain_gap: 1 });
  });

  it("beyond the limit are counted and not listed, but ranges still grow", () => {
    const findings = createFindings(2);
    for (const index of [1, 5, 9, 13]) findings.add("chain_link", place(index), "x");
    findings.add("chain_link", place(6), "x");
    expect(findings.list.map(({ index }) => index)).toEqual([
      [1, 1],
      [5, 6],
    ]);
    expect(findings.omitted).toBe(2);
    expect(findings.counts.get("chain_link")).toBe(5);
  });

  it("all say what they mean and what to do, in sentences", () => {
    for (const [code, { meaning, todo, severity }] of Object.entries(FINDING_CODES)) {
      expect(meaning, code).toMatch(/^[A-Z].*\.$/u);
      expect(todo, code).toMatch(/^[A-Z].*\.$/u);
      expect(["error", "warning"]).toContain(severity);
    }
  });
});

describe("progress", () => {
  const source = memorySource(new Map([["journal.jsonl", Buffer.from("{}\n".repeat(1_100))]]));

  it("is told now and then, with how many entries were read", async () => {
    const told: number[] = [];
    const { counts } = await auditBundle(source, {
      trust: trust(),
      progress: (entries) => void told.push(entries),
    });
    expect(told).toEqual([512, 1_024]);
    expect(counts.entries).toBe(1_100);
  });

  it("ends the audit by what it throws, once it was waited for", async () => {
    let told = 0;
    const audit = auditBundle(source, {
      trust: trust(),
      async progress() {
        told += 1;
        await Promise.resolve();
        throw new Error("enough");
      },
    });
    await expect(audit).rejects.toThrow("enough");
    expect(told).toBe(1);
  });
});
