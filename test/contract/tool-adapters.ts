import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { z } from "zod";
import type { Tool } from "../../src/ports/tool.ts";
import { registerFiles } from "../../src/tools/file-sources.ts";
import { fileTool } from "../../src/tools/files.ts";
import { functionTool } from "../../src/tools/functions.ts";
import { httpTool } from "../../src/tools/http.ts";
import { mcpTools } from "../../src/tools/mcp-client.ts";
import { pdfTool } from "../../src/tools/pdf.ts";
import { spreadsheetTool } from "../../src/tools/spreadsheet.ts";
import { openSpreadsheetWorkpaper } from "../../src/tools/spreadsheet-workpaper.ts";
import { openWorkpaper } from "../../src/tools/workpaper.ts";
import { childProgram } from "../support/children.ts";
import { pdfOf, xlsxOf } from "../support/documents.ts";
import { localTarget, reply } from "../support/tool-calls.ts";

export const SECRET = "s3cret-in-plain-sight";
const CHILD = childProgram("mcp");

export interface Subject {
  readonly tool: Tool;
  readonly good: unknown;
  readonly faulty: readonly unknown[];
  /** How often the target was reached; always 0 where a read leaves no trace. */
  entries(): number;
  /** What one call adds to that. */
  readonly reached: 0 | 1;
  /** A tool at a target that fails with a secret in everything it says, and arguments that get there. */
  readonly breaking: { readonly tool: Tool; readonly args: unknown };
  close(): Promise<void> | void;
}

export const ADAPTERS: readonly {
  readonly name: string;
  /** One for all tests: starting it takes a second. */
  readonly once?: boolean;
  make(directory: string): Promise<Subject> | Subject;
}[] = [
  {
    name: "function",
    make() {
      let calls = 0;
      const words = { name: "ledger.book", description: "Books" };
      const input = z.strictObject({ account: z.string() });
      const tool = functionTool({
        ...words,
        input,
        output: z.strictObject({ ok: z.boolean() }),
        run: () => {
          calls += 1;
          return { ok: true };
        },
      });
      const breaking = functionTool({
        ...words,
        input,
        output: z.any(),
        run: () => {
          throw Object.assign(new Error(SECRET), { code: `E ${SECRET}`, name: `${SECRET} Error` });
        },
      });
      return {
        tool,
        good: { account: "7" },
        faulty: [{}, { account: 7 }, { account: "7", more: 1 }, null, [], "x"],
        entries: () => calls,
        reached: 1,
        breaking: { tool: breaking, args: { account: "7" } },
        close() {},
      };
    },
  },
  {
    name: "file",
    make(directory) {
      const file = join(directory, "a.jsonl");
      const doomed = join(directory, "b.jsonl");
      writeFileSync(file, '{"id":"x"}\n');
      writeFileSync(doomed, '{"id":"x"}\n');
      const tool = fileTool(registerFiles([{ source: "a", file, id: "id" }]));
      const breaking = fileTool(registerFiles([{ source: "a", file: doomed, id: "id" }]));
      writeFileSync(doomed, `{"id":"${SECRET}"}\n`);
      return {
        tool,
        good: { source: "a", record: "x" },
        faulty: [{}, { source: "a" }, { file }, { source: "a", record: 0, file }, null, []],
        entries: () => 0,
        reached: 0,
        breaking: { tool: breaking, args: { source: "a", record: "x" } },
        close() {},
      };
    },
  },
  {
    name: "pdf",
    make(directory) {
      const file = join(directory, "a.pdf");
      const doomed = join(directory, "b.pdf");
      writeFileSync(file, pdfOf(["x"]));
      writeFileSync(doomed, pdfOf([{ bytes: Buffer.from(SECRET), filter: "/Filter /Strange" }]));
      return {
        tool: pdfTool(registerFiles([{ source: "a", file }])),
        good: { source: "a", from: 1, count: 1 },
        faulty: [{}, { source: "a" }, { file }, { source: "a", from: 0, count: 1 }, null, []],
        entries: () => 0,
        reached: 0,
        breaking: {
          tool: pdfTool(registerFiles([{ source: "a", file: doomed }])),
          args: { source: "a", from: 1, count: 1 },
        },
        close() {},
      };
    },
  },
  {
    name: "spreadsheet",
    make(directory) {
      const file = join(directory, "a.xlsx");
      const doomed = join(directory, "b.xlsx");
      writeFileSync(file, xlsxOf({ sheets: { S: "" } }));
      writeFileSync(doomed, xlsxOf({ sheets: { S: `<${SECRET}>` } }));
      const good = { source: "a", sheet: 1, from: 1, count: 1 };
      return {
        tool: spreadsheetTool(registerFiles([{ source: "a", file }])),
        good,
        faulty: [{}, { source: "a" }, { file }, { ...good, from: 0 }, null, []],
        entries: () => 0,
        reached: 0,
        breaking: {
          tool: spreadsheetTool(registerFiles([{ source: "a", file: doomed }])),
          args: good,
        },
        close() {},
      };
    },
  },
  {
    name: "spreadsheet workpaper append",
    async make(directory) {
      const open = (name: string) =>
        openSpreadsheetWorkpaper(join(directory, name), { mode: "create", columns: ["n"] });
      const paper = await open("sheet");
      const broken = await open("broken-sheet");
      rmSync(broken.file);
      const sizeOf = () => readFileSync(paper.file).byteLength;
      const empty = sizeOf();
      return {
        tool: paper.append,
        good: { key: "a", content: { n: 1 } },
        faulty: [{}, { key: "a" }, { key: "", content: { n: 1 } }, { key: "a", content: {} }, null],
        entries: () => (sizeOf() === empty ? 0 : 1),
        reached: 1,
        breaking: { tool: broken.append, args: { key: "a", content: { n: 1 } } },
        close() {
          paper.close();
          broken.close();
        },
      };
    },
  },
  {
    name: "workpaper append",
    make(directory) {
      const paper = openWorkpaper(join(directory, "paper"), { mode: "create" });
      const broken = openWorkpaper(join(directory, "broken"), { mode: "create" });
      const database = new Sqlite(join(directory, "broken", "workpaper.sqlite"));
      database.exec("DROP TABLE records");
      database.close();
      return {
        tool: paper.append,
        good: { key: "a", content: { n: 1 } },
        faulty: [{}, { key: "a" }, { key: "", content: 1 }, { key: "a", content: 1, x: 1 }, null],
        entries() {
          const found = new Sqlite(join(directory, "paper", "workpaper.sqlite"));
          const count = found.prepare("SELECT count(*) FROM records").pluck().get();
          found.close();
          return Number(count);
        },
        reached: 1,
        breaking: { tool: broken.append, args: { key: "a", content: 1 } },
        close() {
          paper.close();
          broken.close();
        },
      };
    },
  },
  {
    name: "workpaper read",
    make(directory) {
      const paper = openWorkpaper(join(directory, "paper"), { mode: "create" });
      const broken = openWorkpaper(join(directory, "broken"), { mode: "create" });
      const database = new Sqlite(join(directory, "broken", "workpaper.sqlite"));
      database.exec("DROP TABLE records");
      database.close();
      return {
        tool: paper.read,
        good: { from: 1, count: 1 },
        faulty: [{}, { from: 1 }, { key: 1 }, { from: 0, count: 1 }, { key: "a", x: 1 }, []],
        entries: () => 0,
        reached: 0,
        breaking: { tool: broken.read, args: { key: "a" } },
        close() {
          paper.close();
          broken.close();
        },
      };
    },
  },
  {
    name: "http",
    async make() {
      const target = await localTarget((_, response) => reply(response, 200, { ok: true }));
      const failing = await localTarget(({ headers }, response) => {
        response.writeHead(500, `wrong key ${headers.authorization}`, { "x-key": SECRET });
        response.end(String(headers.authorization).repeat(100));
      });
      const toolAt = (origin: string) =>
        httpTool({
          name: "bank.pay",
          description: "Pays",
          allow: [
            {
              origin,
              methods: ["POST"],
              paths: ["/pay"],
              privateAddresses: true,
              credentials: [{ name: "bank" }],
            },
          ],
          secrets: () => SECRET,
        });
      const url = `${target.origin}/pay`;
      return {
        tool: toolAt(target.origin),
        good: { method: "POST", url, body: 1 },
        faulty: [
          {},
          { method: "GET", url },
          { method: "POST", url: `${target.origin}/x` },
          { method: "POST", url, headers: {} },
          null,
        ],
        entries: () => target.received.length,
        reached: 1,
        breaking: {
          tool: toolAt(failing.origin),
          args: { method: "POST", url: `${failing.origin}/pay` },
        },
        async close() {
          await target.close();
          await failing.close();
        },
      };
    },
  },
  {
    name: "mcp",
    once: true,
    async make(directory) {
      const tools = await mcpTools({
        id: "books",
        server: {
          command: process.execPath,
          args: [CHILD, directory],
          credentials: [{ name: "bank", variable: "BANK_KEY" }],
        },
        secrets: () => SECRET,
      });
      const named = (name: string) => {
        const tool = tools.tools.get(name);
        if (tool === undefined) throw new Error(`no tool ${name}`);
        return tool;
      };
      const entries = join(directory, "entries");
      return {
        tool: named("books.post"),
        good: { account: "7", amount: 5 },
        faulty: [{}, { account: "7" }, { account: "7", amount: 5, x: 1 }, null, [], "x"],
        entries: () =>
          existsSync(entries) ? readFileSync(entries, "utf8").trim().split("\n").length : 0,
        reached: 1,
        breaking: { tool: named("books.blurt"), args: {} },
        close: tools.close,
      };
    },
  },
];
