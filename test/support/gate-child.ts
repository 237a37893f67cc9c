/**
 * A process of its own at a store: `gate-child.ts DIRECTORY RUN TARGET RECIPE`. Says that it is ready, waits for a word,
 * resumes the run with whatever decisions were filed, and reports its state or the code that it was refused with. Each
 * payment appends one line to the file TARGET.
 */

import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { RoteError } from "../../src/base/error.ts";
import { FENCED_PAYMENT, hostAt, procedureOf } from "./gate.ts";
import { madeTool, registration } from "./host.ts";

const [directory = "", id = "", target = ""] = process.argv.slice(2);

const paying = madeTool("bank.pay", ({ operationId }) => {
  appendFileSync(target, `${operationId}\n`);
  return { kind: "done", result: "paid" };
});

async function main(): Promise<string> {
  // A lease that nobody outlives: whoever is slow is not overtaken.
  const tools = [registration(paying, "effect")];
  const host = await hostAt(directory, { tools }, { leaseMs: 3_600_000 });
  try {
    const procedure = procedureOf(host, FENCED_PAYMENT);
    process.send?.("ready");
    await once(process, "message");
    const run = await procedure.resume(host, id);
    return await run.advanceAsync(host);
  } catch (error) {
    return error instanceof RoteError ? error.code : String(error);
  } finally {
    await host.close();
  }
}

const state = await main();
process.send?.({ state, calls: paying.calls.length });
process.disconnect?.();
