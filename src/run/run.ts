/**
 * One execution of a procedure, as its user holds it.
 *
 * A `Run` exists only because `startRun` made it, and `evidenceOf` answers only for such an object: what looks like a
 * run, or claims to be verified, is not one.
 */

import type { Digest } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import { differingParts, environmentDiffers } from "../compile/index.ts";
import { type Host, partsOf } from "../host/index.ts";
import type { Environment } from "../model/environment.ts";
import type { Plan, RunLimits, Verifier } from "../model/plan.ts";
import type { PendingModel, RunEvidence, RunMode, RunReport } from "../model/run.ts";
import type { RunStateName } from "../model/stop.ts";
import type { Clock } from "../ports/clock.ts";
import type { Qualification } from "../ports/qualification.ts";
import type { Random } from "../ports/random.ts";
import { type Models, readModels } from "./answer.ts";
import { type Attached, attachedTo, claimRun } from "./attached.ts";
import { type Shown, shownIn } from "./context.ts";
import { type Advance, advance, cancel, type Drive, refuseClosed, stateName } from "./drive.ts";
import { advanceDurably, cancelDurably, type DurableAdvance } from "./durable.ts";
import type { RunEvent } from "./event.ts";
import { evidenceFrom, resultOf } from "./evidence.ts";
import { readInputs } from "./inputs.ts";
import { lowerLimits } from "./limits.ts";
import { firstPendingModel, pendingModels } from "./pending.ts";
import { boundEnvironment, programOf } from "./program.ts";
import { reportOf } from "./report.ts";
import { firstRequest, type PendingRequest } from "./request.ts";

/** Only this module can pass it, so only `startRun` can construct a `Run`. */
const KEY = Symbol("run");

let driveOf: (run: object) => Drive | undefined;
let receiptsOf: (run: object) => readonly Digest[];

export class Run {
  readonly #drive: Drive;
  #attached: Attached | null;

  static {
    driveOf = (run) => (#drive in run ? run.#drive : undefined);
    receiptsOf = (run) => (#attached in run ? (run.#attached?.receipts ?? []) : []);
  }

  /** Not for callers: `procedure.start` makes runs. */
  constructor(key: symbol, drive: Drive, attached: Attached | null) {
    if (key !== KEY) throw new RoteError("not_constructible", "runs are made by procedure.start");
    this.#drive = drive;
    this.#attached = attached;
    Object.freeze(this);
  }

  /** Unpredictable and unique; names the run in reports, in memory and in the journal. */
  get id(): string {
    return this.#drive.id;
  }

  get mode(): RunMode {
    return this.#drive.mode;
  }

  get state(): RunStateName {
    const state = stateName(this.#drive);
    return state === "running" && this.pendingRequest !== null ? "awaiting_approval" : state;
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

  /** The lexically first request for approval that waits for a reviewer, or null. */
  get pendingRequest(): PendingRequest | null {
    return this.#attached === null ? null : firstRequest(this.#attached);
  }

  /** In its JSON form (integers as text); undefined unless the run is verified. */
  get result(): JsonValue | undefined {
    return resultOf(this.#drive);
  }

  /** A JSON document, so its keys are snake_case. */
  get report(): RunReport {
    return reportOf(this.#drive);
  }

  /** Digests of the run's receipts, in the order in which they were filed; without a host there are none. */
  get receipts(): readonly Digest[] {
    return Object.freeze(receiptsOf(this).slice());
  }

  /**
   * Runs a procedure of pure, model, verify and policy nodes as far as it goes: to an end or to a model boundary.
   * `model` answers a pending boundary.
   *
   * @returns the state. A run that has ended just says so again.
   * @throws RoteError `host_required` `journal_required` when the recipe reaches outside, `invalid_model_answer`
   * `not_pending` `unknown_node` `bad_model_usage`: the run waits as before; `run_closed`.
   */
  advancePure(options: Advance): RunStateName {
    refuseHostNodes(this.#drive.program.plan);
    if (this.#attached !== null) throw otherHost(this.id);
    return advance(this.#drive, options);
  }

  /**
   * Runs as far as it goes at a host: to an end, to a model boundary or to a request for approval. The first call
   * attaches the run to the host's journal; from then on only that host can advance it.
   *
   * @throws RoteError `run_busy` `lease_lost` `approval_refused` `not_a_host` and as `advancePure`.
   */
  async advanceAsync(host: Host | null, options: DurableAdvance = {}): Promise<RunStateName> {
    if (host === null) {
      const { environment, model } = options;
      if (environment === undefined) {
        throw new RoteError("environment_changed", "without a host the environment must be stated");
      }
      return this.advancePure({ environment, ...(model === undefined ? {} : { model }) });
    }
    refuseClosed(this.#drive);
    const parts = partsOf(host);
    if (this.#attached === null) {
      if (this.#drive.state !== null) throw otherHost(this.id);
      this.#attached = attachedTo(parts, await claimRun(parts, this.id));
    } else if (this.#attached.parts !== parts) {
      throw otherHost(this.id);
    }
    await advanceDurably(this.#drive, this.#attached, options);
    return this.state;
  }

  /** Ends the run as `cancelled`. It establishes no rollback; a run that has ended stays as it is. */
  cancel(): RunStateName {
    if (this.#attached !== null) throw otherHost(this.id);
    return cancel(this.#drive);
  }

  /**
   * As `cancel`, for a run at a host. What is in flight is told to stop; an effect that may have happened makes the run
   * end as uncertain instead.
   */
  async cancelAsync(): Promise<RunStateName> {
    if (this.#attached === null) return this.cancel();
    refuseClosed(this.#drive);
    await cancelDurably(this.#drive, this.#attached);
    return this.state;
  }

  /** Gives the run up: it cannot be advanced any more. What it has to say can still be read. */
  close(): void {
    this.#drive.closed = true;
  }

  /** As `close`, and lets another process take the run over at once. */
  async closeAsync(): Promise<void> {
    this.close();
    if (this.#attached !== null) await this.#attached.parts.journal.release(this.#attached.lease);
  }
}

function otherHost(run: string): RoteError {
  return new RoteError(
    "other_host",
    `the run ${run} is advanced where it was begun: at its host, or without one`,
    { run },
  );
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
  return evidenceFrom(drive, receiptsOf(run));
}

/**
 * What a verifier is shown in a verified run; undefined for any other run.
 *
 * @throws RoteError `not_a_run` for anything that `startRun` and `resumeRun` did not make.
 */
export function shownToVerifier(run: Run): Shown | undefined {
  const drive = typeof run === "object" && run !== null ? driveOf(run) : undefined;
  if (drive === undefined) throw new RoteError("not_a_run", "only a run has something to show");
  const { program, state } = drive;
  if (state?.end?.reason !== "completed") return undefined;
  return shownIn(program, state, state.outputs[program.plan.terminal] ?? null);
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
 * @throws RoteError `unbound_plan` `environment_changed` `not_qualified` `model_unknown` `bad_limit` `bad_input`: nothing was started.
 */
export function startRun(
  plan: Plan,
  verifier: Verifier,
  inputs: unknown,
  options: StartOptions,
): Run {
  const changed = differingParts(boundEnvironment(plan), options.environment);
  if (changed.length > 0) {
    throw new RoteError("environment_changed", environmentDiffers(changed), {
      parts: [...changed],
    });
  }
  if (options.mode === "compiled" && options.qualification === undefined) {
    throw new RoteError("not_qualified", "a compiled run needs a qualification");
  }
  const program = programOf(plan, verifier);
  return new Run(
    KEY,
    {
      id: `run-${Buffer.from(options.random.bytes(16)).toString("hex")}`,
      program,
      mode: options.mode,
      limits: lowerLimits(plan.limits, options.limits ?? {}),
      inputs: readInputs(program, inputs),
      models: readModels(program, options.models ?? {}),
      qualification: options.mode === "compiled" ? (options.qualification ?? null) : null,
      clock: options.clock,
      record: options.record,
      startedWallMs: options.clock.wallMs(),
      endedWallMs: null,
      activeMs: 0,
      enteredMs: null,
      state: null,
      stopped: null,
      finished: false,
      closed: false,
    },
    null,
  );
}

/** A run made from its journal. For `resumeRun` only. */
export function runOf(drive: Drive, attached: Attached | null): Run {
  return new Run(KEY, drive, attached);
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
