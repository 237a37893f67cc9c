/**
 * One operation of a run through the gate: judged, approved where that is wanted, admitted, dispatched, receipted.
 *
 * - O1 An operation that was shown for approval is judged anew before it is admitted, and must still be the one that
 *   was shown. When it is not, nothing is dispatched and approval is asked for anew.
 * - O2 What the gate refuses is filed as a receipt and ends the run; nothing here decides otherwise.
 */
import type { JsonValue } from "../base/json.ts";
import { environmentDigest } from "../compile/environment.ts";
import { EvaluationFailure } from "../expression/index.ts";
import {
  admit,
  changeBetween,
  decisionsOn,
  fileRefusal,
  type GateRequest,
  type Judgement,
  judge,
  type OpenRequest,
  openRequest,
  perform,
  type Refusal,
  type UsedApproval,
} from "../host/index.ts";
import type { StopReason } from "../model/stop.ts";
import type { ToolCategory } from "../model/trust.ts";
import type { Attached } from "./attached.ts";
import { proposedContext } from "./context.ts";
import type { Drive } from "./drive.ts";
import type { Settled } from "./entries.ts";
import type { PlannedOperation } from "./event.ts";
import { boundDigest, boundEnvironment } from "./program.ts";

export type Turn =
  | { readonly kind: "settled"; readonly settled: Settled }
  /** The run waits for an approval. */
  | { readonly kind: "waiting" }
  /** The run ends here: rejected, or the request expired. */
  | { readonly kind: "ended"; readonly reason: StopReason; readonly message: string };

export async function operate(
  drive: Drive,
  attached: Attached,
  operation: PlannedOperation,
  category: ToolCategory,
): Promise<Turn> {
  for (;;) {
    const turn = await attempt(drive, attached, operation, category);
    if (turn !== "again") return turn;
  }
}

async function attempt(
  drive: Drive,
  attached: Attached,
  operation: PlannedOperation,
  category: ToolCategory,
): Promise<Turn | "again"> {
  const { parts, lease } = attached;
  const request = requestFor(attached, operation);
  const shown = request === undefined ? undefined : shownIn(request, operation);
  const requestedAt = shown?.operation.requested_at ?? parts.clock.wallMs();
  const judged = judge(parts, gateRequest(drive, attached, operation, category, requestedAt));
  if (judged.kind === "refused") return refuse(attached, operation, judged);
  if (request === undefined && judged.needsApproval) {
    return ask(attached, operation.node, [judged]);
  }
  let approvals: readonly UsedApproval[] = [];
  if (request !== undefined && shown !== undefined) {
    const change = changeBetween(shown.operation, judged.frozen.operation);
    if (change !== undefined) {
      attached.outdated.set(operation.node, change);
      return ask(attached, operation.node, [judged]);
    }
    const decided = await decide(attached, operation.node, request);
    if (decided.kind !== "approved") return decided;
    approvals = decided.approvals;
  }
  return admitAndPerform(drive, attached, operation, judged, approvals, lease);
}

async function admitAndPerform(
  drive: Drive,
  attached: Attached,
  operation: PlannedOperation,
  judged: Judgement,
  approvals: readonly UsedApproval[],
  lease: Attached["lease"],
): Promise<Turn | "again"> {
  const { parts } = attached;
  const admitted = await admit(parts, lease, judged, approvals, drive.qualification?.id ?? null);
  if (admitted.kind === "refused") return refuse(attached, operation, admitted);
  attached.waiting.delete(operation.node);
  attached.outdated.delete(operation.node);
  const done = await perform(parts, lease, admitted, attached.cancel.signal);
  attached.receipts.push(done.receipt);
  const { node, index } = operation;
  if (!done.final) {
    countAttempt(attached, operation);
    return "again";
  }
  const { outcome, result, refusal } = done;
  return { kind: "settled", settled: { node, index, outcome, result, admitted: true, refusal } };
}

/** A fence: all operations of its batch are judged and shown at once, before any of them is done. */
export async function fence(
  drive: Drive,
  attached: Attached,
  node: string,
  batch: readonly PlannedOperation[],
): Promise<Turn | { readonly kind: "approved"; readonly approvals: readonly UsedApproval[] }> {
  const { parts } = attached;
  const known = attached.requests.findLast((request) => request.node === node);
  if (known !== undefined) return decide(attached, node, known);
  const requestedAt = parts.clock.wallMs();
  const judged: Judgement[] = [];
  for (const operation of batch) {
    // The verifier's rule is asked when the effect is admitted: what it wants to see may not have been read yet.
    const request = gateRequest(drive, attached, operation, "effect", requestedAt);
    const one = judge(parts, { ...request, beforeEffect: () => null });
    if (one.kind === "refused") return refuse(attached, operation, one);
    judged.push(one);
  }
  const over = overTogether(attached, judged);
  if (over !== undefined) return over;
  return ask(attached, node, judged);
}

/** Each operation may be within a budget that all of them are not: checked before a person is asked. */
function overTogether(attached: Attached, judged: readonly Judgement[]): Turn | undefined {
  const totals = new Map<string, bigint>();
  for (const { counter, add, limit } of judged.flatMap(({ counts }) => counts)) {
    const total = (totals.get(counter) ?? attached.parts.journal.total(counter)) + add;
    totals.set(counter, total);
    if (limit === null || total <= limit) continue;
    const message = `all operations together: ${counter} would be ${total} of ${limit}`;
    const spent = counter.startsWith("warrant/");
    return { kind: "ended", reason: spent ? "warrant_refused" : "budget_exceeded", message };
  }
  return undefined;
}

async function ask(attached: Attached, node: string, judged: readonly Judgement[]): Promise<Turn> {
  const operations = judged.map(({ frozen }) => frozen);
  const request = await openRequest(attached.parts, attached.lease, node, operations);
  attached.requests.push(request);
  attached.waiting.set(node, request);
  return { kind: "waiting" };
}

type Decided =
  | Exclude<Turn, { kind: "settled" }>
  | { readonly kind: "approved"; readonly approvals: readonly UsedApproval[] };

async function decide(attached: Attached, node: string, request: OpenRequest): Promise<Decided> {
  const { parts } = attached;
  const { approvals, rejection } = decisionsOn(parts, request);
  if (rejection !== null) {
    const { approver } = rejection.approval;
    return { kind: "ended", reason: "approval_rejected", message: `${approver} rejected it` };
  }
  if (approvals.length >= parts.policy.document.approvals.required) {
    attached.waiting.delete(node);
    const used = approvals.map((checked) => ({ nonce: request.nonce, checked }));
    return { kind: "approved", approvals: used };
  }
  if (request.expires !== null && parts.clock.wallMs() / 1000 >= request.expires) {
    const message = "nobody decided before the request expired";
    return { kind: "ended", reason: "approval_expired", message };
  }
  attached.waiting.set(node, request);
  return { kind: "waiting" };
}

async function refuse(
  attached: Attached,
  { node, index }: PlannedOperation,
  refusal: Refusal,
): Promise<Turn> {
  const receipt = await fileRefusal(attached.parts, attached.lease, refusal);
  if (receipt !== null) attached.receipts.push(receipt);
  const { code, message } = refusal;
  return {
    kind: "settled",
    settled: {
      node,
      index,
      outcome: "refused",
      result: undefined,
      admitted: false,
      refusal: { code, message },
    },
  };
}

function gateRequest(
  drive: Drive,
  attached: Attached,
  operation: PlannedOperation,
  category: ToolCategory,
  requestedAt: number,
): GateRequest {
  const { plan, verifier } = drive.program;
  const { node, index, tool, key } = operation;
  return {
    run: drive.id,
    node,
    index,
    call: null,
    attempt: (attached.attempts.get(itemKey(operation)) ?? 0) + 1,
    category,
    tool,
    arguments: operation.arguments,
    key,
    recipe: boundDigest(plan),
    environment: environmentDigest(boundEnvironment(plan)),
    verifiers: [verifier.digest],
    requestedAt,
    ...(category === "effect"
      ? { beforeEffect: ({ arguments: frozen }) => beforeEffect(drive, operation, frozen) }
      : {}),
  };
}

/** Null when the verifier's rule holds for exactly the frozen arguments, else why it does not. */
function beforeEffect(drive: Drive, operation: PlannedOperation, frozen: JsonValue): string | null {
  const { program, state } = drive;
  const rule = program.verifier.beforeEffect;
  if (rule === null || state === null) return "there is no rule for this effect";
  const proposed = { ...operation, arguments: frozen };
  try {
    const context = proposedContext(program, state, proposed);
    const holds = rule.evaluate({ inputs: [context], nodes: [] });
    return holds === true ? null : "the verifier's rule before effects is false";
  } catch (error) {
    const why = error instanceof EvaluationFailure ? error.message : "it broke";
    return `the verifier's rule before effects cannot be evaluated: ${why}`;
  }
}

function requestFor(attached: Attached, operation: PlannedOperation): OpenRequest | undefined {
  return attached.requests.findLast((request) => shownIn(request, operation) !== undefined);
}

function shownIn(request: OpenRequest, { node, index }: PlannedOperation) {
  return request.operations.find(
    ({ operation }) => operation.node === node && operation.index === index,
  );
}

export function countAttempt(attached: Attached, item: ItemOf): void {
  const key = itemKey(item);
  attached.attempts.set(key, (attached.attempts.get(key) ?? 0) + 1);
}

type ItemOf = { readonly node: string; readonly index: number | null };

function itemKey({ node, index }: ItemOf): string {
  return `${node}/${index ?? ""}`;
}
