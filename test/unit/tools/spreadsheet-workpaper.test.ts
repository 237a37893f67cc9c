import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { registerFiles } from "../../../src/tools/file-sources.ts";
import { spreadsheetTool } from "../../../src/tools/spreadsheet.ts";
import {
  openSpreadsheetWorkpaper,
  type SpreadsheetWorkpaper,
} from "../../../src/tools/spreadsheet-workpaper.ts";
import { xlsxOf } from "../../support/documents.ts";
import { aborted, callOf, outcome, short } from "../../support/tool-calls.ts";

const COLUMNS = ["finding", "amount", "count", "agreed"];
const CONTENT = { finding: "=1+1\r\n _x0041_ <&>", amount: "7.50", count: 3, agreed: true };
const NULLS = { finding: null, amount: null, count: null, agreed: null };

let root: string;
let directory: string;
let paper: SpreadsheetWorkpaper;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "rote-paper-"));
  directory = join(root, "w");
  paper = await openSpreadsheetWorkpaper(directory, { mode: "create", columns: COLUMNS });
});
afterEach(() => {
  paper.close();
  rmSync(root, { recursive: true, force: true });
});

const open = (columns = COLUMNS) =>
  openSpreadsheetWorkpaper(directory, { mode: "open", columns, busyTimeoutMs: 10 });
const append = (key: string, content: unknown, operationId: string, at = paper) =>
  short(at.append, { key, content }, { operationId });
const all = () => short(paper.read, { from: 1, count: 100 });

describe("the spreadsheet workpaper", () => {
  it("gives back every value as it was written, by key and in order", async () => {
    expect(await append("a", CONTENT, "op-1")).toEqual({ key: "a", position: 1 });
    expect(await append("b", NULLS, "op-2")).toEqual({ key: "b", position: 2 });
    expect(await short(paper.read, { key: "a" })).toEqual({
      entries: [{ position: 1, key: "a", operation: "op-1", content: CONTENT }],
      end: 2,
    });
    expect(await short(paper.read, { from: 2, count: 1 })).toMatchObject({
      entries: [{ key: "b", content: NULLS }],
    });
    expect(await short(paper.read, { key: "c" })).toBe("refused entry_absent");
  });

  it("keeps the columns that it was opened with, whatever becomes of their list", async () => {
    const columns = [...COLUMNS];
    paper.close();
    paper = await open(columns);
    columns.reverse();
    expect(await append("a", CONTENT, "op-1")).toEqual({ key: "a", position: 1 });
    paper.close();
    paper = await open();
    expect(await short(paper.read, { key: "a" })).toMatchObject({
      entries: [{ content: CONTENT }],
    });
  });

  it("is a spreadsheet that the reader of spreadsheets reads, and no text in it is a formula", async () => {
    await append("a", CONTENT, "op-1");
    const sources = registerFiles([{ source: "paper", file: paper.file }]);
    const got = await short(spreadsheetTool(sources), {
      source: "paper",
      sheet: "Workpaper",
      from: 2,
      count: 1,
    });
    const cell = (column: string, kind: string, value: string) => ({
      column,
      kind,
      value,
      stored: value,
      formula: false,
    });
    expect(got).toMatchObject({
      sheets: ["Workpaper", "Void operations"],
      rows: [
        {
          row: 2,
          cells: [
            cell("A", "number", "1"),
            cell("B", "text", "a"),
            cell("C", "text", "op-1"),
            cell("D", "text", CONTENT.finding),
            cell("E", "text", "7.50"),
            cell("F", "number", "3"),
            cell("G", "boolean", "true"),
          ],
        },
      ],
    });
  });

  it("survives being closed, in private files", async () => {
    await append("a", CONTENT, "op-1");
    paper.close();
    expect(statSync(paper.file).mode & 0o777).toBe(0o600);
    paper = await open();
    expect(await all()).toMatchObject({ entries: [{ key: "a", content: CONTENT }] });
  });

  it("writes an operation's row once, and answers with it again", async () => {
    const first = await append("a", CONTENT, "op-1");
    expect(await append("a", CONTENT, "op-1")).toEqual(first);
    expect(await append("a", NULLS, "op-1")).toBe("refused operation_reused");
    expect(await append("b", CONTENT, "op-1")).toBe("refused operation_reused");
    expect(await append("a", CONTENT, "op-2")).toBe("refused duplicate_key");
    expect(await all()).toMatchObject({ end: 1 });
  });

  it("keeps every row of writers that are at it together, in one process and in two openings", async () => {
    const other = await open();
    const keys = ["a", "b", "c", "d", "e", "f"];
    const got = await Promise.all(
      keys.map((key, at) => append(key, NULLS, `op-${key}`, at % 2 === 0 ? paper : other)),
    );
    other.close();
    expect(got.map((each) => (each as { key: string }).key)).toEqual(keys);
    const { entries } = (await all()) as { readonly entries: readonly { readonly key: string }[] };
    expect(entries.map(({ key }) => key).sort()).toEqual(keys);
  });

  it("is the old one while a new one was begun and not finished", async () => {
    await append("a", NULLS, "op-1");
    paper.close();
    writeFileSync(`${paper.file}.new`, "half");
    paper = await open();
    expect(await append("b", NULLS, "op-2")).toEqual({ key: "b", position: 2 });
    expect(
      readdirSync(directory)
        .sort()
        .filter((name) => !/-(wal|shm)$/.test(name)),
    ).toEqual(["workpaper.lock", "workpaper.xlsx"]);
  });

  it("is refused with any byte changed, and nothing is written into it", async () => {
    await append("a", CONTENT, "op-1");
    const good = readFileSync(paper.file);
    for (let at = 0; at < good.length; at += 61) {
      const changed = Buffer.from(good);
      changed[at] = (changed[at] ?? 0) ^ 1;
      writeFileSync(paper.file, changed);
      expect(await append("b", NULLS, "op-2")).toMatch(/^not_applied workpaper_(changed|foreign)$/);
      expect(await all()).toMatch(/^not_applied workpaper_(changed|foreign)$/);
      expect(readFileSync(paper.file).equals(changed)).toBe(true);
    }
    writeFileSync(paper.file, good);
    expect(await all()).toMatchObject({ end: 1 });
  });

  it("is refused when something else wrote the file", async () => {
    writeFileSync(paper.file, xlsxOf({ sheets: { Workpaper: "", "Void operations": "" } }));
    await expect(open()).rejects.toMatchObject({ code: "workpaper_foreign" });
    await expect(paper.append.probe?.(callOf({}, { operationId: "op-1" }))).rejects.toMatchObject({
      code: "workpaper_foreign",
    });
  });

  it("is refused in plain words when its making ended before there was a file", async () => {
    paper.close();
    rmSync(paper.file);
    await expect(open()).rejects.toMatchObject({ code: "workpaper_foreign" });
  });

  it("is not opened with other columns than it has", async () => {
    await expect(open(["finding"])).rejects.toMatchObject({ code: "workpaper_foreign" });
    await expect(open([...COLUMNS].reverse())).rejects.toMatchObject({ code: "workpaper_foreign" });
    await expect(open(["key"])).rejects.toMatchObject({ code: "bad_tool" });
    await expect(open([])).rejects.toMatchObject({ code: "bad_tool" });
  });

  it.each([
    ["no key", { content: NULLS }],
    ["a column missing", { key: "a", content: { finding: null } }],
    ["a column more", { key: "a", content: { ...NULLS, more: 1 } }],
    ["a fraction", { key: "a", content: { ...NULLS, count: 0.5 } }],
    ["more digits than a cell keeps", { key: "a", content: { ...NULLS, count: 1e15 } }],
    ["an empty text", { key: "a", content: { ...NULLS, finding: "" } }],
    ["a character that no cell can hold", { key: "a", content: { ...NULLS, finding: "\u0000" } }],
    [
      "more text than a cell holds",
      { key: "a", content: { ...NULLS, finding: "x".repeat(32_768) } },
    ],
    ["a list in a cell", { key: "a", content: { ...NULLS, finding: [] } }],
  ])("takes no entry with %s", async (_, args) => {
    expect(paper.append.fault?.(callOf(args).arguments)).toEqual(expect.any(String));
    expect(await short(paper.append, args)).toBe("not_applied tool_arguments_invalid");
    expect(await all()).toEqual({ entries: [], end: 0 });
  });

  it("is full before it could not be read any more", async () => {
    const long = "&".repeat(32_000);
    const wide = Array.from({ length: 40 }, (_, at) => `c${at}`);
    const content = Object.fromEntries(wide.map((column) => [column, long]));
    const other = await openSpreadsheetWorkpaper(join(root, "wide"), {
      mode: "create",
      columns: wide,
    });
    for (let at = 1; at <= 6; at += 1) {
      expect(await append(`k${at}`, content, `op-${at}`, other)).toMatchObject({ position: at });
    }
    expect(await append("k7", content, "op-7", other)).toBe("refused workpaper_full");
    expect(await short(other.read, { key: "k6" })).toMatchObject({ end: 6 });
    other.close();
  });

  it("writes nothing once the call is cancelled, or the workpaper closed", async () => {
    const args = { key: "a", content: NULLS };
    expect(await short(paper.append, args, { signal: aborted() })).toBe("not_applied cancelled");
    paper.close();
    expect(await short(paper.append, args)).toBe("not_applied memory_closed");
    paper = await open();
    expect(await all()).toEqual({ entries: [], end: 0 });
  });

  it("names no path when it breaks", async () => {
    rmSync(paper.file);
    const got = await outcome(paper.append, { key: "a", content: NULLS }, { operationId: "op-1" });
    expect(got).toMatchObject({ kind: "not_applied", code: "workpaper_failed" });
    expect(JSON.stringify(got)).not.toContain(root);
  });
});

describe("the spreadsheet workpaper's probe", () => {
  const call = (operationId: string) => callOf({ key: "a", content: NULLS }, { operationId });

  it("finds what an operation wrote", async () => {
    const written = await append("a", NULLS, "op-1");
    expect(await paper.append.probe?.(call("op-1"))).toEqual({ kind: "done", result: written });
  });

  it("makes an operation void that it does not find, for good and for every process", async () => {
    const paused = await open();
    expect(await paper.append.probe?.(call("op-1"))).toEqual({ kind: "absent" });
    expect(await append("a", NULLS, "op-1", paused)).toBe("not_applied operation_void");
    paused.close();
    paper.close();
    paper = await open();
    expect(await append("a", NULLS, "op-1")).toBe("not_applied operation_void");
    expect(await paper.append.probe?.(call("op-1"))).toEqual({ kind: "absent" });
    expect(await append("a", NULLS, "op-2")).toEqual({ key: "a", position: 1 });
  });
});
