/** A process that writes a spreadsheet workpaper, killed again and again. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSpreadsheetWorkpaper } from "../../src/tools/spreadsheet-workpaper.ts";
import { childProgram } from "../support/children.ts";
import { callOf, short } from "../support/tool-calls.ts";

const KILLS = 8;

/** Killed behind its third acknowledgement, and a little later each time. */
async function killed(directory: string, laterMs: number): Promise<readonly number[]> {
  const child = spawn(process.execPath, [childProgram("sheet"), directory], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let told = "";
  let dying = false;
  child.stdout.on("data", (chunk: Buffer) => {
    told += chunk.toString();
    if (dying || told.split("\n").length <= 3) return;
    dying = true;
    setTimeout(() => child.kill("SIGKILL"), laterMs);
  });
  await once(child, "close");
  return told.trimEnd().split("\n").map(Number);
}

describe("a spreadsheet workpaper whose process is killed", () => {
  it("has every row that was acknowledged, each once, and at most the one that was on its way", async () => {
    const root = mkdtempSync(join(tmpdir(), "rote-sheet-crash-"));
    const directory = join(root, "w");
    const acknowledged: number[] = [];
    let begun = 0;
    try {
      for (let kill = 0; kill < KILLS; kill += 1) {
        const told = await killed(directory, kill * 3);
        // It went on behind what the one before had written, acknowledged or not.
        expect(told[0]).toBeGreaterThan(acknowledged.at(-1) ?? 0);
        expect(told[0]).toBeLessThanOrEqual((acknowledged.at(-1) ?? 0) + 2);
        acknowledged.push(...told);
        begun = (told.at(-1) ?? 0) + 1;
      }
      const paper = await openSpreadsheetWorkpaper(directory, { mode: "open", columns: ["n"] });
      const at = async (from: number) =>
        (await short(paper.read, { from, count: 100 })) as {
          readonly entries: readonly { readonly operation: string }[];
          readonly end: number;
        };
      const { end } = await at(1);
      expect(end).toBeGreaterThanOrEqual(begun - 1);
      expect(end).toBeLessThanOrEqual(begun);
      const operations: string[] = [];
      for (let from = 1; from <= end; from += 100) {
        operations.push(...(await at(from)).entries.map(({ operation }) => operation));
      }
      expect(operations).toEqual(Array.from({ length: end }, (_, index) => `op-${index + 1}`));
      // What the probe says is what is there.
      const probed = (n: number) => paper.append.probe?.(callOf({}, { operationId: `op-${n}` }));
      expect(await probed(end)).toMatchObject({ kind: "done", result: { position: end } });
      expect(await probed(end + 1)).toEqual({ kind: "absent" });
      paper.close();
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });
});
