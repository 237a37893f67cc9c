/**
 * An agent run made again from its journal, in any process at the same host.
 *
 * - R1 The state is the fold over the recorded events and nothing else; limits, rules and requests come with it.
 * - R2 Calls that have an outcome are not made again, whatever their provider called them. What was admitted and has no
 *   receipt is found out about first, and never dispatched blindly.
 * - R3 A host without the run's tools, or another model, refuses, and the run stays as it was.
 */
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import {
  fileDecision,
  type Host,
  type HostParts,
  partsOf,
  recover,
  requestsIn,
  verdictOn,
} from "../host/index.ts";
import type { Appended } from "../model/journal.ts";
import type { ChatModel } from "../ports/chat-model.ts";
import type { Lease } from "../ports/journal.ts";
import { claimRun } from "../run/index.ts";
import { changedParts } from "./drive.ts";
import { agentEntries, agentEvents } from "./entries.ts";
import type { AgentEvent } from "./event.ts";
import { fold, ofRecord } from "./fold.ts";
import { nextOf } from "./next.ts";
import { offeredTools } from "./offered.ts";
import { type ProgressMarker, type Session, take } from "./session.ts";
import type { AgentState } from "./state.ts";

export interface ResumeAgent {
  /** Null to end the run and nothing else: then it does not matter what it was begun with. */
  readonly model: ChatModel | null;
  readonly progress?: ProgressMarker;
  /** A signed decision, as its envelope, about a request that the run waits for. */
  readonly approval?: JsonValue;
}

/** @throws RoteError `unknown_run` `other_kind` `journal_damaged` `other_semantics` */
export function stateIn(parts: HostParts, run: string): Standing {
  const entries = agentEntries(parts, run);
  const events = agentEvents(parts, entries);
  const state = ofRecord(run, () => fold(events));
  if (state === null) throw new TypeError("a record without its start");
  return { state, events, entries };
}

interface Standing {
  readonly state: AgentState;
  readonly events: readonly AgentEvent[];
  readonly entries: readonly Appended[];
}

/**
 * Null when there is nothing to do: the run has ended, or waits for a decision that nobody has made.
 *
 * @throws RoteError `unknown_run` `other_kind` `tool_missing` `other_model` `run_busy` `approval_refused`
 *   `journal_damaged` `other_semantics`
 */
export async function resumeAgent(
  host: Host,
  run: string,
  { model, progress, approval }: ResumeAgent,
): Promise<Session | null> {
  const parts = partsOf(host);
  const known = stateIn(parts, run);
  if (known.state.end !== null) return null;
  if (model !== null) {
    refuseOther(parts, run, known.state, model, progress);
    if (approval !== undefined) await fileDecision(parts, approval, run);
    if (isWaiting(parts, known.state, known.entries)) return null;
  }
  const lease = await claimRun(parts, run);
  try {
    return await takeOver(parts, run, lease, model ?? NOBODY, progress ?? null);
  } catch (error) {
    // Whoever repairs what is wrong need not wait for the lease to run out.
    await parts.journal.release(lease).catch(() => undefined);
    throw error;
  }
}

const NOBODY: ChatModel = {
  identity: { provider: "none", name: "none" },
  reply: () => Promise.reject(new RoteError("internal_error", "The run is only to be ended.")),
};

/** Until the lease was ours another process may have written, so everything is read again under it. */
async function takeOver(
  parts: HostParts,
  run: string,
  lease: Lease,
  model: ChatModel,
  marker: ProgressMarker | null,
): Promise<Session | null> {
  const { state, events, entries } = stateIn(parts, run);
  if (state.end !== null) {
    await parts.journal.release(lease);
    return null;
  }
  const session: Session = {
    run,
    parts,
    lease,
    model,
    ...offeredTools(parts.journal, state.start.tools),
    marker,
    state,
    requests: [...requestsIn(parts.journal, entries)],
    cancel: new AbortController(),
    enteredMs: null,
    countedMs: countedIn(events),
  };
  await writeResumed(session, entries.length);
  const open = await recover(parts, lease, entries);
  for (const { frozen, performed } of open) {
    const { outcome, result, refusal, final } = performed;
    const call = frozen.operation.call ?? -1;
    take(session, { type: "settled", call, admitted: true, outcome, result, refusal, final });
  }
  return session;
}

/** The gate's admissions tell the time too, and count none. */
function countedIn(events: readonly AgentEvent[]): number {
  return events.reduce(
    (ms, event) => ("ms" in event && event.type !== "admitted" ? event.ms : ms),
    0,
  );
}

async function writeResumed(session: Session, from: number): Promise<void> {
  const { run, parts, lease } = session;
  const body = { owner: lease.owner, from_seq: from };
  const appended = await parts.journal.append({
    lease,
    entries: [{ chain: run, type: "run_resumed", body }],
  });
  if (!appended.ok) {
    throw new RoteError("lease_lost", `Another process took over the run ${run}.`, { run });
  }
  take(session, { type: "resumed" });
}

function refuseOther(
  parts: HostParts,
  run: string,
  { start }: AgentState,
  model: ChatModel,
  progress: ProgressMarker | undefined,
): void {
  const missing = start.tools.flatMap(({ name }) => (parts.tools.has(name) ? [] : [name]));
  if (missing.length > 0) {
    throw new RoteError(
      "tool_missing",
      `The host has no tool ${missing.join(", ")}; the run stays as it is.`,
      { tools: missing },
    );
  }
  const { provider, name } = start.model;
  if (model.identity.provider !== provider || model.identity.name !== name) {
    throw new RoteError(
      "other_model",
      `The run ${run} was begun with ${provider}:${name}, not with ${model.identity.provider}:${model.identity.name}; it stays as it is.`,
      { provider, name },
    );
  }
  if (start.markers && progress === undefined) {
    throw new RoteError(
      "other_model",
      `The run ${run} was begun with markers of progress, and there is nothing that reports them.`,
      { run },
    );
  }
}

/** True when it waits for a person, nobody has decided, and the host is what it was. */
function isWaiting(parts: HostParts, state: AgentState, entries: readonly Appended[]): boolean {
  if (state.phase !== "approval_pending" || state.paused) return false;
  if (changedParts({ parts, state }).length > 0) return false;
  const next = nextOf(state);
  if (next.kind !== "call") return false;
  const requests = requestsIn(parts.journal, entries);
  // Calls behind these do not count: it is not their turn.
  return next.calls.every(({ number }) => {
    const request = requests.findLast(({ operations }) =>
      operations.some(({ operation }) => operation.call === number),
    );
    return request !== undefined && verdictOn(parts, request).kind === "waiting";
  });
}
