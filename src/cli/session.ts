/**
 * What all runs of one command share: the procedure, the model, the memory, and how each run starts. A run that is
 * meant to be observed is guided, since a compiled run is no evidence for what it used.
 */
import { readdirSync, statSync } from "node:fs";
import { advanceAnswering, modelsFor } from "../app/answering.ts";
import { ProcedureMemory } from "../app/procedure-memory.ts";
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import type { QualifiedProcedure } from "../memory/index.ts";
import { type ObservationReport, PHASES, type Phase } from "../model/memory.ts";
import type { RunMode } from "../model/run.ts";
import { type ExitName, exitOf, type RunStateName } from "../model/stop.ts";
import type { Run } from "../run/index.ts";
import { type Failure, failureOf, fault, usageFault } from "./fault.ts";
import type { JsonObject } from "./inputs.ts";
import { type CommandModel, loadModel } from "./models.ts";
import { loadReady, type Ready } from "./ready.ts";
import { type Call, textOption } from "./spec.ts";

export interface Session {
  readonly ready: Ready;
  readonly model: CommandModel;
  readonly memory: ProcedureMemory | null;
  readonly phase: Phase | null;
  /** The standing qualification that runs use; null where they are guided. */
  readonly qualified: QualifiedProcedure | null;
  /** True with `--mode compiled`: a run that cannot be compiled is refused, not run guided. */
  readonly insists: boolean;
  readonly mode: RunMode;
  /** Why the mode is what it is, in words. */
  readonly why: string;
}

/** One run, as far as it went. */
export interface Ended {
  readonly run: Run;
  readonly state: RunStateName;
  readonly exit: ExitName;
  readonly observation: ObservationReport | null;
  /** A refused answer or observation: the run stands as it is, and what was asked was not done. */
  readonly problem: Failure | null;
}

/** Loads everything and starts nothing. The caller closes the memory. */
export async function openSession(call: Call): Promise<Session> {
  const { options, terminal } = call;
  const asked = textOption(options, "mode");
  const directory = textOption(options, "memory");
  const phase = PHASES.find((name) => name === textOption(options, "phase")) ?? null;
  if (phase !== null && directory === undefined) {
    throw usageFault("--phase observes into a memory, and none is named", "add --memory DIRECTORY");
  }
  if (phase !== null && asked === "compiled") {
    throw usageFault(
      "--phase cannot go with --mode compiled: a compiled run is no evidence for what it used",
      "leave one of them out",
    );
  }
  if (asked === "compiled" && directory === undefined) {
    throw usageFault("--mode compiled needs a qualification", "add --memory DIRECTORY");
  }
  const ready = await loadReady(call.arguments[0] ?? "", options, terminal);
  const model = await loadModel(options, terminal);
  if (directory === undefined) {
    const why = asked === "guided" ? "asked for with --mode" : "no --memory is named";
    return guidedSession(ready, model, null, null, why);
  }
  const memory = await openMemory(directory, phase !== null);
  try {
    if (phase !== null) {
      return guidedSession(ready, model, memory, phase, "a run that is observed is guided");
    }
    if (asked === "guided")
      return guidedSession(ready, model, memory, null, "asked for with --mode");
    return await lookedUp(ready, model, memory, asked === "compiled");
  } catch (error) {
    await memory.close();
    throw error;
  }
}

/** Opens a memory; `make` makes one in a directory that does not exist yet or is empty. */
export async function openMemory(directory: string, make: boolean): Promise<ProcedureMemory> {
  if (make && isVacant(directory)) return await ProcedureMemory.create(directory);
  return await ProcedureMemory.open(directory);
}

function isVacant(directory: string): boolean {
  const found = statSync(directory, { throwIfNoEntry: false });
  return found === undefined || (found.isDirectory() && readdirSync(directory).length === 0);
}

function guidedSession(
  ready: Ready,
  model: CommandModel,
  memory: ProcedureMemory | null,
  phase: Phase | null,
  why: string,
): Session {
  return { ready, model, memory, phase, qualified: null, insists: false, mode: "guided", why };
}

async function lookedUp(
  ready: Ready,
  model: CommandModel,
  memory: ProcedureMemory,
  insists: boolean,
): Promise<Session> {
  const { procedure, environment } = ready;
  const qualified = (await memory.recall(procedure, { environment })) ?? null;
  if (qualified !== null) {
    const why = `qualified on ${qualified.clean_runs} clean runs`;
    const compiled = { qualified, insists, mode: "compiled", why } as const;
    return { ready, model, memory, phase: null, ...compiled };
  }
  const { missing, demotion } = await memory.status(procedure, { environment });
  const reasons =
    missing.length > 0 ? missing : ["the evidence suffices, but nobody has qualified it"];
  const ended = demotion === null ? [] : [`it was demoted: ${demotion.reason}`];
  if (insists) {
    throw fault(
      "not_qualified",
      `${procedure.plan.id} has no qualification for exactly this recipe, verifier and environment`,
      "leave --mode out to run guided; `rote memory status` shows the evidence",
      {
        details: [...ended, ...reasons].map((line) => `  ${line}`).join("\n"),
        missing: [...reasons],
      },
    );
  }
  const why = `not qualified: ${[...ended, ...reasons].join("; ")}`;
  return guidedSession(ready, model, memory, null, why);
}

/**
 * One run to its end, or to where it waits.
 *
 * @throws RoteError when nothing was started: `bad_input`, `environment_changed`, `not_qualified` and so on.
 */
export async function runOnce(
  session: Session,
  inputs: JsonObject,
  signal: AbortSignal,
): Promise<Ended> {
  const { environment } = session.ready;
  const run = start(session, inputs);
  try {
    let problem: Failure | null = null;
    try {
      await advanceAnswering(run, { environment, model: session.model.model, signal });
    } catch (error) {
      if (!(error instanceof RoteError)) throw error;
      problem = failureOf(error);
    }
    const { state } = run;
    const unanswered = problem?.code === "provider_error" && state === "awaiting_model";
    const exit = problem === null || unanswered ? exitOf(state) : problem.exit;
    if (session.phase === null || state !== "verified") {
      return { run, state, exit, observation: null, problem };
    }
    return { run, state, ...(await observed(session, run, session.phase)) };
  } finally {
    run.close();
  }
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
  { memory, ready }: Session,
  run: Run,
  phase: Phase,
): Promise<Pick<Ended, "exit" | "observation" | "problem">> {
  if (memory === null) throw new TypeError("a phase without a memory");
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

export function observationJson(observation: ObservationReport): JsonValue {
  return {
    ...observation,
    mismatches: observation.mismatches.map((mismatch) => ({ ...mismatch })),
  };
}

export function problemJson({ code, message, hint, data }: Failure): JsonValue {
  return { code, message, ...(hint === null ? {} : { hint }), ...data };
}
