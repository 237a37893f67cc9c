/**
 * One operation of a run through the gate: judged, approved where that is wanted, admitted, dispatched, receipted.
 *
 * - O1 An operation that was shown for approval is judged anew before it is admitted, and must still be the one that
 *   was shown. When it is not, nothing is dispatched and approval is asked for anew, unless what was shown was rejected.
 * - O2 What the gate refuses is filed as a receipt and ends the run; nothing here decides otherwise.
 * - O3 What stands behind a fence is never done without an approval, whatever the policy would allow.
 */
import type { JsonValue } from "../base/json.ts";
import { EvaluationFailure } from "../expression/index.ts";
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
  toolsOf,
  type UsedApproval,
  type Verdict,
  verdictOn,
} from "../host/index.ts";
import { GATE_CODES, type GateCode } from "../model/operation.ts";
import type { StopReason } from "../model/stop.ts";
import type { ToolCategory } from "../model/trust.ts";
import { type Attached, attemptsOf, countAttempt } from "./attached.ts";
import { proposedContext } from "./context.ts";
import { type Drive, spentMs } from "./drive.ts";
import type { Settled } from "./entries.ts";
import type { PlannedOperation } from "./event.ts";
import {
  boundDigest,
  boundEnvironmentDigest,
  digestOfEnvironment,
  type Program,
} from "./program.ts";

export type Turn =
  /** With the place of its receipt in the log. */
  | { readonly kind: "settled"; readonly settled: Settled; readonly receipt: number }
  /** The run waits for an approval. */
  | { readonly kind: "waiting" }
  /** The run ends here, and no receipt says so. */
  | Ended;

interface Ended {
  readonly kind: "ended";
  readonly reason: StopReason;
  readonly message: string;
  readonly code?: GateCode;
}

export async function operate(
  drive: Drive,
  attached: Attached,
  operation: PlannedOperation,
  category: ToolCategory,
): Promise<Turn> {
  for (;;) {
    if (attached.cancel.signal.aborted) {
      return { kind: "ended", reason: "user_cancelled", message: "the run was cancelled" };
    }
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
  const { parts } = attached;
  const request = requestFor(attached, operation);
  const shown = request === undefined ? undefined : shownIn(request, operation);
  const requestedAt = shown?.operation.requested_at ?? parts.clock.wallMs();
  const judged = judge(parts, gateRequest(drive, attached, operation, category, requestedAt));
  if (judged.kind === "refused") return refuse(attached, operation, judged);
  if (request === undefined || shown === undefined) {
    return judged.needsApproval || isFenced(drive.program, operation.node)
      ? ask(attached, operation.node, [judged], null)
      : admitAndPerform(drive, attached, operation, judged, []);
  }
  const decided = decide(
    attached,
    request,
    changeBetween(shown.operation, judged.frozen.operation),
  );
  if (decided.kind === "changed") return ask(attached, operation.node, [judged], decided.replaces);
  if (decided.kind !== "approved") return decided;
  return admitAndPerform(drive, attached, operation, judged, decided.approvals);
}

async function admitAndPerform(
  drive: Drive,
  attached: Attached,
  operation: PlannedOperation,
  judged: Judgement,
  approvals: readonly UsedApproval[],
): Promise<Turn | "again"> {
  const { parts, lease, cancel } = attached;
  const qualification = drive.qualification?.id ?? null;
  const admitting = { qualification, ms: spentMs(drive) };
  const admitted = await admit(parts, lease, judged, approvals, admitting);
  if (admitted.kind === "late") return "again";
  if (admitted.kind === "refused") return refuse(attached, operation, admitted);
  const done = await perform(parts, lease, admitted, cancel.signal);
  attached.receipts.push(done.receipt.digest);
  const { node, index } = operation;
  if (!done.final) {
    countAttempt(attached, operation);
    return "again";
  }
  const { outcome, result, refusal, receipt } = done;
  const settled = { node, index, outcome, result, admitted: true, refusal };
  return { kind: "settled", settled, receipt: receipt.index };
}

/**
 * A fence: all operations of its batch are judged and shown at once, before any of them is done, and again each time it
 * is looked at: nobody should be asked for what would not be done.
 */
export async function fence(
  drive: Drive,
  attached: Attached,
  node: string,
  batch: readonly PlannedOperation[],
): Promise<Decided> {
  const { parts } = attached;
  if (batch.length > MOST_SHOWN) {
    const message = `node "${node}" would show ${batch.length} operations at once, more than ${MOST_SHOWN}`;
    return { kind: "ended", reason: "max_steps", message };
  }
  const request = attached.requests.findLast((one) => one.node === node);
  const requestedAt = request?.operations[0]?.operation.requested_at ?? parts.clock.wallMs();
  const judged: Judgement[] = [];
  for (const operation of batch) {
    // The verifier's rule is asked when the effect is admitted: what it wants to see may not have been read yet.
    const asked = gateRequest(drive, attached, operation, "effect", requestedAt);
    const one = judge(parts, { ...asked, beforeEffect: () => null });
    if (one.kind === "refused") return refuseBatch(attached, one);
    judged.push(one);
  }
  const over = overTogether(attached, judged);
  if (over !== undefined) return over;
  if (request === undefined) return ask(attached, node, judged, null);
  const decided = decide(attached, request, changeIn(request, judged));
  return decided.kind === "changed" ? ask(attached, node, judged, decided.replaces) : decided;
}

function changeIn({ operations }: OpenRequest, judged: readonly Judgement[]): GateCode | undefined {
  if (operations.length !== judged.length) return "arguments_changed";
  for (const [at, { frozen }] of judged.entries()) {
    const shown = operations[at];
    const code = shown && changeBetween(shown.operation, frozen.operation);
    if (code !== undefined) return code;
  }
  return undefined;
}

/** Each operation may be within a budget that all of them are not: checked before a person is asked. */
function overTogether({ parts }: Attached, judged: readonly Judgement[]): Ended | undefined {
  const over = overLimit(
    parts,
    judged.flatMap(({ counts }) => counts),
  );
  return over && endedBy(over.code, `all operations together: ${over.message}`);
}

async function ask(
  attached: Attached,
  node: string,
  judged: readonly Judgement[],
  replaces: Replaced | null,
): Promise<{ readonly kind: "waiting" }> {
  const { parts, lease, requests, waiting } = attached;
  const operations = judged.map(({ frozen }) => frozen);
  const request = await openRequest(parts, lease, node, operations, replaces);
  requests.push(request);
  waiting.set(request.nonce, request);
  if (replaces !== null) waiting.delete(replaces.nonce);
  return { kind: "waiting" };
}

type Decided = Extract<Verdict, { readonly kind: "waiting" | "approved" }> | Ended;

/** Approval is asked for anew. */
interface Changed {
  readonly kind: "changed";
  readonly replaces: Replaced;
}

/** A no to what was shown is a no also when something has changed since. */
function decide(
  { parts, waiting }: Attached,
  request: OpenRequest,
  code: GateCode | undefined,
): Decided | Changed {
  const { nonce } = request;
  const verdict = verdictOn(parts, request);
  if (verdict.kind === "rejected") {
    return endedBy("approval_rejected", `${verdict.approver} rejected it`);
  }
  if (code !== undefined) return { kind: "changed", replaces: { nonce, code } };
  switch (verdict.kind) {
    case "approved":
      waiting.delete(nonce);
      return verdict;
    case "expired":
      return endedBy("approval_expired", "nobody decided before the request expired");
    case "waiting":
      waiting.set(nonce, request);
      return verdict;
  }
}

async function refuse(
  attached: Attached,
  { node, index }: PlannedOperation,
  refusal: Refusal,
): Promise<Turn> {
  const filed = await fileRefusal(attached.parts, attached.lease, refusal, true);
  const { code, message } = refusal;
  if (filed === null) return endedBy(code, message);
  attached.receipts.push(filed.digest);
  const settled = {
    node,
    index,
    outcome: "refused",
    result: undefined,
    admitted: false,
    refusal: { code, message },
  } as const;
  return { kind: "settled", settled, receipt: filed.index };
}

/** It is not the operation's turn yet, so the run ends at the fence; the receipt says which was refused, and why. */
async function refuseBatch(attached: Attached, refusal: Refusal): Promise<Ended> {
  const filed = await fileRefusal(attached.parts, attached.lease, refusal, false);
  if (filed !== null) attached.receipts.push(filed.digest);
  return endedBy(refusal.code, refusal.message);
}

function endedBy(code: GateCode, message: string): Ended {
  return { kind: "ended", reason: GATE_CODES[code], message, code };
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
  const tools = toolsOf(plan);
  return {
    run: drive.id,
    node,
    index,
    call: null,
    attempt: attemptsOf(attached, operation) + 1,
    category,
    tool,
    arguments: operation.arguments,
    key,
    recipe: boundDigest(plan),
    environment: boundEnvironmentDigest(plan),
    environmentNow: () => digestOfEnvironment(environmentFor(attached.parts, tools)),
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

function isFenced({ plan, graph }: Program, node: string): boolean {
  const index = graph.byId.get(node)?.index;
  return plan.nodes.some(
    ({ step }) => step.kind === "approval" && index !== undefined && step.effects.includes(index),
  );
}
