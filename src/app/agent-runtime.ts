/** Agents at a host: begun, gone on with, looked at, replayed. The model and the host come from the application. */
import {
  type AgentOptions,
  type AgentReport,
  type AgentSpan,
  type AgentState,
  type AgentTrace,
  agentSpans,
  drive,
  finish,
  nextOf,
  RECALL_K,
  type ReplayChange,
  recalledFor,
  replayAgent,
  reportOf,
  resumeAgent,
  type Session,
  type Spent,
  spentBy,
  startAgent,
  stateIn,
  type Transcript,
  traceAgent,
  transcriptOf,
} from "../agent/index.ts";
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import { type Host, partsOf } from "../host/index.ts";
import type { ChatModel } from "../ports/chat-model.ts";
import type { RunSummary } from "../ports/journal.ts";
import type { Recall } from "../ports/recall.ts";
import { type PendingRequest, pendingRequestOf } from "../run/index.ts";
import { undecidedRequests } from "./run-record.ts";

export type { AgentOptions } from "../agent/index.ts";

export interface AgentRuntimeOptions {
  readonly host: Host;
  readonly model: ChatModel;
  /** For every run that says nothing else. */
  readonly defaults?: AgentOptions;
  /** Long-term notes, and how many of them a run is reminded of. Default: none, and nothing is remembered. */
  readonly memory?: { readonly recall: Recall; readonly recallK?: number };
}

export interface AgentResult extends AgentReport {
  /** What the run waits for a reviewer to decide. */
  readonly requests: readonly PendingRequest[];
}

export interface RunAgent extends AgentOptions {
  /** Once aborted, the run is put down as soon as no tool is at work; it can be resumed. */
  readonly signal?: AbortSignal;
  /** Told the id as soon as the run is on record. */
  readonly onStart?: (run: string) => void;
}

export interface ContinueAgent {
  readonly signal?: AbortSignal;
  /** A signed decision, as its envelope, about a request that the run waits for. */
  readonly approval?: JsonValue;
  readonly progress?: AgentOptions["progress"];
}

export interface AgentReplay {
  readonly report: AgentReport;
  readonly replies: number;
  readonly results: number;
  /** False for a run that has not ended: it was replayed as far as it goes. */
  readonly ended: boolean;
}

const NEVER = new AbortController().signal;

export class AgentRuntime {
  readonly #options: AgentRuntimeOptions;
  /** Runs that this object is at work on. */
  readonly #active = new Map<string, { readonly session: Session; readonly done: Promise<void> }>();

  constructor(options: AgentRuntimeOptions) {
    partsOf(options.host);
    this.#options = options;
  }

  /**
   * Begins a run and takes it as far as it goes: to its end, to a reviewer, or to `signal`.
   *
   * @throws RoteError `bad_goal` `bad_limit` `tool_missing` and, for a child, `unknown_run` `other_kind`: nothing was
   *   started. `lease_lost`: another process goes on with it. What the memory throws: before the run, or after its end,
   *   which stands.
   */
  async run(goal: string, { signal, onStart, ...options }: RunAgent = {}): Promise<AgentResult> {
    const { host, model, defaults, memory } = this.#options;
    const recalled =
      memory === undefined
        ? null
        : await recalledFor(memory.recall, goal, memory.recallK ?? RECALL_K);
    const session = await startAgent(host, model, goal, { ...defaults, ...options }, recalled);
    return this.#drive(session, signal, onStart);
  }

  /**
   * Goes on with a run where it stands. One that has ended, or waits for a decision that nobody has made, is only told of.
   *
   * @throws RoteError `unknown_run` `other_kind` `tool_missing` `other_model` `run_busy` `approval_refused`
   *   `journal_damaged` `other_semantics`: the run stays as it was
   */
  async resume(run: string, options: ContinueAgent = {}): Promise<AgentResult> {
    const { signal, approval, progress = this.#options.defaults?.progress } = options;
    const session = await resumeAgent(this.#options.host, run, {
      model: this.#options.model,
      ...(progress === undefined ? {} : { progress }),
      ...(approval === undefined ? {} : { approval }),
    });
    return session === null ? this.result(run) : this.#drive(session, signal);
  }

  /**
   * Ends a run where it stands. What was done is not undone, and an effect in flight may be uncertain: then that is how the
   * run has ended.
   *
   * @throws RoteError `unknown_run` `other_kind` `run_busy`
   */
  async cancel(run: string): Promise<AgentResult> {
    const active = this.#active.get(run);
    if (active !== undefined) {
      active.session.cancel.abort();
      await active.done.catch(() => undefined);
      // It may have come to wait for a person, or have broken off, just before it was told.
    }
    const session = await resumeAgent(this.#options.host, run, { model: null });
    if (session !== null) {
      const next = nextOf(session.state);
      const message = "the run was cancelled";
      await finish(
        session,
        next.kind === "end" ? next.stop : { reason: "user_cancelled", message, code: null },
      );
    }
    return this.result(run);
  }

  /** How a run stands. @throws RoteError `unknown_run` `other_kind` `journal_damaged` */
  result(run: string): AgentResult {
    return this.#told(run, stateIn(partsOf(this.#options.host), run).state);
  }

  #told(run: string, state: AgentState): AgentResult {
    const { host } = this.#options;
    const parts = partsOf(host);
    const { journal } = parts;
    const [first] = journal.read(run, 0, 1);
    const [last] = journal.read(run, journal.length(run) - 1, 1);
    const totalMs = (last?.entry.time ?? 0) - (first?.entry.time ?? 0);
    const ended = state.end !== null;
    return {
      ...reportOf(run, state, totalMs),
      requests: ended
        ? []
        : undecidedRequests(host, run).map((one) => pendingRequestOf(parts, one)),
    };
  }

  /** The whole record of a run. @throws RoteError as `result` */
  inspect(run: string): AgentTrace {
    return traceAgent(partsOf(this.#options.host), run);
  }

  /**
   * Goes through a run once more from its record alone: no model and no tool is called.
   *
   * @throws RoteError `replay_miss` `replay_differs`, and as `result`
   */
  replay(run: string, change: ReplayChange = {}): AgentReplay {
    const { state, ...counts } = replayAgent(partsOf(this.#options.host), run, change);
    return { report: reportOf(run, state, 0), ...counts };
  }

  /** What each attempt at a turn used, for `costOf` (`rote/llm`). @throws RoteError as `result` */
  used(run: string): readonly Spent[] {
    return spentBy(partsOf(this.#options.host), run);
  }

  /** A run as spans for OpenTelemetry (`rote/otel`). @throws RoteError as `result` */
  spans(run: string): readonly AgentSpan[] {
    return agentSpans(partsOf(this.#options.host), run);
  }

  /** A run as a transcript for learning. @throws RoteError as `result` */
  export(run: string): Transcript {
    return transcriptOf(partsOf(this.#options.host), run);
  }

  /** Agent runs of the host's journal, the most recently moved first. */
  list(limit = 1000): readonly RunSummary[] {
    for (let among = limit; ; among *= 4) {
      const runs = this.#options.host.runs(among);
      const found = runs.filter(({ mode }) => mode === "agent").slice(0, limit);
      if (found.length === limit || runs.length < among) return found;
    }
  }

  async #drive(
    session: Session,
    signal: AbortSignal = NEVER,
    onStart?: (run: string) => void,
  ): Promise<AgentResult> {
    const { run } = session;
    if (this.#active.has(run)) {
      throw new RoteError("run_busy", `The run ${run} is being advanced already.`, { run });
    }
    // Whoever is told of the run can cancel it.
    const done = Promise.resolve().then(() => {
      onStart?.(run);
      return drive(session, signal);
    });
    this.#active.set(run, { session, done });
    try {
      await done;
    } finally {
      this.#active.delete(run);
    }
    // What the session has folded is what stands on record: it is not read and verified once more.
    const result = this.#told(run, session.state);
    await this.#remember(session, result);
    return result;
  }

  async #remember({ state }: Session, { run, output }: AgentResult): Promise<void> {
    const { memory } = this.#options;
    if (memory === undefined || output === null) return;
    await memory.recall.remember({ run, goal: state.start.goal, answer: output });
  }
}
