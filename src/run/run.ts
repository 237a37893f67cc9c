/**
 * One execution of a procedure, as its user holds it.
 *
 * A `Run` exists only because `startRun` made it, and `evidenceOf` answers only for such an object: what looks like a
 * run, or claims to be verified, is not one.
 */

import type { Digest } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import type { Environment } from "../model/environment.ts";
import type { Plan, RunLimits, Verifier } from "../model/plan.ts";
import type { PendingModel, RunEvidence, RunMode, RunReport } from "../model/run.ts";
import type { RunStateName } from "../model/stop.ts";
import type { Clock } from "../ports/clock.ts";
import type { Qualification } from "../ports/qualification.ts";
import type { Random } from "../ports/random.ts";
import { type Models, readModels } from "./answer.ts";
import { type Advance, advance, cancel, type Drive, sameEnvironment, stateName } from "./drive.ts";
import type { RunEvent } from "./event.ts";
import { evidenceFrom, resultOf } from "./evidence.ts";
import { readInputs } from "./inputs.ts";
import { lowerLimits } from "./limits.ts";
import { firstPendingModel, pendingModels } from "./pending.ts";
import { boundEnvironment, programOf } from "./program.ts";
import { reportOf } from "./report.ts";

/** Only this module can pass it, so only `startRun` can construct a `Run`. */
const KEY = Symbol("run");

let driveOf: (run: object) => Drive | undefined;

export class Run {
  readonly #drive: Drive;

  static {
    driveOf = (run) => (#drive in run ? run.#drive : undefined);
  }

  /** Not for callers: `procedure.start` makes runs. */
  constructor(key: symbol, drive: Drive) {
    if (key !== KEY) throw new RoteError("not_constructible", "runs are made by procedure.start");
    this.#drive = drive;
    Object.freeze(this);
  }

  /** Unpredictable and unique; names the run in reports and in memory. */
  get id(): string {
    return this.#drive.id;
  }

  get mode(): RunMode {
    return this.#drive.mode;
  }

  get state(): RunStateName {
    return stateName(this.#drive);
  }

  /** The lexically first model boundary that waits for an answer, or null. */
  get pendingModel(): PendingModel | null {
    const { program, state } = this.#drive;
    return state === null ? null : firstPendingModel(program, state);
  }

  /** Everything the run waits for, lexically: by node id, then by position. */
  get pending(): readonly PendingModel[] {
    const { program, state } = this.#drive;
    return state === null ? [] : Object.freeze(pendingModels(program, state));
  }

  /** The request for approval that waits for a reviewer. Always null without a host. */
  get pendingRequest(): null {
    return null;
  }

  /** In its JSON form (integers as text); undefined unless the run is verified. */
  get result(): JsonValue | undefined {
    return resultOf(this.#drive);
  }

  /** A JSON document, so its keys are snake_case. */
  get report(): RunReport {
    return reportOf(this.#drive);
  }

  /** Digests of the run's receipts; without a host there are none. */
  get receipts(): readonly Digest[] {
    return [];
  }

  /**
   * Runs as far as it goes: to an end or to a model boundary. `model` answers a pending boundary.
   *
   * @returns the state. A run that has ended just says so again.
   * @throws RoteError `invalid_model_answer` `not_pending` `unknown_node` `bad_model_usage`: the run waits as before;
   * `run_closed`.
   */
  advancePure(options: Advance): RunStateName {
    return advance(this.#drive, options);
  }

  /** As `advancePure`. A procedure that reaches outside needs a host, and is refused at its start without one. */
  advanceAsync(_host: null, options: Advance): Promise<RunStateName> {
    return new Promise((resolve) => {
      resolve(advance(this.#drive, options));
    });
  }

  /** Ends the run as `cancelled`. It establishes no rollback; a run that has ended stays as it is. */
  cancel(): RunStateName {
    return cancel(this.#drive);
  }

  /** Gives the run up: it cannot be advanced any more. What it has to say can still be read. */
  close(): void {
    this.#drive.closed = true;
  }
}

/**
 * What a run has to show for itself: the only thing that procedure memory accepts.
 *
 * @throws RoteError `not_a_run` for anything that `startRun` did not make.
 */
export function evidenceOf(run: Run): RunEvidence {
  const drive = typeof run === "object" && run !== null ? driveOf(run) : undefined;
  if (drive === undefined) {
    throw new RoteError("not_a_run", "only a run made by this process's procedures is evidence");
  }
  return evidenceFrom(drive);
}

export interface StartOptions {
  readonly mode: RunMode;
  readonly environment: Environment;
  /** The model behind each role that the recipe asks. */
  readonly models?: Models;
  /** Required for compiled runs, and not used by guided ones. */
  readonly qualification?: Qualification;
  readonly clock: Clock;
  readonly random: Random;
  /** May only lower the recipe's limits. */
  readonly limits?: Partial<RunLimits>;
  /** Given every event before it takes effect; when it throws, the event has not happened. */
  readonly record?: (event: RunEvent) => void;
}

/**
 * A run that is ready to be advanced.
 *
 * @throws RoteError `unbound_plan` `environment_changed` `host_required` `journal_required` `not_qualified`
 * `model_unknown` `bad_limit` `bad_input`: nothing was started.
 */
export function startRun(
  plan: Plan,
  verifier: Verifier,
  inputs: unknown,
  options: StartOptions,
): Run {
  if (!sameEnvironment(boundEnvironment(plan), options.environment)) {
    throw new RoteError(
      "environment_changed",
      "the environment differs from the one that the recipe is bound to",
    );
  }
  refuseHostNodes(plan);
  if (options.mode === "compiled" && options.qualification === undefined) {
    throw new RoteError("not_qualified", "a compiled run needs a qualification");
  }
  const program = programOf(plan, verifier);
  return new Run(KEY, {
    id: `run-${Buffer.from(options.random.bytes(16)).toString("hex")}`,
    program,
    mode: options.mode,
    limits: lowerLimits(plan.limits, options.limits ?? {}),
    inputs: readInputs(plan, inputs),
    models: readModels(program, options.models ?? {}),
    qualification: options.mode === "compiled" ? (options.qualification ?? null) : null,
    clock: options.clock,
    record: options.record,
    startedWallMs: options.clock.wallMs(),
    endedWallMs: null,
    activeMs: 0,
    enteredMs: null,
    state: null,
    closed: false,
  });
}

function refuseHostNodes(plan: Plan): void {
  if (!plan.needsHost) return;
  const node = plan.nodes.find(({ step }) => HOST_KINDS.has(step.kind));
  if (node === undefined) return;
  const journal = node.step.kind === "checkpoint";
  throw new RoteError(
    journal ? "journal_required" : "host_required",
    `node "${node.id}" (${node.step.kind}) needs a ${journal ? "journal" : "host"}`,
    { node: node.id },
  );
}

const HOST_KINDS: ReadonlySet<string> = new Set(["read", "approval", "effect", "checkpoint"]);
