/**
 * A process that observes into a memory: `memory-child.ts DIRECTORY PREFIX COUNT`. Prints `seq run` for each observation
 * that was acknowledged, and ends with `done` or with the code of what went wrong.
 */
import { writeSync } from "node:fs";
import { RoteError } from "../../src/base/error.ts";
import { ok } from "../../src/base/result.ts";
import { DEFAULT_MEMORY_LIMITS } from "../../src/model/memory.ts";
import { openProcedures } from "../../src/store/sqlite/procedures.ts";
import { KEY, NAME, observation } from "./memory-evidence.ts";

const [directory = "", prefix = "", count = "0"] = process.argv.slice(2);

try {
  // Writers of one store take no turns: where a commit takes long, one may be passed over again and again.
  const store = openProcedures(directory, DEFAULT_MEMORY_LIMITS, { busyTimeoutMs: 60_000 });
  writeSync(1, "open\n");
  for (let index = 0; index < Number(count); index += 1) {
    const observed = store.observe(KEY, NAME, (record) => {
      const head = record?.observations.at(-1)?.seq ?? 0n;
      return ok({ observation: observation(`${prefix}-${index}-after-${head}`), demotion: null });
    });
    if (!observed.ok) throw new Error("refused");
    writeSync(1, `${observed.value.seq}\n`);
  }
  store.close();
  writeSync(1, "done\n");
} catch (error) {
  writeSync(1, `${error instanceof RoteError ? error.code : String(error)}\n`);
  process.exitCode = 1;
}
