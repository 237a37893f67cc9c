import type { Host } from "../../../src/host/index.ts";
import type { Run } from "../../../src/run/index.ts";
import { procedureOf } from "../../support/gate.ts";

/** What a run says of itself, without its clocks. */
export function untimed({ report, result, state, receipts }: Run) {
  const { active_ms: _, total_ms: __, ...rest } = report;
  return { ...rest, result, state, receipts };
}

/** The run as any other process would read it. */
export async function readBack(host: Host, run: Run, recipe: object, verifier?: object) {
  return untimed(await procedureOf(host, recipe, verifier).resume(host, run.id));
}
