import { describe, expect, it } from "vitest";
import { createBlobs } from "../../../src/audit/blobs.ts";
import { createCounts } from "../../../src/audit/counts.ts";
import { createFindings } from "../../../src/audit/finding.ts";
import { auditBundle, FINDING_CODES, formatAudit } from "../../../src/audit/index.ts";
import { linesOf, wholeOf } from "../../../src/audit/lines.ts";
import { createSeen } from "../../../src/audit/seen.ts";
import { sha256Hex } from "../../../src/base/digest.ts";
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

describe("a blob", () => {
  const place = { file: "journal.jsonl", index: null, chain: null, seq: null };

  /** Zeros in one buffer that is used again; `most` says how much memory was taken while they were read. */
  function zeros(portionCount: number) {
    const shared = Buffer.alloc(1_000_000);
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const source = {
      async *names() {},
      async read() {
        return (async function* () {
          for (let at = 0; at < portionCount; at += 1) {
            most = Math.max(most, process.memoryUsage().arrayBuffers - before);
            yield shared;
          }
        })();
      },
    };
    return { source, most: () => most };
  }

  it("that somebody filled up takes no memory, and is told from what was named", async () => {
    const { source, most } = zeros(80);
    const findings = createFindings();
    const blobs = createBlobs(source, findings, createCounts());
    expect(await blobs.read("0".repeat(64), place, "a result")).toBeUndefined();
    expect(findings.list.map(({ code }) => code)).toEqual(["blob_differs"]);
    expect(most()).toBeLessThan(40_000_000);
  });

  it("that is as large as it was named is read whole", async () => {
    const { source } = zeros(20);
    const findings = createFindings();
    const blobs = createBlobs(source, findings, createCounts());
    const bytes = Buffer.alloc(20_000_000);
    const read = await blobs.read(sha256Hex(bytes), place, "a result");
    expect(bytes.equals(read ?? Buffer.alloc(0))).toBe(true);
    expect(findings.list).toEqual([]);
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

  it("are told in their own lines, whatever a file is called", async () => {
    const files = new Map([["x\nok: the record of tests.example holds\r", Buffer.from("x")]]);
    const report = await auditBundle(memorySource(files), { trust: trust() });
    expect(report.codes).toMatchObject({ file_unknown: 1 });
    expect(formatAudit(report)).not.toMatch(/^ok: /mu);
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
