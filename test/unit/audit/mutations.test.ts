/** Every entry and every signature of a record changed in every way that there is a word for: found, and named. */
import { beforeAll, describe, expect, it } from "vitest";
import { auditBundle, type Finding } from "../../../src/audit/index.ts";
import { memorySource } from "../../support/audit/bundle.ts";
import { entriesIn, textIn } from "../../support/audit/forge.ts";
import {
  entryMutations,
  fileSignatureMutations,
  type Mutation,
  signatureMutations,
} from "../../support/audit/mutations.ts";
import { paidTwice, type Recording } from "../../support/audit/record.ts";

let recorded: Recording;
let places: readonly { readonly chain: string; readonly seq: number }[];
beforeAll(async () => {
  recorded = await paidTwice();
  places = entriesIn(recorded.files);
});

/** True when a finding names line `at`, or what stood there. */
function names({ file, index, chain, seq }: Finding, at: number): boolean {
  const inFile = file === "journal.jsonl" && index !== null && index[0] <= at && at <= index[1];
  const { chain: its, seq: own } = places[at] ?? { chain: "", seq: -1 };
  return inFile || (chain === its && seq !== null && seq[0] <= own && own <= seq[1]);
}

/** Tries all; resolves to how many of each kind there were, and those that were not found or not named. */
async function tried(mutations: Iterable<Mutation>) {
  const counts = new Map<string, number>();
  const missed: string[] = [];
  for (const { kind, files, lines, file } of mutations) {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    const { findings, clean } = await auditBundle(memorySource(files), { trust: recorded.trust });
    const unnamed = lines.filter((at) => !findings.some((finding) => names(finding, at)));
    const filed = file === undefined || findings.some((finding) => finding.file === file);
    if (clean || unnamed.length > 0 || !filed) {
      missed.push(`${kind} ${lines.join(" and ")}: ${clean ? "unseen" : "not named"}`);
    }
  }
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  process.stdout.write(
    `${total} mutations: ${[...counts].map(([kind, count]) => `${count} ${kind}`).join("; ")}\n`,
  );
  return { total, kinds: counts.size, missed };
}

describe("a record of 13 entries and 6 signed documents", () => {
  it("without any change is clean", async () => {
    const report = await auditBundle(memorySource(recorded.files), { trust: recorded.trust });
    expect(report.findings).toEqual([]);
    expect(textIn(recorded.files, "journal.jsonl").split("\n")).toHaveLength(14);
  });

  it("names each entry that was truncated, dropped, duplicated, swapped, moved or altered", async () => {
    const { total, kinds, missed } = await tried(entryMutations(recorded.files));
    expect(missed).toEqual([]);
    expect(kinds).toBe(13);
    expect(total).toBeGreaterThan(700);
  });

  it("names each entry whose signature was stripped, moved, altered, repeated or joined by another", async () => {
    const { total, kinds, missed } = await tried(signatureMutations(recorded.files));
    expect(missed).toEqual([]);
    expect(kinds).toBe(24);
    expect(total).toBeGreaterThan(100);
  });

  it("names the file of each trust store and tree head whose signature was", async () => {
    const { total, missed } = await tried(fileSignatureMutations(recorded.files));
    expect(missed).toEqual([]);
    expect(total).toBeGreaterThan(15);
  });
});
