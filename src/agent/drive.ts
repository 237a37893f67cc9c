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
import { differingParts, environmentFor } from "../host/index.ts";
import { ask } from "./ask.ts";
import { stop } from "./limits.ts";
import { nextOf } from "./next.ts";
import { operate } from "./operate.ts";
import { activeMs, finish, pause, put, type Session } from "./session.ts";
import type { CallState, Stop } from "./state.ts";

/** `paused` aborts: the call returns as soon as nothing is in flight, and the run can be resumed. */
export async function drive(session: Session, paused: AbortSignal): Promise<void> {
  const { parts, cancel } = session;
  const time = new AbortController();
  const left = session.state.start.limits.max_active_ms - session.state.activeMs;
  const alarm = parts.timers.deadline(Math.min(Math.max(1, left + 1), LONGEST_TIMER), () =>
    time.abort(),
  );
  session.enteredMs = parts.clock.monotonicMs();
  const signals = {
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
    alarm();
    session.enteredMs = null;
  }
}

/** The platform's timers fire at once for more. */
const LONGEST_TIMER = 2 ** 31 - 1;

interface Signals {
  readonly tools: AbortSignal;
  readonly model: AbortSignal;
}

async function loop(session: Session, paused: AbortSignal, signals: Signals): Promise<void> {
  for (;;) {
    const next = nextOf(session.state);
    if (next.kind === "end") return finish(session, next.stop);
    const ended = endedFromOutside(session);
    if (ended !== null) return finish(session, ended);
    if (paused.aborted) return pause(session);
    switch (next.kind) {
      case "ask": {
        const over = await ask(session, next, signals.model);
        if (over !== null) return finish(session, over);
        break;
      }
      case "call": {
        const moved = await together(session, next.calls, signals.tools);
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

function endedFromOutside(session: Session): Stop | null {
  if (session.cancel.signal.aborted) return stop("user_cancelled", "the run was cancelled");
  const limit = session.state.start.limits.max_active_ms;
  const spent = activeMs(session);
  return spent > limit ? stop("max_runtime", `${spent} ms of ${limit} were worked`) : null;
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
