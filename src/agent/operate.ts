/**
 * One tool call of an agent through the gate: judged, approved where that is wanted, admitted, dispatched, receipted.
 *
 * - O1 A call that was shown for approval is judged anew before it is admitted, and must still be the one that was shown;
 *   when it is not, nothing is dispatched and approval is asked for anew.
 * - O2 Every refusal is filed as a receipt. What it means for the run is the fold's to say.
 * - O3 What a reviewer has rejected is not shown again in the same run: the same call is refused at once.
 */

import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import { parsePointer, readPointer } from "../base/pointer.ts";
import { environmentDigest } from "../compile/index.ts";
import {
  admit,
  changeBetween,
  environmentFor,
  fileRefusal,
  type GateRequest,
  type Judgement,
  judge,
  MOST_SHOWN,
  type OpenRequest,
  openRequest,
  overLimit,
  perform,
  type Refusal,
  type Replaced,
  refusalOf,
  type UsedApproval,
  verdictOn,
} from "../host/index.ts";
import { callsLeft } from "./family.ts";
import { refusalEnds } from "./fold.ts";
import { knows } from "./grown.ts";
import { effectsBehind } from "./next.ts";
import { activeMs, type Session, take } from "./session.ts";
import { type CallState, callNumbered } from "./state.ts";
import { refuseFault } from "./transitions.ts";

/** Resolves when the call has an outcome or waits for an approval. */
export async function operate(
  session: Session,
  number: number,
  signal: AbortSignal,
): Promise<"settled" | "waiting"> {
  for (;;) {
    const call = callNumbered(session.state, number);
    if (call === undefined) throw new TypeError("a call that nobody asked for");
    const turn = await attempt(session, call, signal);
    if (turn !== "again") return turn;
    // Nothing is begun any more; what stands is gone on with, or ended, by whoever told it to stop.
    if (signal.aborted) return "waiting";
  }
}

async function attempt(
  session: Session,
  call: CallState,
  signal: AbortSignal,
): Promise<"settled" | "waiting" | "again"> {
  const { parts } = session;
  const request = requestFor(session, call.number);
  const shown = request && shownIn(request, call.number);
  const requestedAt = shown?.operation.requested_at ?? parts.clock.wallMs();
  const judged = judge(parts, gateRequest(session, call, requestedAt));
  if (judged.kind === "refused") return refuse(session, call, judged);
  if (request === undefined || shown === undefined) {
    if (!judged.needsApproval) return admitAndPerform(session, call, judged, [], signal);
    if (knows(session.state.rejected, call.fingerprint)) {
      const message = "a reviewer has rejected the same call in this run";
      return refuse(session, call, refusalOf(judged.frozen, "approval_rejected", message));
    }
    return show(session, call, judged, null);
  }
  const verdict = verdictOn(parts, request);
  if (verdict.kind === "rejected") {
    const message = `${verdict.approver} rejected it`;
    return refuse(session, call, refusalOf(judged.frozen, "approval_rejected", message));
  }
  const code = changeBetween(shown.operation, judged.frozen.operation);
  if (code !== undefined) return show(session, call, judged, { nonce: request.nonce, code });
  switch (verdict.kind) {
    case "approved":
      return admitAndPerform(session, call, judged, verdict.approvals, signal);
    case "expired": {
      const message = "nobody decided before the request expired";
      return refuse(session, call, refusalOf(judged.frozen, "approval_expired", message));
    }
    case "waiting":
      return "waiting";
  }
}

async function admitAndPerform(
  session: Session,
  call: CallState,
  judged: Judgement,
  approvals: readonly UsedApproval[],
  signal: AbortSignal,
): Promise<"settled" | "again"> {
  const { parts, lease } = session;
  const event = {
    type: "admitted",
    call: call.number,
    attempt: call.broken + 1,
    tool: call.name,
    ms: activeMs(session),
  } as const;
  refuseFault(session.state, event);
  const { ms } = event;
  const admitted = await admit(parts, lease, judged, approvals, { qualification: null, ms });
  if (admitted.kind === "late") return "again";
  if (admitted.kind === "refused") return refuse(session, call, admitted);
  take(session, event);
  const { outcome, result, refusal, final } = await perform(parts, lease, admitted, signal);
  const settled = { admitted: true, outcome, result, refusal, final };
  take(session, { type: "settled", call: call.number, ...settled });
  return final ? "settled" : "again";
}

async function refuse(session: Session, call: CallState, refusal: Refusal): Promise<"settled"> {
  const { code, message } = refusal;
  const event = {
    type: "settled",
    call: call.number,
    admitted: false,
    outcome: "refused",
    result: undefined,
    refusal: { code, message },
    final: true,
  } as const;
  refuseFault(session.state, event);
  const filed = await fileRefusal(session.parts, session.lease, refusal, true);
  if (filed === null) {
    throw new RoteError("internal_error", `Call ${call.number} of ${call.name}: ${message}.`);
  }
  take(session, event);
  return "settled";
}

/**
 * A read asks alone. An effect asks together with those behind it that would be asked for as well: one signature covers
 * what was shown at once, and each of them is judged again, and admitted once, when it is its turn.
 */
async function show(
  session: Session,
  call: CallState,
  judged: Judgement,
  replaces: Replaced | null,
): Promise<"waiting"> {
  const { parts, lease, requests, state } = session;
  const batch = call.category === "effect" ? batchFrom(session, call, judged, replaces) : [judged];
  const operations = batch.map(({ frozen }) => frozen);
  const numbers = operations.flatMap(({ operation }) => operation.call ?? []);
  const event = { type: "requested", calls: numbers } as const;
  refuseFault(state, event);
  requests.push(await openRequest(parts, lease, nodeOf(state.step), operations, replaces));
  take(session, event);
  return "waiting";
}

/** Nobody is asked for what would not be done: by itself, together with the rest, or behind what would end the run. */
function batchFrom(
  session: Session,
  call: CallState,
  first: Judgement,
  replaces: Replaced | null,
): readonly Judgement[] {
  const { parts, state } = session;
  const requestedAt = first.frozen.operation.requested_at;
  const left = callsLeft(session);
  const batch = [first];
  const counts = [...first.counts];
  for (const other of effectsBehind(state, call.number)) {
    if (batch.length >= MOST_SHOWN || other.number >= left) break;
    const before = requestFor(session, other.number);
    if (before !== undefined && before.nonce !== replaces?.nonce) continue;
    if (knows(state.rejected, other.fingerprint)) continue;
    const judged = judge(parts, gateRequest(session, other, requestedAt));
    if (judged.kind === "refused") {
      if (refusalEnds(state.start, judged.code)) break;
      continue;
    }
    // What needs no approval uses up a budget as well.
    counts.push(...judged.counts);
    if (overLimit(parts, counts) !== undefined) break;
    if (judged.needsApproval) batch.push(judged);
  }
  return batch;
}

function requestFor({ requests }: Session, number: number): OpenRequest | undefined {
  return requests.findLast((one) => shownIn(one, number) !== undefined);
}

function shownIn({ operations }: OpenRequest, number: number) {
  return operations.find(({ operation }) => operation.call === number);
}

/** What stands as the node of an agent's operations: the turn that asked for them. */
export function nodeOf(step: number): string {
  return `step-${step}`;
}

function gateRequest(
  { parts, state, run }: Session,
  call: CallState,
  requestedAt: number,
): GateRequest {
  const { start, step } = state;
  const names = start.tools.map(({ name }) => name);
  if (call.category === null || call.arguments === undefined) {
    throw new TypeError("a call that no tool can be called with");
  }
  return {
    run,
    node: nodeOf(step),
    index: null,
    call: call.number,
    attempt: call.broken + 1,
    category: call.category,
    tool: call.name,
    arguments: call.arguments,
    key: keyOf(start.tools.find(({ name }) => name === call.name)?.key ?? [], call.arguments),
    recipe: null,
    environment: environmentDigest(start.environment),
    environmentNow: () => environmentDigest(environmentFor(parts, names)),
    verifiers: [],
    requestedAt,
    // No recipe stands behind an agent's effect, so no verifier does: policy and approvals decide alone.
    ...(call.category === "effect" ? { beforeEffect: () => null } : {}),
  };
}

/** The values that the pointers find, in order; what they do not find is null. */
function keyOf(pointers: readonly string[], args: JsonValue): JsonValue {
  if (pointers.length === 0) return null;
  return pointers.map((text) => readPointer(args, parsePointer(text) ?? [""]) ?? null);
}
