import { dispatch } from "../../../src/host/dispatch.ts";
import { freezeOperation } from "../../../src/host/operation.ts";
import type { ToolCategory } from "../../../src/model/trust.ts";
import { systemClock } from "../../../src/os/clock.ts";
import { systemTimers } from "../../../src/os/timers.ts";
import type { ToolCall, ToolOutcome } from "../../../src/ports/tool.ts";
import { madeTool } from "../../support/host.ts";
import { operationOf } from "./operations.ts";

export const time = (callMs: number) => ({ callMs, clock: systemClock, timers: systemTimers });

export const ARGS = { amount: "50", to: { name: "a" } };

export function operation(category: ToolCategory) {
  return freezeOperation(
    operationOf({
      node: "n",
      tool: { name: "t", category, definition: "sha256:0" as never },
      arguments: ARGS,
    }),
  );
}

export interface Told {
  readonly category: ToolCategory;
  readonly callMs?: number;
  readonly cancel?: AbortController;
}

/** What becomes of a call that is answered so. */
export async function answered(
  answer: (call: ToolCall) => unknown,
  { category, callMs = 10_000, cancel = new AbortController() }: Told,
) {
  const { tool } = madeTool("t", () => ({ kind: "done", result: null }));
  const odd = { ...tool, call: answer as (call: ToolCall) => Promise<ToolOutcome> };
  const done = await dispatch(odd, operation(category), time(callMs), cancel.signal);
  return done;
}
