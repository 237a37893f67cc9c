/** One run of a command, from its start to its end or to where it waits, without a host or at one. */
import { advanceAnswering, advanceAtHost, modelsFor } from "../../app/answering.ts";
import { resumeIn } from "../../app/journalled.ts";
import { undecidedRequests } from "../../app/run-record.ts";
import { wasStarted } from "../../app/start-once.ts";
import { RoteError } from "../../base/error.ts";
import type { OpenRequest } from "../../host/index.ts";
import type { ObservationReport } from "../../model/memory.ts";
import { type ExitName, exitOf, isTerminal, type RunStateName } from "../../model/stop.ts";
import type { Run } from "../../run/index.ts";
import { type Failure, failureOf } from "../fault.ts";
import type { OpenHost } from "../host.ts";
import type { Session } from "../session.ts";
import type { Terminal } from "../terminal.ts";
import { type Moving, waitForDecisions } from "../waiting.ts";
import type { JsonObject } from "./inputs.ts";

/** One run, as far as it went. */
export interface Ended {
  readonly run: Run;
  readonly state: RunStateName;
  readonly exit: ExitName;
  readonly observation: ObservationReport | null;
  /** A refused answer, decision or observation: the run stands as it is, and what was asked was not done. */
  readonly problem: Failure | null;
  /** Requests that wait for a reviewer. */
  readonly requests: readonly OpenRequest[];
  /** The run was there already, under the name that this start was given. */
  readonly again: boolean;
}

/**
 * One run to its end, or to where it waits.
 *
 * @throws RoteError when nothing was started: `bad_input`, `environment_changed`, `not_qualified` and so on.
 */
export async function runOnce(
  session: Session,
  inputs: JsonObject,
  moving: Omit<Moving, "model">,
): Promise<Ended> {
  const { at, model, phase, ready } = session;
  const begun = start(session, inputs);
  let again = false;
  let run = begun;
  if (at !== null && wasStarted(at.host, begun)) {
    begun.close();
    again = true;
    run = await resumeIn(at.host, begun.id, ready.procedure);
  }
  try {
    const moved = { ...(await move(run, session, { ...moving, model: model.model })), again };
    if (phase === null || moved.state !== "verified") return { run, ...moved, observation: null };
    return { run, ...moved, ...(await observed(session, run)) };
  } finally {
    await run.closeAsync();
  }
}

/** Moves a run at a host on; see `runOnce`. The caller closes it. */
export async function moveAtHost(run: Run, at: OpenHost, moving: Moving): Promise<Ended> {
  const moved = await told(run, () => advancedAtHost(run, at, moving), moving.terminal, at);
  return { run, ...moved, observation: null, again: false };
}

type Moved = Pick<Ended, "state" | "exit" | "problem" | "requests">;

function move(run: Run, { at, ready }: Session, moving: Moving): Promise<Moved> {
  const { model, terminal } = moving;
  const { environment } = ready;
  const work = (): Promise<unknown> =>
    at === null
      ? advanceAnswering(run, { environment, model, signal: terminal.interrupted })
      : advancedAtHost(run, at, moving);
  return told(run, work, terminal, at);
}

async function advancedAtHost(run: Run, at: OpenHost, moving: Moving): Promise<void> {
  const { model, terminal, approval } = moving;
  const { interrupted } = terminal;
  const leaving = (): void => terminal.note(LEAVING);
  interrupted.addEventListener("abort", leaving, { once: true });
  try {
    const given = approval === undefined ? {} : { approval };
    await advanceAtHost(run, at.host, { model, signal: interrupted, ...given });
    if (moving.wait) await waitForDecisions(run, at, moving);
  } finally {
    interrupted.removeEventListener("abort", leaving);
  }
}

const LEAVING = "leaving the run as soon as nothing is in flight; Ctrl-C again stops at once\n";

async function told(
  run: Run,
  work: () => Promise<unknown>,
  { interrupted }: Terminal,
  at: OpenHost | null,
): Promise<Moved> {
  let problem: Failure | null = null;
  try {
    await work();
  } catch (error) {
    // A run that is still ready has not begun: there is nothing to tell but the error.
    if (!(error instanceof RoteError) || run.state === "ready") throw error;
    problem = failureOf(error);
  }
  const { state } = run;
  const unanswered = problem?.code === "provider_error" && state === "awaiting_model";
  const left = interrupted.aborted && !isTerminal(state);
  const reached = left ? "cancelled" : exitOf(state);
  const exit = problem === null || unanswered ? reached : problem.exit;
  const waiting = at !== null && !isTerminal(state) && state !== "ready";
  return { state, exit, problem, requests: waiting ? undecidedRequests(at.host, run.id) : [] };
}

function start(session: Session, inputs: JsonObject): Run {
  const { environment, procedure } = session.ready;
  const models = modelsFor(procedure.plan, session.model.identity);
  const { qualified, insists } = session;
  if (qualified === null) return procedure.start(inputs, { environment, models });
  // Demoted since, here or elsewhere: going on guided is what an unqualified procedure does.
  if (!insists && !qualified.stands()) return procedure.start(inputs, { environment, models });
  return qualified.start(inputs, { environment, models });
}

async function observed(
  { memory, ready, phase }: Session,
  run: Run,
): Promise<Pick<Ended, "exit" | "observation" | "problem">> {
  if (memory === null || phase === null) throw new TypeError("a phase without a memory");
  const { procedure, environment } = ready;
  try {
    const observation = await memory.observe(run, { phase, procedure, environment });
    const exit = observation.outcome === "counted" ? "verified" : "rejected";
    return { exit, observation, problem: null };
  } catch (error) {
    if (!(error instanceof RoteError)) throw error;
    const problem = failureOf(error);
    return { exit: problem.exit, observation: null, problem };
  }
}
