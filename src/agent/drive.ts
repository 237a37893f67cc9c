/**
 * The loop: does what the state says comes next, until the run ends, waits for a person, or is put down.
 *
 * - L1 What ends a run is recorded once, and nothing is done after it.
 * - L2 A pause lets tools finish and breaks the model off; a cancellation and the end of the time break both off.
 * - L3 A run that waits for a person is held by nobody.
 */

import { digestOf } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import { TAGS } from "../base/tags.ts";
import { differingParts } from "../compile/index.ts";
import { environmentFor } from "../host/index.ts";
import { ask } from "./ask.ts";
import { callsLeft, overCalls, overFamily, timeLeft } from "./family.ts";
import { overTime, stop } from "./limits.ts";
import { nextOf } from "./next.ts";
import { operate } from "./operate.ts";
import { activeMs, finish, pause, put, type Session, uncountedMs } from "./session.ts";
import type { CallState, Stop } from "./state.ts";

/** `paused` aborts: the call returns as soon as nothing is in flight, and the run can be resumed. */
export async function drive(session: Session, paused: AbortSignal): Promise<void> {
  const { parts, cancel } = session;
  const time = new AbortController();
  const own = session.state.start.limits.max_active_ms - session.state.activeMs;
  const left = Math.min(own, timeLeft(session)) + 1;
  const end = (): void => time.abort();
  const alarm = left > LONGEST_TIMER ? null : parts.timers.deadline(Math.max(1, left), end);
  session.enteredMs = parts.clock.monotonicMs();
  const signals = {
    time: time.signal,
    tools: AbortSignal.any([cancel.signal, time.signal]),
    model: AbortSignal.any([cancel.signal, time.signal, paused]),
  };
  try {
    const changed = changedParts(session);
    if (changed.length > 0 && nextOf(session.state).kind !== "end") {
      const message = `the environment is not that of the start any more: ${changed.join(", ")}`;
      const only = changed.length === 1 && changed[0] === "policy";
      await finish(session, stop("environment_changed", message, only ? "policy_changed" : null));
      return;
    }
    await loop(session, paused, signals);
  } catch (error) {
    // Whoever goes on with it need not wait for the lease to run out.
    await parts.journal.release(session.lease).catch(() => undefined);
    throw error;
  } finally {
    alarm?.();
    session.enteredMs = null;
  }
}

/** The platform's timers fire at once for more; so long a time is looked at between operations alone. */
const LONGEST_TIMER = 2 ** 31 - 1;

interface Signals {
  readonly time: AbortSignal;
  readonly tools: AbortSignal;
  readonly model: AbortSignal;
}

async function loop(session: Session, paused: AbortSignal, signals: Signals): Promise<void> {
  for (;;) {
    const next = nextOf(session.state);
    if (next.kind === "end") return finish(session, next.stop);
    const ended = endedFromOutside(session, signals.time);
    if (ended !== null) return finish(session, ended);
    if (paused.aborted) return pause(session);
    switch (next.kind) {
      case "ask": {
        const over = await ask(session, next, signals.model);
        if (over !== null) return finish(session, over);
        break;
      }
      case "call": {
        const over = overFamily(session, uncountedMs(session));
        if (over !== null) return finish(session, over);
        const left = callsLeft(session);
        const calls = next.calls.filter(({ number }) => number < left);
        if (calls.length === 0) return finish(session, overCalls(session) ?? NO_CALLS_LEFT);
        const moved = await together(session, calls, signals.tools);
        if (moved || signals.tools.aborted) break;
        await session.parts.journal.release(session.lease);
        return;
      }
      case "mark":
        await mark(session);
        break;
      case "wait":
        throw new RoteError("internal_error", "An operation of the run is in flight elsewhere.");
    }
  }
}

const NO_CALLS_LEFT = stop("max_steps", "the run and its children have no tool call left");

function endedFromOutside(session: Session, time: AbortSignal): Stop | null {
  if (session.cancel.signal.aborted) return stop("user_cancelled", "the run was cancelled");
  const over = overTime({ ...session.state, activeMs: activeMs(session) });
  if (over !== null || !time.aborted) return over;
  return stop("max_runtime", "the run and its children have no time left");
}

/** True when at least one of them has an outcome now. */
async function together(
  session: Session,
  calls: readonly CallState[],
  signal: AbortSignal,
): Promise<boolean> {
  const turns = await Promise.allSettled(
    calls.map(({ number }) => operate(session, number, signal)),
  );
  return turns
    .map((turn) => {
      if (turn.status === "rejected") throw turn.reason;
      return turn.value;
    })
    .includes("settled");
}

async function mark(session: Session): Promise<void> {
  const { run, state, marker } = session;
  if (marker === null) throw new RoteError("internal_error", "The run's markers have no source.");
  const { step } = state;
  const digest = digestOf(TAGS.marker, await marker({ run, step }));
  const ms = activeMs(session);
  await put(
    session,
    { type: "marked", step, marker: digest, ms },
    { entries: [{ chain: run, type: "agent_marked", body: { step, marker: digest, ms } }] },
  );
}

/** In what the host is not any more what it was when the run began. */
export function changedParts({ parts, state }: Pick<Session, "parts" | "state">) {
  const { environment, tools } = state.start;
  const names = tools.map(({ name }) => name);
  return differingParts(environment, environmentFor(parts, names));
}
