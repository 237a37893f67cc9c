/**
 * A process of its own at a spreadsheet workpaper: `sheet-child.ts DIRECTORY`. Appends row after row, goes on where the
 * one before it ended, and prints the position of each as soon as it is acknowledged.
 */
import { existsSync } from "node:fs";
import { openSpreadsheetWorkpaper } from "../../src/tools/spreadsheet-workpaper.ts";

const [directory = ""] = process.argv.slice(2);
const mode = existsSync(directory) ? "open" : "create";
const paper = await openSpreadsheetWorkpaper(directory, { mode, columns: ["n"] });
const { signal } = new AbortController();

const read = await paper.read.call({ arguments: { from: 1, count: 1 }, operationId: "", signal });
if (read.kind !== "done") throw new Error(read.code);
const { end } = read.result as { readonly end: number };

for (let n = end + 1; n <= end + 200; n += 1) {
  const call = { arguments: { key: `k${n}`, content: { n } }, operationId: `op-${n}`, signal };
  const answer = await paper.append.call(call);
  if (answer.kind !== "done") throw new Error(answer.code);
  process.stdout.write(`${n}\n`);
}
paper.close();
