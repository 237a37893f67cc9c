/** Requests for approval, decisions on them, and whether an operation was admitted by decisions that allowed it. */
import { type Digest, isDigest } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import { displayDigest, renderOperations } from "../host/show.ts";
import type { Operation } from "../model/operation.ts";
import { approvalSchema, PAYLOAD_TYPES } from "../model/trust.ts";
import { type ApprovalRequest, checkApproval } from "../trust/approval.ts";
import { openByRole } from "../trust/role-document.ts";
import { type Bodies, isOperation } from "./bodies.ts";
import { readCanonical } from "./canonical.ts";
import { type Context, type Placed, placeOf, report } from "./context.ts";
import { type FrozenOperation, frozen } from "./operation.ts";
import type { Filed, Request, RunAudit } from "./run-state.ts";

/** What one signature covers at most. */
const MOST_SHOWN = 1000;

export async function judgeRequest(
  context: Context,
  run: RunAudit,
  placed: Placed,
  body: Bodies["approval_requested"],
): Promise<{ readonly request: Request; readonly shown: readonly Operation[] }> {
  context.counts.approvals.requests += 1;
  const differs = (message: string) => report(context, placed, "request_differs", message);
  const { nonce, node, display, expires } = body;
  if (run.requests.has(nonce)) differs(`the nonce ${nonce} was used for another request before`);
  const shown = await shownIn(context, placed, body);
  for (const { operation } of shown) {
    if (operation.run !== run.id) differs(`it shows an operation of run ${operation.run}`);
    if (operation.audience !== context.keys.origin) {
      differs(`it shows an operation for ${operation.audience}`);
    }
  }
  if (shown.length !== body.count || shown.length === 0 || shown.length > MOST_SHOWN) {
    differs(`it says that ${body.count} operations were shown, and ${shown.length} were`);
  }
  const rendered = displayDigest(renderOperations(run.id, shown));
  if (rendered !== display)
    differs(`the text shown was ${display}; these operations give ${rendered}`);
  for (const policy of new Set(shown.map(({ operation }) => operation.policy))) {
    await context.documents.policy(policy, placeOf(placed));
  }
  const request: Request = {
    run: run.id,
    node,
    nonce,
    index: placed.index,
    operations: shown.map(({ digest }) => digest),
    policy: shown[0]?.operation.policy ?? null,
    display,
    expires,
    rejected: null,
  };
  run.requests.set(nonce, request);
  return { request, shown: shown.map(({ operation }) => operation) };
}

async function shownIn(
  context: Context,
  placed: Placed,
  { shown }: Bodies["approval_requested"],
): Promise<readonly FrozenOperation[]> {
  const bytes = await context.blobs.read(shown, placeOf(placed), "what was shown");
  if (bytes === undefined) return [];
  const json = readCanonical(bytes);
  if (!json.ok || !Array.isArray(json.value)) {
    report(context, placed, "blob_differs", "what was shown is not a canonical list of operations");
    return [];
  }
  return (json.value as readonly JsonValue[]).flatMap((value, at) => {
    if (isOperation(value)) return [frozen(value)];
    report(context, placed, "blob_differs", `number ${at} of what was shown is not an operation`);
    return [];
  });
}

/** A decision on the host's chain about an open request. */
export function judgeDecision(
  context: Context,
  placed: Placed,
  run: RunAudit,
  request: Request,
  body: Bodies["approval_received"],
  envelope: JsonValue,
): void {
  const refuse = (message: string) => report(context, placed, "decision_refused", message);
  // By what the host could know: a key that was revoked afterwards counts where an approval of it was used.
  const trust = context.keys.inForce();
  if (trust === undefined) return refuse("no trust store that the auditor vouches for is in force");
  const checked = checkApproval(envelope, askedBy(context, request), trust, placed.seconds);
  if (!checked.ok) return refuse(`the decision is refused: ${checked.error}`);
  context.counts.signatures += 1;
  const { approval } = checked.value;
  if (approval.approver !== body.approver || approval.decision !== body.decision) {
    refuse(`it is ${approval.approver}'s to ${approval.decision}, and the entry says otherwise`);
  }
  const filed: Filed = {
    request,
    envelope,
    index: placed.index,
    seconds: placed.seconds,
    judged: checked.value,
    trust: trust.digest,
  };
  run.filed.set(checked.value.digest, filed);
  if (approval.decision === "reject") {
    context.counts.approvals.rejected += 1;
    request.rejected ??= filed;
  } else {
    context.counts.approvals.approved += 1;
  }
}

/**
 * A decision that was filed when its run had ended, and its request was forgotten: it approves nothing, but whose it is
 * and what of is said by its signature alone, as of any other.
 */
export function judgeLate(
  context: Context,
  placed: Placed,
  body: Bodies["approval_received"],
  envelope: JsonValue,
): void {
  context.counts.approvals.late += 1;
  const refuse = (message: string) => report(context, placed, "decision_refused", message);
  const trust = context.keys.inForce();
  if (trust === undefined) return refuse("no trust store that the auditor vouches for is in force");
  const { run, nonce } = body;
  const opened = openByRole(
    envelope,
    PAYLOAD_TYPES.approval,
    approvalSchema,
    trust,
    "approver",
    placed.seconds,
  );
  if (!opened.ok) return refuse(`the decision is refused: ${opened.error}`);
  const { approver, decision, ...named } = opened.value.document;
  // Its schema lets nothing but digests through.
  const operations = named.operations.filter(isDigest);
  const display = named.display as Digest;
  const asked = { audience: context.keys.origin, run, nonce, operations, display };
  const checked = checkApproval(envelope, asked, trust, placed.seconds);
  if (!checked.ok) return refuse(`the decision is refused: ${checked.error}`);
  context.counts.signatures += 1;
  if (approver === body.approver && decision === body.decision) return;
  refuse(`it is ${approver}'s to ${decision}, and the entry says otherwise`);
}

function askedBy({ keys }: Context, request: Request): ApprovalRequest {
  const { run, nonce, operations, display } = request;
  return { audience: keys.origin, run, nonce, operations, display };
}

/** Why a decision does not approve what its request showed, at this place of the record; null when it does. */
function approvalFault(context: Context, placed: Placed, filed: Filed): string | null {
  const { approval } = filed.judged;
  const { expires } = filed.request;
  if (approval.decision !== "approve") return `${approval.approver} rejected it`;
  if (expires !== null && filed.seconds >= expires) return "it came after the request had expired";
  // What is learned of keys later counts from where the decision was filed.
  const trust = context.keys.at(filed.index);
  if (trust === undefined) return "no trust store that the auditor vouches for is in force";
  if (trust.digest === filed.trust && placed.seconds < filed.judged.until) {
    const usable = trust.usable(filed.judged.key, "approver", placed.seconds);
    return usable.ok ? null : `its key does not count: ${usable.error}`;
  }
  const asked = askedBy(context, filed.request);
  const checked = checkApproval(filed.envelope, asked, trust, placed.seconds);
  if (!checked.ok) return `it does not count any more: ${checked.error}`;
  context.counts.signatures += 1;
  filed.judged = checked.value;
  filed.trust = trust.digest;
  return null;
}

type Used = Bodies["admitted"]["approvals"][number];

/** Approvals in an admission: each exists, counts now, covers the operation and was not used for it before. */
export function judgeUses(
  context: Context,
  run: RunAudit,
  placed: Placed,
  digest: Digest,
  used: readonly Used[],
): void {
  const approvers = new Set<string>();
  for (const { envelope, approver, key } of used) {
    const filed = run.filed.get(envelope);
    if (filed === undefined) {
      const message = `the approval ${envelope} of ${approver} is not on the host's chain before it`;
      report(context, placed, "approval_unknown", message);
      continue;
    }
    const { request, judged } = filed;
    const invalid = (message: string) =>
      report(context, placed, "approval_invalid", `the approval ${envelope}: ${message}`);
    const fault = approvalFault(context, placed, filed);
    if (fault !== null) invalid(fault);
    if (!request.operations.includes(digest)) {
      invalid(`it is about ${request.operations.join(", ")} and not about ${digest}`);
    }
    if (judged.approval.approver !== approver || judged.key !== key) {
      invalid(
        `it is ${judged.approval.approver}'s under ${judged.key}, not ${approver}'s under ${key}`,
      );
    }
    if (approvers.has(approver) || approvers.has(key)) {
      invalid(`${approver} or the key ${key} is counted twice`);
    }
    approvers.add(approver).add(key);
    const use = `${request.nonce}/${digest}/${approver}`;
    if (run.consumed.has(use)) {
      const message = `the approval ${envelope} was used for ${digest} before`;
      report(context, placed, "approval_reused", message);
    }
    run.consumed.add(use);
    context.counts.approvals.used += 1;
  }
}

/** A rejection that stood before the admission, whichever request it was of. */
export function judgeRejections(
  context: Context,
  run: RunAudit,
  placed: Placed,
  digest: Digest,
): void {
  for (const { rejected, operations } of run.requests.values()) {
    if (rejected === null || !operations.includes(digest)) continue;
    const { approver } = rejected.judged.approval;
    const message = `${approver} rejected ${digest} in entry ${rejected.index} of the log`;
    report(context, placed, "approval_overruled", message);
  }
}

/** A fence that let its operations pass. It grants nothing: each is judged again when it is admitted. */
export async function judgeFence(
  context: Context,
  run: RunAudit,
  placed: Placed,
  { node, approvals }: Bodies["approved"],
): Promise<void> {
  const approvers = new Set<string>();
  let required: number | undefined;
  for (const digest of approvals) {
    const filed = run.filed.get(digest);
    if (filed === undefined || filed.request.node !== node) {
      const message = `the approval ${digest} is not on the host's chain before it, for this fence`;
      report(context, placed, "approval_unknown", message);
      continue;
    }
    const { request, judged } = filed;
    const fault = approvalFault(context, placed, filed);
    if (fault !== null)
      report(context, placed, "approval_invalid", `the approval ${digest}: ${fault}`);
    approvers.add(judged.approval.approver);
    required ??= await requiredBy(context, placed, request.policy);
  }
  if (approvers.size < (required ?? 1)) {
    const message = `the fence passed with ${approvers.size} approvals of ${required ?? 1}`;
    report(context, placed, "approval_missing", message);
  }
}

async function requiredBy(
  { documents }: Context,
  placed: Placed,
  policy: Digest | null,
): Promise<number | undefined> {
  if (policy === null) return undefined;
  return (await documents.policy(policy, placeOf(placed)))?.approvals.required;
}
