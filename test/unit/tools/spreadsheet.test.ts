import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/base/digest.ts";
import type { FileSources } from "../../../src/tools/file-sources.ts";
import { registerFiles } from "../../../src/tools/file-sources.ts";
import { type SpreadsheetToolOptions, spreadsheetTool } from "../../../src/tools/spreadsheet.ts";
import { type Part, type Workbook, xlsxOf, zipOf } from "../../support/documents.ts";
import { aborted, callOf, short } from "../../support/tool-calls.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "rote-sheet-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const FIRST = { source: "book", sheet: 1, from: 1, count: 100 };

function sourcesOf(bytes: Uint8Array): FileSources {
  const file = join(directory, "book.xlsx");
  writeFileSync(file, bytes);
  return registerFiles([{ source: "book", file }]);
}

function read(bytes: Uint8Array, args: unknown = FIRST, options: SpreadsheetToolOptions = {}) {
  return short(spreadsheetTool(sourcesOf(bytes), options), args);
}

/** One row with these cells: kind, value and stored text of each, with `=` before those of a formula. */
async function cells(row: string, workbook: Partial<Workbook> = {}): Promise<unknown> {
  const bytes = xlsxOf({ ...workbook, sheets: { S: `<row r="1">${row}</row>` } });
  const got = await read(bytes);
  if (typeof got === "string") return got;
  const { rows } = got as {
    readonly rows: readonly {
      readonly cells: readonly Readonly<Record<string, string | boolean>>[];
    }[];
  };
  return rows.flatMap((found) =>
    found.cells.map(({ column, kind, value, stored, formula }) =>
      `${formula === true ? "=" : ""}${column} ${kind} ${value}${stored === value ? "" : ` (${stored})`}`.trim(),
    ),
  );
}

describe("cells of a spreadsheet", () => {
  it("are of the sources that were there when the tool was made", async () => {
    const sources = sourcesOf(xlsxOf({ sheets: { S: "" } }));
    const tool = spreadsheetTool(sources);
    (sources as Map<string, unknown>).clear();
    expect(await short(tool, FIRST)).toMatchObject({ sheets: ["S"] });
  });

  it("come by sheet and row, with the digest of the whole document", async () => {
    const bytes = xlsxOf({
      sheets: {
        Ledger: `<row r="1"><c r="A1" t="s"><v>0</v></c></row><row r="3"><c r="B3"><v>0.1</v></c><c r="D3" s="0"/></row><row r="9"/>`,
        "Q&amp;A": "",
      },
      texts: ["<t>Invoice</t>"],
    });
    expect(await read(bytes)).toEqual({
      source: "book",
      sha256: sha256Hex(bytes),
      media_type: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
      sheets: ["Ledger", "Q&A"],
      sheet: "Ledger",
      from: 1,
      count: 100,
      end: 3,
      rows: [
        {
          row: 1,
          cells: [
            { column: "A", kind: "text", value: "Invoice", stored: "Invoice", formula: false },
          ],
        },
        {
          row: 3,
          cells: [{ column: "B", kind: "number", value: "0.1", stored: "0.1", formula: false }],
        },
      ],
    });
    expect(await read(bytes, { ...FIRST, sheet: "Ledger", from: 2, count: 1 })).toMatchObject({
      rows: [],
      end: 3,
    });
    expect(await read(bytes, { ...FIRST, sheet: "Q&A" })).toMatchObject({ rows: [], end: 0 });
    expect(await read(bytes, { ...FIRST, sheet: 3 })).toBe("refused sheet_absent");
    expect(await read(bytes, { ...FIRST, sheet: "ledger" })).toBe("refused sheet_absent");
  });

  it.each([
    ["0.1", "A number 0.1"],
    ["-7.50", "A number -7.5 (-7.50)"],
    ["16.850000000000001", "A number 16.85 (16.850000000000001)"],
    ["0.30000000000000004", "A number 0.30000000000000004"],
    ["1E-3", "A number 0.001 (1E-3)"],
    ["1.5e3", "A number 1500 (1.5e3)"],
    ["12345678901234567", "A number 12345678901234567"],
    ["-0", "A number 0 (-0)"],
    ["9.9999999999999995E-7", "A number 0.000001 (9.9999999999999995E-7)"],
    ["1E+20", "A number 100000000000000000000 (1E+20)"],
  ])("have the number %s as decimal text, and what is stored beside it", async (stored, shown) => {
    expect(await cells(`<c r="A1"><v>${stored}</v></c>`)).toEqual([shown]);
  });

  it.each([
    [14, "45351", "A date 2024-02-29 (45351)"],
    [22, "45351.4375", "A date 2024-02-29T10:30:00 (45351.4375)"],
    [20, "0.5208333333333334", "A time 12:30:00 (0.5208333333333334)"],
    [14, "59", "A date 1900-02-28 (59)"],
    [14, "61", "A date 1900-03-01 (61)"],
    [14, "60", "A number 60"],
    [14, "-1", "A number -1"],
    [14, "9999999", "A number 9999999"],
    [46, "1.5", "A number 1.5"],
    [2, "45351", "A number 45351"],
    [170, "45351", "A date 2024-02-29 (45351)"],
    [171, "45351", "A number 45351"],
    [172, "45351", "A number 45351"],
  ])("have dates by their format %i in ISO form: %s", async (format, stored, shown) => {
    const formats =
      '<numFmt numFmtId="170" formatCode="[$-407]dd\\.mm\\.yyyy;@"/><numFmt numFmtId="171" formatCode="0.00 &quot;days&quot;"/><numFmt numFmtId="172" formatCode="[h]:mm"/>';
    const got = await cells(`<c r="A1" s="1"><v>${stored}</v></c>`, {
      formats,
      styles: [0, format],
    });
    expect(got).toEqual([shown]);
  });

  it("count days from 1904 where the workbook does", async () => {
    const row = '<c r="A1" s="0"><v>43889</v></c>';
    expect(await cells(row, { styles: [14], from1904: true })).toEqual([
      "A date 2024-02-29 (43889)",
    ]);
  });

  it("say of every kind what it shows", async () => {
    const row =
      '<c r="A1" t="s"><v>1</v></c><c t="b"><v>0</v></c><c t="e"><v>#DIV/0!</v></c><c t="d"><v>2024-02-29</v></c><c t="inlineStr"><is><r><t>a</t></r><r><t xml:space="preserve"> b</t></r></is></c><c r="AA1" t="str"><v></v></c>';
    const texts = ["<t/>", "<r><t>_x0041_ &lt;</t></r><rPh><t>no</t></rPh><r><t>&#x1F600;</t></r>"];
    expect(await cells(row, { texts })).toEqual([
      "A text A <😀",
      "B boolean false",
      "C error #DIV/0!",
      "D date 2024-02-29",
      "E text a b",
      "AA text",
    ]);
  });

  it("tell formulas from what was typed, with the value that was kept", async () => {
    const row =
      '<c r="A1"><f>1+1</f><v>2</v></c><c r="B1"><f t="shared" si="0"/><v>3</v></c><c r="C1"><f>NOW()</f></c><c r="D1"><f t="array" ref="D1:E2">x</f><v>4</v></c><c r="E1"><v>5</v></c><c r="F1"><v>6</v></c>';
    expect(await cells(row)).toEqual([
      "=A number 2",
      "=B number 3",
      "=C none",
      "=D number 4",
      "=E number 5",
      "F number 6",
    ]);
  });

  it("can be asked for by content, and are no others then", async () => {
    const bytes = xlsxOf({ sheets: { S: "" } });
    expect(await read(bytes, { ...FIRST, sha256: sha256Hex(bytes) })).toMatchObject({ end: 0 });
    expect(await read(bytes, { ...FIRST, sha256: "0".repeat(64) })).toBe("refused other_content");
    expect(await read(bytes, { ...FIRST, sha256: 0 })).toBe("not_applied tool_arguments_invalid");
  });

  it("come from any number of formulas that fill one cell, and from so many that fill ranges", async () => {
    const array = (at: number, range: string) =>
      `<row r="${at}"><c r="A${at}"><f t="array" ref="${range}">x</f><v>1</v></c></row>`;
    const rows = (ranges: (at: number) => string) =>
      Array.from({ length: 1_200 }, (_, at) => array(at + 1, ranges(at + 1))).join("");
    const single = xlsxOf({ sheets: { S: rows((at) => `A${at}`) } });
    expect(await read(single, { ...FIRST, count: 2_000 })).toMatchObject({ end: 1_200 });
    const ranged = xlsxOf({ sheets: { S: rows((at) => `A${at}:B${at}`) } });
    expect(await read(ranged)).toMatchObject({ end: 1_200 });
    expect(await read(ranged, { ...FIRST, count: 2_000 })).toBe("refused document_too_costly");
  });

  it("are one answer's worth or none", async () => {
    const bytes = xlsxOf({ sheets: { S: "<row><c><v>1</v></c><c><v>2</v></c></row>" } });
    expect(await read(bytes, FIRST, { maxCells: 2 })).toMatchObject({ end: 1 });
    expect(await read(bytes, FIRST, { maxCells: 1 })).toBe("refused answer_too_large");
  });

  it.each([
    ["cells out of order", '<row r="1"><c r="B1"><v>1</v></c><c r="A1"><v>1</v></c></row>'],
    ["a cell twice", '<row r="1"><c r="A1"><v>1</v></c><c r="A1"><v>2</v></c></row>'],
    ["a row twice", '<row r="1"/><row r="1"/>'],
    ["a cell in another row", '<row r="1"><c r="A2"><v>1</v></c></row>'],
    ["a cell beyond the last column", '<row r="1"><c r="XFE1"><v>1</v></c></row>'],
    ["a row beyond the last", '<row r="1048577"/>'],
    ["a number that is none", '<row r="1"><c r="A1"><v>1,5</v></c></row>'],
    ["a number without end", '<row r="1"><c r="A1"><v>1e999</v></c></row>'],
    ["a text that is not there", '<row r="1"><c r="A1" t="s"><v>7</v></c></row>'],
    ["a kind that nobody knows", '<row r="1"><c r="A1" t="q"><v>7</v></c></row>'],
    ["an element that does not end", "<row>"],
    ["an attribute twice", '<row r="1" r="2"/>'],
    ["an entity that is none", '<row r="1"><c r="A1"><v>&bomb;</v></c></row>'],
    ["elements without end", "<a>".repeat(80)],
    ["a document type", '<!DOCTYPE x [<!ENTITY a "b">]>'],
  ])("are refused for %s", async (_, rows) => {
    expect(await read(xlsxOf({ sheets: { S: rows } }))).toBe("refused document_malformed");
  });

  it("are those of the spreadsheet's own namespace, and not what programs pass over", async () => {
    const sheet = (content: string) =>
      xlsxOf({ sheets: { S: "" }, parts: [{ name: "xl/worksheets/sheet0.xml", content }] });
    const shown = async (content: string) => {
      const got = await read(sheet(content));
      if (typeof got === "string") return got;
      const { rows } = got as {
        readonly rows: readonly { readonly cells: readonly { value: string }[] }[];
      };
      return rows.flatMap(({ cells: found }) => found.map(({ value }) => value));
    };
    const own = 'xmlns="urn:main" xmlns:x="urn:main" xmlns:e="urn:else"';
    const one = '<row r="1"><c r="A1"><v>1</v></c></row>';
    for (const hidden of [
      '<e:row r="2"><c r="A2"><v>9</v></c></e:row>',
      '<row r="2"><e:c r="A2"><v>9</v></e:c></row>',
      '<row r="2"><c r="A2"><e:v>9</e:v></c></row>',
      '<row r="2" xmlns="urn:else"><c r="A2"><v>9</v></c></row>',
      '<row r="2"><c r="A2"><v xmlns="">9</v></c></row>',
      '<x:row xmlns:x="urn:else" r="2"><x:c r="A2"><x:v>9</x:v></x:c></x:row>',
    ]) {
      const content = `<worksheet ${own}><sheetData>${one}${hidden}</sheetData></worksheet>`;
      expect(await shown(content), hidden).toEqual(["1"]);
    }
    const prefixed = '<x:row r="2"><x:c r="A2"><x:v>2</x:v></x:c></x:row>';
    const mixed = `<worksheet ${own}><sheetData>${one}${prefixed}</sheetData></worksheet>`;
    expect(await shown(mixed)).toEqual(["1", "2"]);
    const all = `<x:worksheet xmlns:x="urn:main"><x:sheetData>${prefixed}</x:sheetData></x:worksheet>`;
    expect(await shown(all)).toEqual(["2"]);
  });

  it.each([
    ["a cell with two values", "<row><c><v>1</v><v>2</v></c></row>"],
    ["a cell with two texts", '<row><c t="inlineStr"><is><t>a</t></is><is><t>b</t></is></c></row>'],
  ])("are refused for %s: programs show one of them, and not the same", async (_, rows) => {
    expect(await read(xlsxOf({ sheets: { S: rows } }))).toBe("refused document_malformed");
  });

  it("are refused where the archive has two workbooks, sheets, lists of texts or lists of styles for one", async () => {
    const kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    const relation = (id: string, kind: string, target: string) =>
      `<Relationship Id="${id}" Type="${kinds}/${kind}" Target="${target}"/>`;
    const relations = (...list: readonly string[]) =>
      `<Relationships>${list.join("")}</Relationships>`;
    const workbook = relation("w", "officeDocument", "xl/workbook.xml");
    const rest = [
      relation("s0", "worksheet", "worksheets/sheet0.xml"),
      relation("t", "sharedStrings", "sharedStrings.xml"),
      relation("y", "styles", "styles.xml"),
    ];
    const twice: readonly Part[] = [
      {
        name: "_rels/.rels",
        content: relations(workbook, relation("w2", "officeDocument", "xl/other.xml")),
      },
      { name: "XL/Worksheets/Sheet0.xml", content: "<worksheet/>" },
      ...["sharedStrings", "styles"].map((kind) => ({
        name: "xl/_rels/workbook.xml.rels",
        content: relations(...rest, relation("z", kind, `${kind}2.xml`)),
      })),
    ];
    for (const part of twice) {
      const bytes = xlsxOf({ sheets: { S: "<row><c><v>1</v></c></row>" }, parts: [part] });
      expect(await read(bytes), String(part.content)).toBe("refused document_malformed");
    }
  });

  it("are not unpacked beyond what was allowed, whatever the archive says of itself", async () => {
    const content = `<sst>${" ".repeat(4_000_000)}</sst>`;
    const shared = (claim: Part["claim"]) => ({
      name: "xl/sharedStrings.xml",
      content,
      ...(claim === undefined ? {} : { claim }),
    });
    for (const claim of [undefined, { size: 10 }]) {
      const bytes = xlsxOf({ sheets: { S: "" }, parts: [shared(claim)] });
      expect(bytes.byteLength).toBeLessThan(20_000);
      expect(await read(bytes, FIRST, { maxUnpacked: 1_000_000 })).toBe(
        "refused document_too_costly",
      );
    }
  });

  it("are refused for an archive that is damaged, cut off, encrypted or no spreadsheet", async () => {
    const good = xlsxOf({ sheets: { S: "" } });
    const part = { name: "_rels/.rels", content: "<Relationships/>" };
    const cases: [Uint8Array, string][] = [
      [good.subarray(0, good.length - 30), "document_malformed"],
      [zipOf([{ ...part, claim: { crc: 1 } }]), "document_malformed"],
      [zipOf([{ ...part, claim: { size: 3 } }]), "document_malformed"],
      [zipOf([part, part]), "document_malformed"],
      [zipOf([part]), "document_malformed"],
      [zipOf([{ ...part, content: Buffer.from([0xff]) }]), "document_malformed"],
      [zipOf([{ ...part, claim: { flags: 1 } }]), "document_encrypted"],
    ];
    for (const [bytes, code] of cases) expect(await read(bytes)).toBe(`refused ${code}`);
  });

  it("never come from bytes with one of them changed without being what was registered", async () => {
    const good = xlsxOf({ sheets: { S: "<row><c><v>1</v></c></row>" } });
    const sources = sourcesOf(good);
    const tool = spreadsheetTool(sources);
    for (let at = 0; at < good.length; at += 97) {
      const changed = Buffer.from(good);
      changed[at] = (changed[at] ?? 0) ^ 1;
      writeFileSync(join(directory, "book.xlsx"), changed);
      expect(await short(tool, FIRST)).toBe("refused source_changed");
    }
  });

  it("are refused, and nothing breaks, for bytes that were changed before they were registered", async () => {
    const good = xlsxOf({
      sheets: { S: '<row><c r="A1" t="s"><v>0</v></c></row>' },
      texts: ["<t>a</t>"],
    });
    for (let at = 4; at < good.length; at += 13) {
      const changed = Buffer.from(good);
      changed[at] = (changed[at] ?? 0) ^ 0x5a;
      const got = await read(changed);
      if (typeof got === "string") expect(got).toMatch(/^refused document_/);
    }
  });

  it.each([
    ["nothing", {}],
    ["row 0", { ...FIRST, from: 0 }],
    ["too many rows", { ...FIRST, count: 10_001 }],
    ["sheet 0", { ...FIRST, sheet: 0 }],
    ["a path", { ...FIRST, file: "x" }],
  ])("are not asked for with %s", async (_, args) => {
    const tool = spreadsheetTool(sourcesOf(xlsxOf({ sheets: { S: "" } })));
    expect(tool.fault?.(callOf(args).arguments)).toEqual(expect.any(String));
    expect(await short(tool, args)).toBe("not_applied tool_arguments_invalid");
  });

  it("are not read once the call is cancelled", async () => {
    const tool = spreadsheetTool(sourcesOf(xlsxOf({ sheets: { S: "" } })));
    expect(await short(tool, FIRST, { signal: aborted() })).toBe("not_applied cancelled");
  });

  it("are not registered when the file is another container, as an encrypted one is", () => {
    const container = Buffer.from("d0cf11e0a1b11ae1", "hex");
    expect(() => sourcesOf(container)).toThrow(expect.objectContaining({ code: "bad_source" }));
  });
});
