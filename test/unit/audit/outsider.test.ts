/** What can be done to the files of a bundle by somebody who holds no key: all of it is found, and named with its place. */
import { beforeAll, describe, expect, it } from "vitest";
import { auditBundle, type Finding } from "../../../src/audit/index.ts";
import { canonicalText } from "../../../src/base/canonical.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { type Files, memorySource } from "../../support/audit/bundle.ts";
import {
  entriesIn,
  json,
  linesIn,
  textIn,
  withFile,
  withLines,
} from "../../support/audit/forge.ts";
import { audit, paidTwice, type Recording } from "../../support/audit/record.ts";
import { trust } from "../../support/host.ts";

let recorded: Recording;
beforeAll(async () => {
  recorded = await paidTwice();
});

async function found(files: Files): Promise<readonly Finding[]> {
  return (await auditBundle(memorySource(files), { trust: recorded.trust })).findings;
}

/** True when a finding names line `at`, or what stood there. */
function names(finding: Finding, at: number): boolean {
  const { chain, seq } = entriesIn(recorded.files)[at] ?? { chain: "", seq: -1 };
  const inFile =
    finding.file === "journal.jsonl" &&
    finding.index !== null &&
    finding.index[0] <= at &&
    at <= finding.index[1];
  const inChain =
    finding.chain === chain &&
    finding.seq !== null &&
    finding.seq[0] <= seq &&
    seq <= finding.seq[1];
  return inFile || inChain;
}

describe("the end of the file", () => {
  it.each([1, 2, 64, 13])("cut off by the last %i lines it is found (B087)", async (count) => {
    const lines = linesIn(recorded.files).slice(0, -count);
    const cut = Math.min(count, 13);
    const findings = await found(withLines(recorded.files, lines));
    expect(findings).toContainEqual(
      expect.objectContaining({ code: "head_beyond", index: [13 - cut, 12] }),
    );
  });

  it("cut in the middle of the last line it is found", async () => {
    const text = textIn(recorded.files, "journal.jsonl");
    for (const cut of [1, 2, 100]) {
      const findings = await found(withFile(recorded.files, "journal.jsonl", text.slice(0, -cut)));
      expect(findings.map(({ code }) => code)).toContain("line_unfinished");
      expect(findings.some((finding) => names(finding, 12))).toBe(true);
    }
  });

  it("with lines added behind the last tree head it is found", async () => {
    const lines = linesIn(recorded.files);
    const findings = await found(withLines(recorded.files, [...lines, lines[12] ?? ""]));
    expect(findings).toContainEqual(
      expect.objectContaining({ code: "tail_uncovered", index: [13, 13] }),
    );
    expect(findings.map(({ code }) => code)).toContain("run_after_end");
  });

  it("cut off together with its tree heads it shows only against a head from outside (B087)", async () => {
    const head = textIn(recorded.files, "heads.txt").replace(/%\n$/u, "");
    const lines = linesIn(recorded.files).slice(0, 12);
    const cut = withFile(withLines(recorded.files, lines), "heads.txt", "");
    const against = await audit({ ...recorded, files: cut }, [head]);
    expect(against.findings).toContainEqual(
      expect.objectContaining({ code: "anchor_differs", index: [12, 12] }),
    );
    expect((await audit(recorded, [head])).anchors).toBe(1);
    expect((await audit(recorded)).anchors).toBe(0);
  });
});

describe("the beginning of the file", () => {
  it("cut off it does not pass for something that was kept only so long (B088)", async () => {
    const lines = linesIn(recorded.files);
    const findings = await found(withLines(recorded.files, lines.slice(2)));
    expect(findings.map(({ code }) => code)).toContain("host_start");
    const run = await found(withLines(recorded.files, lines.toSpliced(2, 2)));
    expect(run).toContainEqual(expect.objectContaining({ code: "chain_genesis", seq: [0, 1] }));
  });
});

describe("tree heads", () => {
  const heads = () => textIn(recorded.files, "heads.txt");

  it.each([
    ["dropped", () => "", "head_missing"],
    ["without its signature", () => heads().replace(/^—.*\n/mu, ""), "head_malformed"],
    ["with another size", () => heads().replace("\n13\n", "\n12\n"), "head_signature"],
    [
      "of a size that no number holds",
      () => heads().replace("\n13\n", "\n99999999999999999999\n"),
      "head_malformed",
    ],
    ["of a size over 2^53", () => heads().replace("\n13\n", "\n9007199254740993\n"), "head_beyond"],
    [
      "with another root",
      () => heads().replace(/^[A-Za-z0-9+/]{43}=$/mu, `${"A".repeat(43)}=`),
      "head_signature",
    ],
    [
      "of another journal",
      () => heads().replaceAll("tests.example", "other.example"),
      "head_origin",
    ],
    ["with a line more", () => heads().replace("=\n\n", "=\nmore\n\n"), "head_malformed"],
    ["signed twice", () => heads().replace(/^(—.*\n)/mu, "$1$1"), "head_signature"],
    [
      "with a signature of somebody unknown in front",
      () => heads().replace(/^(—.*\n)/mu, `— other.example AAAAAAAA${"A".repeat(80)}\n$1`),
      "head_signature",
    ],
    ["written twice", () => heads() + heads(), "head_order"],
    ["without the line behind it", () => heads().replace(/%\n$/u, ""), "head_malformed"],
    ["cut in the middle", () => heads().slice(0, 60), "head_malformed"],
  ])("%s it is found", async (_, text, code) => {
    const findings = await found(withFile(recorded.files, "heads.txt", text()));
    expect(findings.map((finding) => finding.code)).toContain(code);
    for (const finding of findings) expect(finding.file).toMatch(/^(heads\.txt|journal\.jsonl)$/u);
  });
});

describe("files", () => {
  it.each(["journal.jsonl", "heads.txt", "trust.json"])("without %s it is found", async (name) => {
    const findings = await found(withFile(recorded.files, name, null));
    expect(findings).toContainEqual(expect.objectContaining({ code: "file_missing", file: name }));
  });

  it("each blob that is missing is named where an entry names it", async () => {
    const blobs = [...recorded.files.keys()].filter((name) => name.startsWith("blobs/"));
    expect(blobs.length).toBe(9);
    for (const name of blobs) {
      const findings = await found(withFile(recorded.files, name, null));
      const hex = name.slice("blobs/sha256/".length);
      const named = findings.find(({ message }) => message.includes(hex));
      expect(named, name).toMatchObject({ file: "journal.jsonl" });
      expect(["blob_missing", "document_missing"]).toContain(named?.code);
    }
  });

  it("each blob that was altered, cut or emptied is named", async () => {
    const blobs = [...recorded.files].filter(([name]) => name.startsWith("blobs/"));
    for (const [name, bytes] of blobs) {
      const flipped = Uint8Array.from(bytes);
      flipped[bytes.byteLength >> 1] = (flipped[bytes.byteLength >> 1] ?? 0) ^ 1;
      for (const content of [flipped, bytes.subarray(0, -1), new Uint8Array(0)]) {
        const findings = await found(withFile(recorded.files, name, content));
        expect(findings).toContainEqual(
          expect.objectContaining({ code: "blob_differs", file: name }),
        );
      }
    }
  });

  it("a file that nothing names is named, a blob of right name too", async () => {
    const extra = "blobs/sha256/ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    for (const name of ["notes.txt", extra]) {
      const findings = await found(withFile(recorded.files, name, "abc"));
      expect(findings).toEqual([expect.objectContaining({ code: "file_unknown", file: name })]);
    }
  });

  it.each([
    ["no JSON", "["],
    ["no list", "{}"],
    ["not canonical", "[ ]"],
    ["empty", "[]"],
  ])("a file of trust stores that is %s is found", async (_, text) => {
    expect(await found(withFile(recorded.files, "trust.json", text))).not.toEqual([]);
  });

  it("a file of trust stores that is filled up is found, and not kept", async () => {
    const blanks = Buffer.alloc(32_000_001, " ");
    const findings = await found(new Map(recorded.files).set("trust.json", blanks));
    expect(findings).toContainEqual(
      expect.objectContaining({ code: "file_too_large", file: "trust.json" }),
    );
  });

  it("a version of the trust store that only the file has is found", async () => {
    const list = json(textIn(recorded.files, "trust.json")) as readonly JsonValue[];
    const more = canonicalText([...list, trust({ version: 2 })]);
    const findings = await found(withFile(recorded.files, "trust.json", more));
    expect(findings).toContainEqual(
      expect.objectContaining({ code: "trust_unlisted", file: "trust.json" }),
    );
  });

  it("nothing at all is no clean record", async () => {
    const empty = await audit({ files: new Map(), trust: recorded.trust });
    expect(empty.clean).toBe(false);
    expect(empty.codes).toMatchObject({ nothing_to_verify: 1, file_missing: 3 });
    const blank = new Map(["journal.jsonl", "heads.txt"].map((name) => [name, new Uint8Array(0)]));
    blank.set("trust.json", Buffer.from("[]"));
    expect((await audit({ files: blank, trust: recorded.trust })).codes).toEqual({
      nothing_to_verify: 1,
    });
  });
});
