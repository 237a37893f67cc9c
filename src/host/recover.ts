/**
 * Operations that were admitted and have no receipt: the process died, or was overtaken, between the two.
 *
 * U1 They are never dispatched again. What cannot be found out is `uncertain`, for good.
 * U2 Only the tool that was admitted is asked: one that changed, or is not reviewed any more, is not the one that knows.
 *    Its `done` settles as done. Its `absent` settles as failed_before_effect only where the target durably refuses a
 *    late dispatch under the same operation id: the first process may only be paused.
 *    Who lost the run asks nothing: a probe may close the target to what somebody else has in flight.
 * U3 A read that was reviewed as repeatable is closed as broken, and may be attempted anew. Any other read is uncertain:
 *    what it took away, nobody has.
 */

import type { Digest } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import { admitJson, type JsonValue } from "../base/json.ts";
import type { Appended } from "../model/journal.ts";
import type { Outcome } from "../model/operation.ts";
import type { ToolReview } from "../model/trust.ts";
import type { Lease } from "../ports/journal.ts";
import type { ProbeOutcome, Tool } from "../ports/tool.ts";
import { checkToolReview } from "../trust/tool-review.ts";
import { within } from "./dispatch.ts";
import { definitionOf } from "./judge.ts";
import { argumentsOf, type FrozenOperation, refreeze } from "./operation.ts";
import type { HostParts } from "./parts.ts";
import { type AdmissionFacts, leaseLost, type Performed, settle } from "./perform.ts";
import { type Body, storedJson } from "./stored.ts";
import { judgedNow } from "./time.ts";

export interface Recovered {
  readonly frozen: FrozenOperation;
  readonly performed: Performed;
}

export async function recover(
  parts: HostParts,
  lease: Lease,
  entries: readonly Appended[],
): Promise<readonly Recovered[]> {
  const recovered: Recovered[] = [];
  for (const admission of withoutReceipt(parts, entries)) {
    const performed = await settleOne(parts, lease, admission);
    recovered.push({ frozen: admission.frozen, performed });
  }
  return recovered;
}

/** Admissions of a run that no receipt answers, in order. */
export function withoutReceipt(
  parts: HostParts,
  entries: readonly Appended[],
): readonly AdmissionFacts[] {
  const open = new Map<number, Appended>();
  for (const appended of entries) {
    const { type, seq, body } = appended.entry;
    if (type === "admitted") open.set(seq, appended);
    const admission = type === "receipt" ? (body as Body)["admission"] : null;
    if (typeof admission === "number") open.delete(admission);
  }
  return [...open.values()].map((appended) => admissionFrom(parts, appended));
}

/** An admitted operation of a run with its recorded outcome; null as long as it has none. */
export function operationOf(
  parts: HostParts,
  run: string,
  digest: string,
): { readonly admission: AdmissionFacts; readonly outcome: string | null } | undefined {
  let found: { admission: AdmissionFacts; outcome: string | null } | undefined;
  for (const appended of parts.journal.read(run)) {
    const { type, body } = appended.entry;
    const { digest: admitted, admission, outcome } = body as Body;
    if (type === "admitted" && admitted === digest) {
      found = { admission: admissionFrom(parts, appended), outcome: null };
    }
    if (type === "receipt" && found !== undefined && admission === found.admission.seq) {
      found.outcome = String(outcome);
    }
  }
  return found;
}

async function settleOne(
  parts: HostParts,
  lease: Lease,
  admission: AdmissionFacts,
): Promise<Performed> {
  const { frozen } = admission;
  const { category } = frozen.operation.tool;
  const known = knownTool(parts, frozen);
  const found = category === "effect" ? await probe(parts, lease, frozen, known) : undefined;
  const done = { started: null, finished: parts.clock.wallMs(), result: undefined };
  const settled = (outcome: Outcome, refusal: { code: string; message: string }, final = true) =>
    settle(parts, lease, admission, { ...done, outcome, refusal }, final);
  if (category === "read" && known?.review.repeatable === true) {
    const again = frozen.operation.attempt < parts.readAttempts;
    const message = "the process ended before there was an answer";
    return settled("refused", { code: "interrupted", message }, !again);
  }
  if (found?.kind === "done") {
    const { result } = found;
    return settle(
      parts,
      lease,
      admission,
      { ...done, outcome: "done", result, refusal: null },
      true,
    );
  }
  if (found?.kind === "absent" && known?.review.fenced === true) {
    const message = "the target never saw it and refuses it from now on";
    return settled("failed_before_effect", { code: "absent", message });
  }
  return settled("uncertain", {
    code: "no_outcome",
    message: "it was admitted and nothing is known of its outcome; reconcile with the target",
  });
}

async function probe(
  parts: HostParts,
  lease: Lease,
  frozen: FrozenOperation,
  known: KnownTool | undefined,
): Promise<ProbeOutcome | undefined> {
  const tool = known?.tool;
  if (tool?.probe === undefined) return undefined;
  await hold(parts, lease);
  const call = { arguments: argumentsOf(frozen), operationId: frozen.digest };
  try {
    const found = await within(parts.timers, parts.callMs, null, async (signal) =>
      tool.probe?.({ ...call, signal }),
    );
    if (found?.kind !== "done") return found;
    const admitted = admitJson(found.result, { numbers: "finite" });
    return admitted.ok ? { kind: "done", result: admitted.value } : undefined;
  } catch {
    // A probe that cannot tell says nothing about the operation.
    return undefined;
  }
}

/** Makes sure that the run is still ours, and stays so for as long as a probe may take. @throws RoteError `lease_lost` */
async function hold(parts: HostParts, lease: Lease): Promise<void> {
  const held = await parts.journal.append({ lease, entries: [], holdMs: parts.callMs });
  if (!held.ok) throw leaseLost(lease.chain);
}

interface KnownTool {
  readonly tool: Tool;
  readonly review: ToolReview;
}

/** The tool with the review of exactly the definition that was admitted. */
function knownTool(parts: HostParts, { operation }: FrozenOperation): KnownTool | undefined {
  const { name, category, definition } = operation.tool;
  const registered = parts.tools.get(name);
  if (registered == null || registered.review === null) return undefined;
  const now = judgedNow(parts);
  const checked = checkToolReview(registered.review, parts.journal.origin, parts.trust(), now);
  if (!checked.ok || checked.value.review.name !== name) return undefined;
  const { review } = checked.value;
  const { tool } = registered;
  return review.definition === definition &&
    review.category === category &&
    definitionOf(registered) === definition
    ? { tool, review }
    : undefined;
}

function admissionFrom(parts: HostParts, { entry, hash }: Appended): AdmissionFacts {
  const body = entry.body as Body;
  const frozen = refreeze(operationIn(parts, body["operation"] ?? null));
  if (frozen.digest !== body["digest"]) {
    throw new RoteError(
      "journal_damaged",
      `Entry ${entry.seq} of ${entry.chain} names another operation.`,
    );
  }
  const approvals = body["approvals"] as readonly Body[];
  const reserved = body["reserved"] as readonly { counter: string; add: string }[];
  return {
    frozen,
    seq: entry.seq,
    entry: hash,
    approvals: approvals.map(({ envelope }) => envelope as Digest),
    rules: body["rules"] as readonly string[],
    counts: reserved.map(({ counter, add }) => ({ counter, add: BigInt(add), limit: null })),
  };
}

function operationIn(parts: HostParts, json: JsonValue): JsonValue {
  const blob = (json as Body)["blob"];
  return typeof blob === "string" ? storedJson(parts.journal, blob, "operation") : json;
}
