/** A procedure over documents: a PDF and a spreadsheet in, a row of a spreadsheet workpaper out. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createHost } from "../../../src/app/create-host.ts";
import { Procedure } from "../../../src/app/procedure.ts";
import { sha256Hex } from "../../../src/base/digest.ts";
import { bindRecipe } from "../../../src/compile/index.ts";
import { evidenceDocument, registerFiles } from "../../../src/tools/file-sources.ts";
import { pdfTool } from "../../../src/tools/pdf.ts";
import { spreadsheetTool } from "../../../src/tools/spreadsheet.ts";
import { openSpreadsheetWorkpaper } from "../../../src/tools/spreadsheet-workpaper.ts";
import { pdfOf, xlsxOf } from "../../support/documents.ts";
import { hostOptions, registration } from "../../support/host.ts";
import { short } from "../../support/tool-calls.ts";

/** 16.85 as spreadsheet programs keep it. */
const LEDGER = xlsxOf({
  sheets: {
    Ledger:
      '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1"><v>16.850000000000001</v></c></row><row r="2"><c r="A2" t="s"><v>1</v></c><c r="B2"><v>0.1</v></c></row><row r="3"><c r="B3"><f>SUM(B1:B2)</f><v>16.95</v></c></row>',
  },
  texts: ["<t>Paper</t>", "<t>Pins</t>"],
});
const STATEMENT = pdfOf(["Statement of May\nBalance 16.95 EUR"]);

const cell = {
  record: {
    column: "text",
    kind: { enum: ["text", "number", "date", "time", "boolean", "error", "none"] },
    value: "text",
    stored: "text",
    formula: "boolean",
  },
};
const about = { source: "text", sha256: "text", media_type: "text" };

const RECIPE = {
  version: 1,
  id: "ledger-and-statement",
  inputs: { period: "text" },
  terminal: "written",
  nodes: [
    {
      id: "ledger",
      output: {
        record: {
          ...about,
          sheets: { list: "text" },
          sheet: "text",
          from: "integer",
          count: "integer",
          end: "integer",
          rows: { list: { record: { row: "integer", cells: { list: cell } } } },
        },
      },
      step: {
        kind: "read",
        tool: "spreadsheet.read",
        arguments: {
          op: "literal",
          type: "json",
          value: { source: "ledger", sheet: "Ledger", from: 1, count: 100 },
        },
      },
    },
    {
      id: "statement",
      output: {
        record: {
          ...about,
          pages: "integer",
          texts: { list: { record: { page: "integer", text: "text" } } },
        },
      },
      step: {
        kind: "read",
        tool: "pdf.read",
        arguments: {
          op: "literal",
          type: "json",
          value: { source: "statement", from: 1, count: 1 },
        },
      },
    },
    {
      // What was typed, not what a formula made of it.
      id: "total",
      step: {
        kind: "pure",
        value: {
          op: "sum",
          list: {
            op: "filter",
            list: {
              op: "flatten",
              list: {
                op: "map",
                list: { node: "ledger/rows" },
                as: "row",
                value: { item: "row/cells" },
              },
            },
            as: "cell",
            where: {
              op: "and",
              values: [
                { op: "equal", left: { item: "cell/kind" }, right: "number" },
                { op: "not", value: { item: "cell/formula" } },
              ],
            },
          },
          as: "cell",
          value: { op: "decode", value: { item: "cell/value" }, type: { decimal: 2 } },
        },
      },
    },
    {
      id: "agreed",
      step: {
        kind: "verify",
        condition: { op: "greater", left: { node: "statement/pages" }, right: 0 },
        value: {
          op: "any",
          list: { node: "statement/texts" },
          as: "page",
          where: {
            op: "contains",
            in: { item: "page/text" },
            value: {
              op: "concat",
              values: ["Balance ", { op: "to_text", value: { node: "total" }, scale: 2 }, " EUR"],
            },
          },
        },
      },
    },
    {
      id: "written",
      after: ["agreed"],
      output: { record: { key: "text", position: "integer" } },
      step: {
        kind: "effect",
        tool: "spreadsheet_workpaper.append",
        key: { input: "period" },
        arguments: {
          op: "record",
          fields: {
            key: { input: "period" },
            content: {
              op: "record",
              fields: {
                total: { op: "to_text", value: { node: "total" }, scale: 2 },
                agreed: { node: "agreed" },
                ledger: { node: "ledger/sha256" },
                statement: { node: "statement/sha256" },
              },
            },
          },
        },
      },
    },
  ],
};
const VERIFIER = { version: 1, id: "v", before_effect: true, result: true };

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "rote-documents-"));
  writeFileSync(join(directory, "ledger.xlsx"), LEDGER);
  writeFileSync(join(directory, "statement.pdf"), STATEMENT);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it("a finding out of a PDF and a spreadsheet is written once, exact to the cent, with the digests of both", async () => {
  const sources = registerFiles([
    { source: "ledger", file: join(directory, "ledger.xlsx") },
    { source: "statement", file: join(directory, "statement.pdf") },
  ]);
  const paper = await openSpreadsheetWorkpaper(join(directory, "paper"), {
    mode: "create",
    columns: ["total", "agreed", "ledger", "statement"],
  });
  const base = hostOptions(null, [
    registration({ tool: spreadsheetTool(sources) }, "read", { repeatable: true }),
    registration({ tool: pdfTool(sources) }, "read", { repeatable: true }),
    registration({ tool: paper.append }, "effect", { fenced: true }),
  ]);
  const policy = { ...base.policy, grants: ["tool:effect:*", "tool:read:*"] };
  const host = await createHost({ ...base, policy, evidence: evidenceDocument(sources) });
  try {
    const unbound = new Procedure(RECIPE, { verifier: VERIFIER });
    const bound = bindRecipe(RECIPE, host.environment(unbound.plan));
    const procedure = new Procedure(bound, { verifier: VERIFIER });
    const environment = host.environment(procedure.plan);
    const ended: string[] = [];
    for (let time = 0; time < 2; time += 1) {
      const run = procedure.start({ period: "2024-05" }, { environment });
      ended.push(`${await run.advanceAsync(host)} ${run.report.failure?.code ?? ""}`.trim());
      run.close();
    }
    expect(ended).toEqual(["verified", "denied duplicate_key"]);
    expect(await short(paper.read, { from: 1, count: 10 })).toMatchObject({
      entries: [
        {
          key: "2024-05",
          content: {
            total: "16.95",
            agreed: true,
            ledger: sha256Hex(LEDGER),
            statement: sha256Hex(STATEMENT),
          },
        },
      ],
      end: 1,
    });
  } finally {
    await host.close();
    paper.close();
  }
});
