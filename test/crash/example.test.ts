/** The example, killed and started again until it is through. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { childProgram } from "../support/children.ts";

/** Parts of the time that it takes when nobody kills it. */
const PARTS = [0.35, 0.55, 0.65, 0.75, 0.85, 0.95];

async function lived(directory: string, killAfterMs: number | null): Promise<number | null> {
  const child = spawn(process.execPath, [childProgram("example"), directory], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const timer =
    killAfterMs === null ? undefined : setTimeout(() => child.kill("SIGKILL"), killAfterMs);
  const [code] = (await once(child, "close")) as [number | null];
  clearTimeout(timer);
  return code;
}

function paid(directory: string): unknown {
  const ledger = new Sqlite(join(directory, "ledger.sqlite"), { readonly: true });
  try {
    return ledger.prepare("SELECT payee FROM paid ORDER BY payee").pluck().all();
  } finally {
    ledger.close();
  }
}

describe("the example of the gate", () => {
  it("makes each payment once, however often it is killed and started again", async () => {
    const root = mkdtempSync(join(tmpdir(), "rote-example-"));
    try {
      let wholeMs = Number.POSITIVE_INFINITY;
      // The first start is slower than all that follow.
      for (const name of ["cold", "whole"]) {
        const start = performance.now();
        expect(await lived(join(root, name), null)).toBe(0);
        wholeMs = Math.min(wholeMs, performance.now() - start);
        expect(paid(join(root, name))).toEqual(["Ada", "Ben"]);
      }
      let killed = 0;
      // A kill that comes too late is none. Where all did, it goes faster now than when it was measured.
      for (; killed === 0; wholeMs /= 2) {
        for (const part of PARTS) {
          const directory = join(root, `killed-${wholeMs}-${part}`);
          let kills = 0;
          for (let code = null as number | null; code !== 0; ) {
            code = await lived(directory, kills < 3 ? wholeMs * part : null);
            if (code === null) kills += 1;
            else expect(code).toBe(0);
          }
          killed += kills;
          expect(paid(directory), `killed ${kills} times at ${part}`).toEqual(["Ada", "Ben"]);
        }
      }
      // Started once more, there is nothing left to do.
      expect(await lived(join(root, "whole"), null)).toBe(0);
      expect(paid(join(root, "whole"))).toEqual(["Ada", "Ben"]);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });
});
