/**
 * The driver: feeds events to the interpreter and performs what it wants done.
 *
 * Owns one run's present state, its clocks and its dealings with procedure memory. Every event is handed to `record`
 * before it takes effect, and commands are performed only after that, so a journal is never behind.
 *
 * - D1 An event is checked first, recorded second and folded third; a refusal leaves no trace.
 * - D2 A compiled run asks whether its qualification stands at the start and before every further event.
 * - D3 A compiled run that fails a verification demotes its qualification before anyone is told the state, and before a
 *   journal is told that it ended: a run that was left in between demotes when it is taken over.
 * - D4 An ended run records nothing more.
 */
import { RoteError } from "../base/error.ts";
import { differingParts, environmentDiffers } from "../compile/index.ts";
import { readValue } from "../expression/index.ts";
import type { Environment } from "../model/environment.ts";
import { type RunLimits, SEMANTICS_VERSION } from "../model/plan.ts";
import type { ModelAnswer, RunMode } from "../model/run.ts";
import { type RunStateName, type StopReason, stateOf } from "../model/stop.ts";
import type { Clock } from "../ports/clock.ts";
import type { Qualification } from "../ports/qualification.ts";
import { answerEvent, type Models } from "./answer.ts";
import type {
  ModelAnsweredEvent,
  RunCommand,
  RunEvent,
  StartedEvent,
  StoppedEvent,
} from "./event.ts";
import type { InputValues } from "./inputs.ts";
import { learnedFor } from "./learned.ts";
import { itemType, notPending } from "./outside.ts";
import { pendingModels, waitingState } from "./pending.ts";
import { boundDigest, boundEnvironment, nodeNamed, type Program } from "./program.ts";
import type { RunState } from "./state.ts";
import { type Stepped, step } from "./step.ts";

export interface Drive {
  readonly id: string;
  readonly program: Program;
  readonly mode: RunMode;
  readonly limits: RunLimits;
  readonly inputs: InputValues;
  readonly models: Models;
  readonly qualification: Qualification | null;
  readonly clock: Clock;
  readonly record: ((event: RunEvent) => void) | undefined;
  readonly startedWallMs: number;
  endedWallMs: number | null;
  /** Monotonic time of finished calls. */
  activeMs: number;
  /** Monotonic time at which the call in progress began. */
  enteredMs: number | null;
  state: RunState | null;
  /** How the run was ended from outside, for its last entry. */
  stopped: StoppedEvent | null;
  /** True when the journal says that the run has ended. */
  finished: boolean;
  closed: boolean;
}

export interface Advance {
  readonly environment: Environment;
  readonly model?: ModelAnswer;
}

/** @throws RoteError as `answerEvent`; the run stays as it was. */
export function advance(drive: Drive, { environment, model }: Advance): RunStateName {
  refuseClosed(drive);
  if (drive.state?.end) {
    if (model !== undefined) throw notPendingAnyMore(drive, model);
    return stateName(drive);
  }
  return active(drive, () => {
    recordAll(drive, forward(drive, environment, model));
    return stateName(drive);
  });
}

function* forward(
  drive: Drive,
  environment: Environment,
  model: ModelAnswer | undefined,
): Happening {
  const changed = differingParts(boundEnvironment(drive.program.plan), environment);
  if (changed.length > 0) {
    yield* stop(drive, "environment_changed", environmentDiffers(changed));
    return;
  }
  if (yield* isDenied(drive)) return;
  if (drive.state === null) yield* feed(drive, startedEvent(drive));
  if (model !== undefined) yield* feed(drive, answerFor(drive, model));
}

/** Ends the run where it stands; what was done stays done. Nothing happens to a run that has ended. */
export function cancel(drive: Drive): RunStateName {
  refuseClosed(drive);
  if (drive.state?.end) return stateName(drive);
  return active(drive, () => {
    recordAll(drive, stop(drive, "user_cancelled", "the run was cancelled"));
    return stateName(drive);
  });
}

export function stateName(drive: Drive): RunStateName {
  const { state, program } = drive;
  if (state === null) return "ready";
  return state.end === null ? waitingState(program, state) : stateOf(state.end.reason);
}

/**
 * Events on their way into the state: each is handed out before it takes effect, so that whoever drives this can record
 * it first. Given up at that point, the event has not happened.
 */
export type Happening<T = void> = Generator<RunEvent, T, void>;

function recordAll(drive: Drive, happening: Happening): void {
  for (const event of happening) drive.record?.(event);
}

/** @throws RoteError as `answerEvent` */
export function answerFor(drive: Drive, given: ModelAnswer): ModelAnsweredEvent {
  const state = drive.state;
  if (state === null || state.end !== null) throw notPendingAnyMore(drive, given);
  return answerEvent(drive.program, state, drive.models, given);
}

/** Folds an event and the learned answers that follow from it, until the run ends or waits. */
export function* feed(drive: Drive, first: RunEvent): Happening {
  const events: RunEvent[] = [first];
  for (let event = events.shift(); event !== undefined; event = events.shift()) {
    if (event !== first && (yield* isDenied(drive))) return;
    const { commands, paused } = yield* take(drive, event);
    if (paused) {
      yield* stop(drive, "max_runtime", overdue(drive));
      return;
    }
    for (const command of commands) {
      const learned = learnedEvent(drive, command);
      if (learned !== undefined) events.push(learned);
    }
    if (drive.state?.end) return;
  }
}

function* take(drive: Drive, event: RunEvent): Happening<Stepped> {
  yield event;
  const stepped = step(drive.program, drive.state, event, () => isOverdue(drive));
  settle(drive, stepped);
  return stepped;
}

function settle(drive: Drive, stepped: Stepped): void {
  drive.state = stepped.state;
  if (stepped.state.end === null) return;
  drive.endedWallMs = drive.clock.wallMs();
  demoteFailed(drive);
}

/** Ends the qualification of a compiled run that failed its verification; once more does no harm. @throws as the store */
export function demoteFailed({ id, state, qualification }: Drive): void {
  const reason = state?.end?.reason;
  if (reason === "verify_failed" || reason === "verifier_rejected") {
    qualification?.demote({ run: id, reason });
  }
}

/** Learned answers for boundaries that wait, as after a resume. */
export function learnedAnswers(drive: Drive): readonly ModelAnsweredEvent[] {
  const { program, state, qualification } = drive;
  if (qualification === null || state === null) return [];
  return pendingModels(program, state).flatMap(
    ({ node, index, prompt }) =>
      learnedEvent(drive, { type: "ask_model", node, index, prompt }) ?? [],
  );
}

/** The event for a boundary that a compiled run need not ask a model about. */
function learnedEvent(drive: Drive, command: RunCommand): ModelAnsweredEvent | undefined {
  if (drive.qualification === null || command.type !== "ask_model") return undefined;
  const node = nodeNamed(drive.program, command.node);
  const model = node.step.kind === "model" ? drive.models[node.step.role] : undefined;
  if (model === undefined) return undefined;
  const learned = learnedFor(drive.qualification.learned, command.node, command.prompt, model);
  if (learned === undefined || !readValue(itemType(node), learned.answer).ok) return undefined;
  return {
    type: "model_answered",
    node: command.node,
    index: command.index,
    answer: learned.answer,
    usage: null,
    model,
    source: "learned",
  };
}

/** True when the run was just ended because it may not take another step. */
export function* isDenied(drive: Drive): Happening<boolean> {
  if (!stands(drive.qualification)) {
    yield* stop(drive, "not_qualified", "the qualification does not stand");
    return true;
  }
  if (!isOverdue(drive)) return false;
  yield* stop(drive, "max_runtime", overdue(drive));
  return true;
}

function overdue(drive: Drive): string {
  return `the run was active for more than ${drive.limits.max_runtime_ms} ms`;
}

function stands(qualification: Qualification | null): boolean {
  if (qualification === null) return true;
  try {
    return qualification.stands();
  } catch {
    // Doubt denies.
    return false;
  }
}

export function* stop(drive: Drive, reason: StopReason, message: string, code?: string): Happening {
  if (drive.state === null) {
    // The run is on record before it ends, with nothing evaluated.
    const event = startedEvent(drive);
    yield event;
    drive.state = step(drive.program, null, event, () => true).state;
  }
  const evaluations = drive.state.evaluations;
  const event = { type: "stopped", reason, message, evaluations } as const;
  yield* take(drive, code === undefined ? event : { ...event, code });
}

export function startedEvent(drive: Drive): StartedEvent {
  const { plan, verifier } = drive.program;
  return {
    type: "started",
    plan: boundDigest(plan),
    verifier: verifier.digest,
    semantics: SEMANTICS_VERSION,
    mode: drive.mode,
    limits: drive.limits,
    inputs: drive.inputs,
  };
}

export function activeMs(drive: Drive): number {
  const now = drive.enteredMs === null ? 0 : drive.clock.monotonicMs() - drive.enteredMs;
  return drive.activeMs + now;
}

/** Active time of finished calls in whole milliseconds, for the record: so that a limit holds across processes. */
export function spentMs(drive: Drive): number {
  return Math.round(drive.activeMs);
}

function isOverdue(drive: Drive): boolean {
  return activeMs(drive) > drive.limits.max_runtime_ms;
}

/** Times one call from outside. What the host does inside it (`record`, `demote`) may not move the same run. */
export function active<T>(drive: Drive, work: () => T): T {
  if (drive.enteredMs !== null) {
    throw new RoteError("run_busy", "the run is being advanced", { run: drive.id });
  }
  drive.enteredMs = drive.clock.monotonicMs();
  try {
    return work();
  } finally {
    drive.activeMs = activeMs(drive);
    drive.enteredMs = null;
  }
}

export function refuseClosed(drive: Drive): void {
  if (drive.closed) throw new RoteError("run_closed", "the run was closed", { run: drive.id });
}

function notPendingAnyMore(drive: Drive, given: ModelAnswer): RoteError {
  const name = { node: given.node ?? "", index: given.index ?? null };
  if (given.node !== undefined) return notPending(name, `cannot be answered: ${ended(drive)}`);
  return new RoteError("not_pending", `no answer can be taken: ${ended(drive)}`);
}

function ended(drive: Drive): string {
  return `the run has ended (${drive.state?.end?.reason ?? "not started"})`;
}
