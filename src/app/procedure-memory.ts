import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import type { Result } from "../base/result.ts";
import { hasLoneSurrogate } from "../base/text.ts";
import { type Host, partsOf } from "../host/index.ts";
import {
  type Demotions,
  demotionsOf,
  keyOf,
  type LookUp,
  lookUp,
  observe,
  type PlanAndVerifier,
  type QualifiedProcedure,
  qualifiedProcedure,
  qualify,
  requirement,
  type SignalReport,
  signalOfHost,
  signalOfRun,
  statusOf,
  type Wanted,
} from "../memory/index.ts";
import type { Environment } from "../model/environment.ts";
import {
  DEFAULT_MEMORY_LIMITS,
  type Forgotten,
  type MemoryLimits,
  type ObservationReport,
  PHASES,
  type Phase,
  type ProcedureKey,
  type ProcedureStatus,
  type ProcedureSummary,
  type Requirement,
} from "../model/memory.ts";
import { systemClock } from "../os/clock.ts";
import { systemRandom } from "../os/random.ts";
import type { Clock } from "../ports/clock.ts";
import type { ProcedureStore } from "../ports/procedures.ts";
import type { Random } from "../ports/random.ts";
import { evidenceOf, type Run } from "../run/index.ts";

export interface MemoryOptions {
  /** Clean runs to ask for where a call asks for nothing else. Default and least: 3 training, 1 shadow, 1 canary. */
  readonly requirement?: Partial<Requirement>;
  /** Default: a million rows and 256 MiB of texts, far above what people's procedures need. */
  readonly limits?: Partial<MemoryLimits>;
  /** Milliseconds that one attempt waits for another process; three are made. Default 5,000. */
  readonly busyTimeoutMs?: number;
  /** Default: the machine's clocks. */
  readonly clock?: Clock;
  /** Default: the operating system's randomness. */
  readonly random?: Random;
}

export interface Observing {
  readonly phase: Phase;
  /** When given, a run of anything else is refused by name of what differs. */
  readonly procedure?: PlanAndVerifier;
  /** Goes with `procedure`. Default: the environment that its recipe is bound to. */
  readonly environment?: Environment;
}

export interface Asking {
  readonly environment: Environment;
  /** More clean runs than the memory asks for; never fewer. */
  readonly requirement?: Partial<Requirement>;
}

/** What a signal of the host's own says, and of which procedure. */
export interface HostSignal {
  readonly procedure: PlanAndVerifier;
  readonly environment: Environment;
  readonly failed: boolean;
  /** For people; kept, so keep secrets out. */
  readonly reason: string;
}

/**
 * What runs have shown about procedures, and which of them may run compiled. Local optimisation data without any
 * authority.
 *
 * ```ts
 * const memory = await ProcedureMemory.create("./memory");
 * await memory.observe(run, { phase: "training" });
 * const qualified = await memory.qualify(procedure, { environment });
 * ```
 */
export class ProcedureMemory {
  readonly #store: ProcedureStore;
  readonly #demotions: Demotions;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #requirement: Requirement;

  private constructor(store: ProcedureStore, options: MemoryOptions) {
    this.#store = store;
    this.#demotions = demotionsOf(store);
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    this.#requirement = requirement(options.requirement);
    Object.freeze(this);
  }

  /**
   * A new memory in a directory that does not exist or is empty. Only its owner can read it.
   *
   * @throws RoteError `store_exists` `store_not_private` `store_not_a_directory` `store_read_only` `disk_full`
   * `store_not_durable` `bad_requirement` `bad_limits`
   */
  static async create(directory: string, options: MemoryOptions = {}): Promise<ProcedureMemory> {
    const limits = readLimits(options);
    requirement(options.requirement);
    const { createProcedures } = await import("../store/sqlite/procedures.ts");
    return new ProcedureMemory(createProcedures(directory, limits, patience(options)), options);
  }

  /**
   * The memory that is in the directory.
   *
   * @throws RoteError `store_missing` `store_not_private` `store_not_a_directory` `store_not_a_file` `store_foreign`
   * `store_damaged` `store_newer` `store_read_only` `store_not_durable` `store_busy` `bad_requirement` `bad_limits`
   */
  static async open(directory: string, options: MemoryOptions = {}): Promise<ProcedureMemory> {
    const limits = readLimits(options);
    requirement(options.requirement);
    const { openProcedures } = await import("../store/sqlite/procedures.ts");
    return new ProcedureMemory(openProcedures(directory, limits, patience(options)), options);
  }

  /** The memory in a host's own store, where demotions are seen by every admission. Closed with the host. */
  static at(host: Host, options: MemoryOptions = {}): ProcedureMemory {
    requirement(options.requirement);
    return new ProcedureMemory(partsOf(host).procedures, options);
  }

  /** A memory that ends with the process and leaves nothing on disk. */
  static async inProcess(options: MemoryOptions = {}): Promise<ProcedureMemory> {
    const { memoryProcedures } = await import("../store/memory/procedures.ts");
    return new ProcedureMemory(memoryProcedures(readLimits(options)), options);
  }

  /**
   * Takes a finished guided run as evidence. A run that compiled mode would have done differently is kept as failed.
   *
   * @throws RoteError with a code of `OBSERVATION_REFUSALS`, `not_a_run` or `bad_phase`: nothing was kept.
   */
  async observe(run: Run, options: Observing): Promise<ObservationReport> {
    const evidence = evidenceOf(run);
    const { phase, procedure } = options;
    if (!PHASES.includes(phase)) {
      throw new RoteError("bad_phase", `a phase is one of ${PHASES.join(", ")}`);
    }
    const expected = procedure === undefined ? undefined : expectedKey(procedure, options);
    // What is due counts before what comes after it: a run observed first would be behind the barrier.
    this.#demotions.settle();
    return given(
      observe(this.#store, evidence, {
        phase,
        requirement: this.#requirement,
        nowMs: this.#clock.wallMs(),
        ...(expected === undefined ? {} : { expected }),
      }),
      { run: evidence.run, phase },
    );
  }

  /**
   * The procedure with a qualification, when the evidence passes.
   *
   * @throws RoteError `not_qualified` with `data.outcome` (`fail` or `no_evidence`) and `data.missing`, in words;
   * `unbound_plan` `bad_requirement`
   */
  async qualify(procedure: PlanAndVerifier, asking: Asking): Promise<QualifiedProcedure> {
    const key = keyOf(procedure, asking.environment);
    this.#demotions.settle(key);
    const qualified = qualify(this.#store, key, {
      requirement: this.#required(asking),
      nowMs: this.#clock.wallMs(),
      newId: () => `qualification-${Buffer.from(this.#random.bytes(16)).toString("hex")}`,
    });
    if (!qualified.ok) throw this.#notQualified(procedure, key, asking);
    return this.#qualified(procedure, key, qualified.value);
  }

  /** The procedure with the qualification that stands, if one does. Judges nothing and changes nothing. */
  async recall(
    procedure: PlanAndVerifier,
    { environment }: Pick<Asking, "environment">,
  ): Promise<QualifiedProcedure | undefined> {
    const key = keyOf(procedure, environment);
    this.#demotions.trySettle(key);
    if (this.#store.find(key)?.qualification == null) return undefined;
    const standing = this.#store.read(key)?.standing ?? null;
    if (standing === null || this.#demotions.has(standing.id)) return undefined;
    return this.#qualified(procedure, key, standing);
  }

  /** What `qualify` would say, without failing and without changing anything. */
  async status(procedure: PlanAndVerifier, asking: Asking): Promise<ProcedureStatus> {
    return this.#status(procedure, keyOf(procedure, asking.environment), asking);
  }

  /** Exact matches by digests or by declared task; a similar task is at most suggested. */
  async lookUp(wanted: Wanted): Promise<LookUp> {
    return lookUp(this.#store, wanted);
  }

  /** Everything kept, the most recently observed first. Default: the first 1,000. @throws RoteError `bad_limits` */
  async list({
    limit = 1000,
  }: {
    readonly limit?: number;
  } = {}): Promise<readonly ProcedureSummary[]> {
    if (Number.isSafeInteger(limit) && limit >= 0) return this.#store.list(limit);
    throw new RoteError("bad_limits", `a list cannot be ${limit} long`);
  }

  /**
   * Takes what a guided run of a qualified procedure shows as a softer signal (a sampled start, say).
   *
   * @throws RoteError with a code of `SIGNAL_REFUSALS`, or `not_a_run`: nothing was kept.
   */
  async signal(run: Run): Promise<SignalReport> {
    const evidence = evidenceOf(run);
    this.#demotions.settle();
    return given(signalOfRun(this.#store, evidence, this.#clock.wallMs()), { run: evidence.run });
  }

  /**
   * Takes a softer signal that the host has from elsewhere.
   *
   * @throws RoteError `not_qualified` when nothing stands that it could speak about; `unbound_plan` `bad_reason`
   */
  async report({ procedure, environment, failed, reason }: HostSignal): Promise<SignalReport> {
    const key = keyOf(procedure, environment);
    const signal = { failed, reason: readReason(reason) };
    this.#demotions.settle(key);
    return given(signalOfHost(this.#store, key, signal, this.#clock.wallMs()), {
      recipe: procedure.plan.id,
    });
  }

  /**
   * Ends the qualification that stands. It cannot be taken back: qualifying again needs runs observed from now on, on
   * inputs never observed before.
   *
   * @throws RoteError `not_qualified` when none stands; `unbound_plan` `bad_reason`
   */
  async demote(
    procedure: PlanAndVerifier,
    { environment, reason }: { readonly environment: Environment; readonly reason: string },
  ): Promise<void> {
    const key = keyOf(procedure, environment);
    const demoted = this.#store.demote(key, {
      cause: "host",
      reason: readReason(reason),
      run: null,
      demoted_ms: this.#clock.wallMs(),
    });
    if (demoted) return;
    throw new RoteError("not_qualified", `no qualification of ${procedure.plan.id} stands`, {
      recipe: procedure.plan.id,
    });
  }

  /**
   * Drops everything kept about the procedure, demotions included: it starts from nothing, as one never seen. Undefined
   * when nothing was kept.
   */
  async forget(
    procedure: PlanAndVerifier,
    { environment }: Pick<Asking, "environment">,
  ): Promise<Forgotten | undefined> {
    return this.#store.forget(keyOf(procedure, environment));
  }

  /** The same by the digests that `list` and `lookUp` tell, for procedures whose recipe is gone. */
  async forgetKey(key: ProcedureKey): Promise<Forgotten | undefined> {
    return this.#store.forget(key);
  }

  async close(): Promise<void> {
    this.#demotions.trySettle();
    this.#store.close();
  }

  #required(asking: Asking): Requirement {
    return requirement(asking.requirement, this.#requirement);
  }

  #status(procedure: PlanAndVerifier, key: ProcedureKey, asking: Asking): ProcedureStatus {
    this.#demotions.trySettle(key);
    const status = statusOf(this.#store, {
      task: procedure.plan.id,
      key,
      environment: asking.environment,
      requirement: this.#required(asking),
    });
    const { qualification } = status;
    const ended = qualification !== null && this.#demotions.has(qualification.id);
    return ended ? { ...status, qualification: null } : status;
  }

  #qualified(
    procedure: PlanAndVerifier,
    key: ProcedureKey,
    standing: Parameters<typeof qualifiedProcedure>[2],
  ): QualifiedProcedure {
    return qualifiedProcedure(procedure, key, standing, {
      store: this.#store,
      demotions: this.#demotions,
      clock: this.#clock,
      random: this.#random,
    });
  }

  #notQualified(procedure: PlanAndVerifier, key: ProcedureKey, asking: Asking): RoteError {
    const { verdict, missing } = this.#status(procedure, key, asking);
    const recipe = procedure.plan.id;
    return new RoteError("not_qualified", `${recipe} is not qualified: ${missing.join("; ")}`, {
      recipe,
      outcome: verdict,
      missing: [...missing],
    });
  }
}

function expectedKey(procedure: PlanAndVerifier, { environment }: Observing): ProcedureKey {
  const bound = environment ?? procedure.plan.environment;
  if (bound !== null) return keyOf(procedure, bound);
  throw new RoteError("unbound_plan", `the recipe ${procedure.plan.id} names no environment`, {
    recipe: procedure.plan.id,
  });
}

function given<Value>(
  result: Result<Value, { readonly code: string; readonly message: string }>,
  data: { readonly [key: string]: JsonValue },
): Value {
  if (result.ok) return result.value;
  throw new RoteError(result.error.code, result.error.message, data);
}

const MAX_REASON = 500;

function readReason(reason: unknown): string {
  const fits = typeof reason === "string" && reason.trim() !== "" && reason.length <= MAX_REASON;
  if (fits && !hasLoneSurrogate(reason)) return reason;
  throw new RoteError("bad_reason", `a reason is a text of 1 to ${MAX_REASON} characters`);
}

function readLimits({ limits = {} }: MemoryOptions): MemoryLimits {
  const read = { ...DEFAULT_MEMORY_LIMITS, ...limits };
  for (const name of ["rows", "bytes"] as const) {
    if (Number.isSafeInteger(read[name]) && read[name] > 0) continue;
    throw new RoteError(
      "bad_limits",
      `the limit of ${name} is ${read[name]}, not a whole number over 0`,
    );
  }
  return read;
}

function patience({ busyTimeoutMs }: MemoryOptions): { readonly busyTimeoutMs?: number } {
  return busyTimeoutMs === undefined ? {} : { busyTimeoutMs };
}
