import { dispatch } from "../../../src/host/dispatch.ts";
import { freezeOperation } from "../../../src/host/operation.ts";
import type { Operation } from "../../../src/model/operation.ts";
import type { ToolCategory } from "../../../src/model/trust.ts";
import { systemClock } from "../../../src/os/clock.ts";
import { systemTimers } from "../../../src/os/timers.ts";
import type { ToolCall, ToolOutcome } from "../../../src/ports/tool.ts";
import { madeTool, ORIGIN } from "../../support/host.ts";

export const time = (callMs: number) => ({ callMs, clock: systemClock, timers: systemTimers });

export const ARGS = { amount: "50", to: { name: "a" } };

export function operation(category: ToolCategory) {
  return freezeOperation({
    type: "rote-operation/v1",
    audience: ORIGIN,
    run: "run-x",
    node: "n",
    index: null,
    call: null,
    attempt: 1,
    recipe: null,
    tool: { name: "t", category, definition: "sha256:d" as never },
    arguments: ARGS,
    key: null,
    identity: "agent",
    intent: null,
    warrant: null,
    policy: "sha256:p" as never,
    trust: "sha256:t" as never,
    environment: null,
    verifiers: [],
    budget: "sha256:b" as never,
    requested_at: 0,
  } satisfies Operation);
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
