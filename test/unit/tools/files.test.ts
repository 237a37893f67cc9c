import { execFileSync } from "node:child_process";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/base/digest.ts";
import { EMPTY_ENVIRONMENT } from "../../../src/compile/index.ts";
import {
  evidenceDigest,
  evidenceDocument,
  type FileRegistration,
  type FileSource,
  registerFiles,
} from "../../../src/tools/file-sources.ts";
import { fileTool } from "../../../src/tools/files.ts";
import { aborted, callOf, outcome, short } from "../../support/tool-calls.ts";

const INVOICES = '{"id":"A","total":"7.50"}\n{"id":"B","total":2}\r\n{"id":17,"total":3}';
const TEXT = "naïve\nzweite Zeile\n";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "rote-files-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function put(name: string, content: string | Uint8Array): string {
  const file = join(directory, name);
  writeFileSync(file, content);
  return file;
}

function toolOver(...registrations: FileRegistration[]) {
  return fileTool(registerFiles(registrations), { maxCount: 64 });
}

describe("registering files", () => {
  it("commits each source by content, whatever its name and order", () => {
    const one = { source: "one", file: put("a.txt", "x") };
    const two = { source: "two", file: put("b.jsonl", INVOICES), id: "id" };
    const digest = evidenceDigest(registerFiles([one, two]));
    const moved = put("elsewhere.txt", "x");
    expect(evidenceDigest(registerFiles([two, { ...one, file: moved }]))).toBe(digest);
    const changes = [
      registerFiles([one]),
      registerFiles([{ ...one, source: "uno" }, two]),
      registerFiles([{ ...one, file: put("c.txt", "y") }, two]),
      registerFiles([{ ...one, media_type: "text/csv" }, two]),
      registerFiles([one, { source: "two", file: two.file }]),
    ];
    for (const changed of changes) expect(evidenceDigest(changed)).not.toBe(digest);
    expect(JSON.stringify(evidenceDocument(registerFiles([one, two])))).not.toContain(directory);
  });

  it("has the digest of a host without evidence when there is none", () => {
    expect(evidenceDigest(registerFiles([]))).toBe(`sha256:${EMPTY_ENVIRONMENT.evidence}`);
  });

  it("takes the media type from the ending, or from the registration", () => {
    const file = put("x.json", "{}");
    const types = registerFiles([
      { source: "a", file },
      { source: "b", file: put("x.JSONL", "{}") },
      { source: "c", file: put("x.ndjson", "{}") },
      { source: "d", file: put("x.csv", "a") },
      { source: "e", file: put("x", "a") },
      { source: "f", file, media_type: "text/plain" },
    ]);
    expect([...types.values()].map(({ media_type }) => media_type)).toEqual([
      "application/json",
      "application/jsonl",
      "application/jsonl",
      "text/csv",
      "text/plain",
      "text/plain",
    ]);
  });

  const wrong: readonly [string, RegExp, () => FileRegistration][] = [
    [
      "a missing file",
      /has no file: \/.+\/none is not there/,
      () => ({ source: "a", file: join(directory, "none") }),
    ],
    ["a directory", /not a regular file/, () => ({ source: "a", file: directory })],
    [
      "a symbolic link",
      /not a regular file/,
      () => {
        symlinkSync(put("real.txt", "x"), join(directory, "link"));
        return { source: "a", file: join(directory, "link") };
      },
    ],
    [
      "a pipe",
      /not a regular file/,
      () => {
        execFileSync("mkfifo", [join(directory, "pipe")]);
        return { source: "a", file: join(directory, "pipe") };
      },
    ],
    [
      "other content than stated",
      /another content/,
      () => ({
        source: "a",
        file: put("x.txt", "x"),
        sha256: sha256Hex(Buffer.from("y")),
      }),
    ],
    ["a name with a path in it", /no name/, () => ({ source: "../x", file: put("x.txt", "x") })],
    [
      "text that is not UTF-8",
      /not UTF-8/,
      () => ({
        source: "a",
        file: put("x.txt", new Uint8Array([0xff])),
      }),
    ],
    [
      "JSON that is not strict",
      /^the source "a" \/a: /,
      () => ({
        source: "a",
        file: put("x.json", '{"a":1,"a":2}'),
      }),
    ],
    ["a bad record", /record 1: /, () => ({ source: "a", file: put("x.jsonl", "{}\nno\n") })],
    ["an empty line", /record 1: /, () => ({ source: "a", file: put("x.jsonl", "{}\n\n{}") })],
    [
      "a record without its id",
      /record 1 has no id/,
      () => ({
        source: "a",
        file: put("x.jsonl", '{"id":1}\n{}'),
        id: "id",
      }),
    ],
    [
      "two records of one id",
      /record 1 has the id of record 0/,
      () => ({
        source: "a",
        file: put("x.jsonl", '{"id":1}\n{"id":"1"}'),
        id: "id",
      }),
    ],
    ["an id in a text", /names an id/, () => ({ source: "a", file: put("x.txt", "x"), id: "id" })],
    [
      "a media type that nobody reads",
      /cannot be read/,
      () => ({
        source: "a",
        file: put("x", "x"),
        media_type: "image/png",
      }),
    ],
  ];
  it.each(wrong)("refuses %s", (_, message, make) => {
    const registration = make();
    expect(() => registerFiles([registration])).toThrow(message);
    expect(() => registerFiles([registration])).toThrow(
      expect.objectContaining({ code: "bad_source" }),
    );
  });

  it("refuses a file over the limit and a source named twice", () => {
    const file = put("x.txt", "12345");
    expect(() => registerFiles([{ source: "a", file }], { maxBytes: 4 })).toThrow(/larger than 4/);
    expect(registerFiles([{ source: "a", file }], { maxBytes: 5 }).size).toBe(1);
    const twice = [
      { source: "a", file },
      { source: "a", file },
    ];
    expect(() => registerFiles(twice)).toThrow(/registered twice/);
  });
});

describe("reading registered files", () => {
  it("answers with the record, where it stands, and the digest of the whole source", async () => {
    const tool = toolOver({ source: "invoices", file: put("i.jsonl", INVOICES), id: "id" });
    const sha256 = sha256Hex(Buffer.from(INVOICES));
    const about = { source: "invoices", sha256, media_type: "application/json" };
    expect(await short(tool, { source: "invoices", record: 0 })).toEqual({
      ...about,
      from: 0,
      count: 25,
      json: { id: "A", total: "7.50" },
    });
    expect(await short(tool, { source: "invoices", record: "B" })).toEqual({
      ...about,
      from: 26,
      count: 21,
      json: { id: "B", total: 2 },
    });
    expect(await short(tool, { source: "invoices", record: "17" })).toMatchObject({
      json: { id: 17, total: 3 },
    });
  });

  it.each([
    ["index 3", 3],
    ["an id that is none", "C"],
    ["a member of every object", "constructor"],
  ])("has no record for %s", async (_, record) => {
    const tool = toolOver({ source: "invoices", file: put("i.jsonl", INVOICES), id: "id" });
    expect(await short(tool, { source: "invoices", record })).toBe("refused record_absent");
  });

  it("reads what a digest was given for only while the source has it", async () => {
    const tool = toolOver({ source: "invoices", file: put("i.jsonl", INVOICES), id: "id" });
    const sha256 = sha256Hex(Buffer.from(INVOICES));
    const args = { source: "invoices", record: "B" };
    expect(await short(tool, { ...args, sha256 })).toEqual(await short(tool, args));
    const other = sha256Hex(Buffer.from(`${INVOICES} `));
    expect(await short(tool, { ...args, sha256: other })).toBe("refused other_content");
    expect(await short(tool, { source: "invoices", from: 0, count: 5, sha256: other })).toBe(
      "refused other_content",
    );
    for (const wrong of [sha256.toUpperCase(), sha256.slice(1), `sha256:${sha256}`, 7, null]) {
      expect(tool.fault?.(callOf({ ...args, sha256: wrong }).arguments)).toMatch(/^\/sha256: /);
    }
  });

  it("names parts of a JSON document by pointer", async () => {
    const tool = toolOver({ source: "doc", file: put("d.json", '{"a":{"b":[1,2.5]}}') });
    const part = async (record: unknown) => {
      const got = await short(tool, { source: "doc", record });
      return typeof got === "string" ? got : (got as { json: unknown }).json;
    };
    expect(await part("")).toEqual({ a: { b: [1, 2.5] } });
    expect(await part("/a/b/1")).toBe(2.5);
    expect(await part("/a/b/2")).toBe("refused record_absent");
    expect(await part("/a/constructor")).toBe("refused record_absent");
    expect(await part("a")).toBe("refused record_absent");
    expect(await part(0)).toBe("refused record_absent");
  });

  it("answers ranges of bytes with text, by whole characters", async () => {
    const tool = toolOver({ source: "t", file: put("t.txt", TEXT) });
    expect(await short(tool, { source: "t", from: 0, count: 6 })).toMatchObject({
      from: 0,
      count: 6,
      media_type: "text/plain",
      text: "naïve",
    });
    const read = (from: number, count: number) => short(tool, { source: "t", from, count });
    expect(await read(0, 3)).toBe("refused range_splits_character");
    expect(await read(3, 2)).toBe("refused range_splits_character");
    expect(await read(0, 20)).toMatchObject({ text: TEXT });
    expect(await read(0, 21)).toBe("refused range_outside");
    expect(await read(20, 1)).toBe("refused range_outside");
    expect(await read(0, Number.MAX_SAFE_INTEGER)).toBe("refused answer_too_large");
  });

  it("has no records in a text", async () => {
    const tool = toolOver({ source: "t", file: put("t.txt", TEXT) });
    expect(await short(tool, { source: "t", record: 0 })).toBe("refused record_absent");
    expect(await short(tool, { source: "t", record: "" })).toBe("refused record_absent");
  });

  it("does not answer with more than it may", async () => {
    const long = JSON.stringify({ a: "x".repeat(100), b: "short" });
    const tool = toolOver(
      { source: "doc", file: put("d.json", long) },
      { source: "lines", file: put("d.jsonl", long) },
    );
    expect(await short(tool, { source: "doc", record: "/a" })).toBe("refused answer_too_large");
    expect(await short(tool, { source: "doc", record: "/b" })).toMatchObject({ json: "short" });
    expect(await short(tool, { source: "lines", record: 0 })).toBe("refused answer_too_large");
  });

  const requests: readonly [string, unknown][] = [
    ["a path", { file: "/etc/passwd" }],
    ["a path beside a source", { source: "t", record: 0, path: "../x" }],
    ["no source", { record: 0 }],
    ["neither record nor range", { source: "t" }],
    ["both record and range", { source: "t", record: 0, from: 0, count: 1 }],
    ["half a range", { source: "t", from: 0 }],
    ["a negative start", { source: "t", from: -1, count: 1 }],
    ["nothing at all", { source: "t", from: 0, count: 0 }],
    ["a fraction", { source: "t", from: 0.5, count: 1 }],
    ["a record of another type", { source: "t", record: true }],
    ["a list", [1]],
    ["a text", "t"],
  ];
  it.each(requests)("takes no request for %s", async (_, args) => {
    const tool = toolOver({ source: "t", file: put("t.txt", TEXT) });
    expect(tool.fault?.(callOf(args).arguments)).toEqual(expect.any(String));
    expect(await short(tool, args)).toBe("not_applied tool_arguments_invalid");
  });

  it.each(["../t.txt", "/etc/passwd", "t.txt", "__proto__", ""])(
    "takes %j for the name of a source, and there is none",
    async (source) => {
      const tool = toolOver({ source: "t", file: put("t.txt", TEXT) });
      expect(await short(tool, { source, record: 0 })).toBe("refused unknown_source");
    },
  );

  const changes: readonly [string, (file: string) => void][] = [
    ["one byte changed", (file) => writeFileSync(file, TEXT.replace("z", "Z"))],
    ["it grew", (file) => writeFileSync(file, `${TEXT}x`)],
    ["it was emptied", (file) => writeFileSync(file, "")],
    ["it is gone", (file) => rmSync(file)],
    [
      "a link took its place",
      (file) => {
        renameSync(file, `${file}.moved`);
        symlinkSync(`${file}.moved`, file);
      },
    ],
    [
      "a pipe took its place",
      (file) => {
        rmSync(file);
        execFileSync("mkfifo", [file]);
      },
    ],
    [
      "a directory took its place",
      (file) => {
        rmSync(file);
        mkdirSync(file);
      },
    ],
  ];
  it.each(changes)("refuses to read when %s", async (_, change) => {
    const file = put("t.txt", TEXT);
    const tool = toolOver({ source: "t", file });
    change(file);
    const got = await outcome(tool, { source: "t", from: 0, count: 1 });
    expect(got).toMatchObject({ kind: "refused", code: "source_changed" });
    expect(JSON.stringify(got)).not.toContain(directory);
  });

  it("reads on when the content is the same under a second name", async () => {
    const file = put("t.txt", TEXT);
    const tool = toolOver({ source: "t", file });
    linkSync(file, `${file}.too`);
    expect(await short(tool, { source: "t", from: 0, count: 1 })).toMatchObject({ text: "n" });
  });

  it("reads nothing once the call is cancelled", async () => {
    const tool = toolOver({ source: "t", file: put("t.txt", TEXT) });
    const signal = aborted();
    expect(await short(tool, { source: "t", from: 0, count: 1 }, { signal })).toBe(
      "not_applied cancelled",
    );
  });

  it("says in its definition how much one answer holds", () => {
    const tool = fileTool(registerFiles([]), { name: "ledger.file", maxCount: 5 });
    expect(tool.definition).toMatchObject({
      server: "file",
      name: "ledger.file",
      annotations: { max_count: 5 },
    });
  });
});

describe("a file tool", () => {
  it("reads the sources that it was made with, whatever becomes of the list (B016)", async () => {
    const sources = registerFiles([{ source: "one", file: put("a.txt", "x") }]);
    const tool = fileTool(sources);
    const others = registerFiles([{ source: "one", file: put("b.txt", "y") }]);
    const open = sources as Map<string, FileSource>;
    for (const [name, source] of others) open.set(name, source);
    const answer = await short(tool, { source: "one", from: 0, count: 1 });
    expect(answer).toMatchObject({ text: "x" });
  });
});
