/** Receipts: signed by a key that may, about exactly the admission they answer, and saying what the entry says. */
import { sameBytes } from "../base/bytes.ts";
import { type Digest, digestBytes, digestText } from "../base/digest.ts";
import { openEnvelope, readEnvelope } from "../base/dsse.ts";
import type { JsonValue } from "../base/json.ts";
import { err, ok, type Result } from "../base/result.ts";
import type { Verify } from "../base/sign.ts";
import { TAGS } from "../base/tags.ts";
import type { Operation, Outcome } from "../model/operation.ts";
import { PAYLOAD_TYPES } from "../model/trust.ts";
import type { TrustStore } from "../trust/trust-store.ts";
import { judgeBelonging, operationFrom } from "./admissions.ts";
import { judgeOutcome } from "./agent.ts";
import { type Bodies, isStatement, type Statement, statementShape } from "./bodies.ts";
import type { Budgets } from "./budgets.ts";
import { readCanonical, textOf } from "./canonical.ts";
import { type Context, type Placed, placeOf, report } from "./context.ts";
import { frozen } from "./operation.ts";
import type { Admission, RunAudit } from "./run-state.ts";
import type { Seen } from "./seen.ts";

type Receipt = Bodies["receipt"];

export interface Receipting {
  readonly context: Context;
  readonly budgets: Budgets;
  readonly naturalKeys: Seen;
  /** Called for an uncertain operation: somebody may reconcile it later. */
  readonly onUncertain: (run: string, admission: Admission) => void;
}

/** Clocks may be set, and the log's time may be ahead of the wall clock; by more than this, somebody should know. */
const CLOCK_TOLERANCE_MS = 60_000;

export async function judgeReceipt(
  receipting: Receipting,
  run: RunAudit,
  placed: Placed,
  body: Receipt,
): Promise<void> {
  const { context } = receipting;
  context.counts.receipts[body.outcome] += 1;
  const admission = body.admission === null ? null : (run.open.get(body.admission) ?? undefined);
  const trust = context.keys.at(placed.index);
  const opened = openReceipt(body.envelope, trust, placed.seconds, await placed.ahead);
  if (!opened.ok) report(context, placed, opened.error.code, opened.error.message);
  const result = await resultIn(context, placed, body);
  if (admission === undefined) {
    const message = `no admission in entry ${body.admission} of the run waits for a receipt`;
    report(context, placed, "receipt_unmatched", message);
  } else {
    const operation =
      admission === null
        ? await refusedOperation(context, run, placed, body.operation)
        : admission.operation;
    if (opened.ok) {
      context.counts.signatures += 1;
      const differs = (message: string) => report(context, placed, "receipt_differs", message);
      compareStatement(opened.value, { run, body, admission, operation, result }, differs);
      compareTimes(context, placed, opened.value, admission);
    }
    compareOutcome(context, placed, body, admission);
    if (run.agent !== null) {
      const { outcome, final, result: content, result_blob: blob } = body;
      const kept = content !== undefined ? { content } : blob !== undefined ? { blob } : undefined;
      const admitted = admission !== null;
      const settled = opened.ok
        ? { admitted, outcome, final, result, kept, refusal: opened.value.predicate.refusal }
        : undefined;
      await judgeOutcome(context, run.agent, placed, operation, settled);
    }
    if (admission !== null) settle(receipting, run, admission, body.outcome);
  }
}

function settle(
  { budgets, naturalKeys, onUncertain }: Receipting,
  run: RunAudit,
  admission: Admission,
  outcome: Outcome,
): void {
  run.open.delete(admission.seq);
  if (outcome === "failed_before_effect") {
    budgets.giveBack(run, admission.reserved);
    if (admission.naturalKey !== null) naturalKeys.delete(admission.naturalKey);
  }
  if (outcome === "uncertain") {
    run.uncertain = true;
    onUncertain(run.id, admission);
  }
}

interface ReceiptFault {
  readonly code: "receipt_signature" | "receipt_malformed";
  readonly message: string;
}

/** The statement of a receipt whose one signature is by a key that may sign receipts at that time. */
export function openReceipt(
  envelope: JsonValue,
  trust: TrustStore | undefined,
  seconds: number,
  check?: Verify,
): Result<Statement, ReceiptFault> {
  const unsigned = (message: string) => err({ code: "receipt_signature", message } as const);
  const read = readEnvelope(envelope);
  if (!read.ok) return unsigned("the receipt is not an envelope with signatures");
  if (trust === undefined) {
    return unsigned("no trust store that the auditor vouches for is in force");
  }
  let why = "";
  const find = (id: string) => {
    const usable = trust.usable(id, "receipt", seconds);
    if (usable.ok) return trust.key(id)?.key;
    why = ` (the key ${id}: ${usable.error})`;
    return undefined;
  };
  const opened = openEnvelope(read.value, PAYLOAD_TYPES.receipt, find, check);
  if (!opened.ok) return unsigned(`the receipt is refused: ${opened.error}${why}`);
  const json = readCanonical(opened.value.payload);
  const malformed = (message: string) => err({ code: "receipt_malformed", message } as const);
  if (!json.ok) return malformed(`the statement is not canonical JSON: ${json.error.message}`);
  if (isStatement(json.value)) return ok(json.value);
  return malformed(`the statement: ${statementShape(json.value) ?? ""}`);
}

interface Facts {
  readonly run: RunAudit;
  readonly body: Receipt;
  readonly admission: Admission | null;
  readonly operation: Operation | null;
  /** Bare digest of the result; null when there is none, undefined when it cannot be read. */
  readonly result: string | null | undefined;
}

/** Compares every member of the statement with what the record says beside it. */
function compareStatement(
  { subject, predicate }: Statement,
  { run, body, admission, operation, result }: Facts,
  differs: (message: string) => void,
): void {
  const compare = (what: string, said: unknown, is: unknown) => {
    if (said !== is) differs(`its ${what} is ${shown(said)}, and the record's is ${shown(is)}`);
  };
  const [about, what, another] = subject;
  compare("first subject", about?.name, "operation");
  compare("operation", about?.digest.sha256, body.operation.slice("sha256:".length));
  if (what !== undefined) compare("second subject", what.name, "result");
  if (another !== undefined) differs("it has more than two subjects");
  if (result !== undefined) compare("result", what?.digest.sha256 ?? null, result);
  compare("run", predicate.run, run.id);
  compare("outcome", predicate.outcome, body.outcome);
  compare("admission", predicate.admission?.seq ?? null, admission?.seq ?? null);
  compare("admission's entry", predicate.admission?.entry ?? null, admission?.hash ?? null);
  if (admission !== null) {
    compare("operation", body.operation, admission.digest);
    compare("approvals", predicate.approvals.join(), admission.approvals.join());
    compare("rules", predicate.policy.rules.join("\n"), admission.rules.join("\n"));
  } else {
    compare("approvals", predicate.approvals.length, 0);
  }
  if (operation === null) return;
  for (const member of ["audience", "node", "index", "call", "attempt", "warrant"] as const) {
    compare(member, predicate[member], operation[member]);
  }
  compare("policy", predicate.policy.digest, operation.policy);
  compare("target", predicate.target.name, operation.tool.name);
  const verdict = verdictFor(body, admission, operation, predicate.refusal?.code);
  const expected = operation.verifiers.map((digest) => `${digest} ${verdict}`);
  const said = predicate.verifiers.map((each) => `${each.digest} ${each.verdict}`);
  compare("verifiers", said.join(", "), expected.join(", "));
  const { refusal, started, finished } = predicate;
  compare("refusal", refusal === null, body.outcome === "done");
  if (admission === null) compare("times", started ?? finished, null);
  else compare("end", finished === null, false);
}

/** Before an effect the verifier is asked; before a read, or when something refused earlier, it is not. */
function verdictFor(
  body: Receipt,
  admission: Admission | null,
  { tool }: Operation,
  code: string | undefined,
): Statement["predicate"]["verifiers"][number]["verdict"] {
  if (admission !== null) return tool.category === "effect" ? "passed" : "not_asked";
  return code === "before_effect_refused" && body.outcome === "refused" ? "refused" : "not_asked";
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function compareTimes(
  context: Context,
  placed: Placed,
  { predicate: { started, finished } }: Statement,
  admission: Admission | null,
): void {
  const disagree = (message: string) => report(context, placed, "times_disagree", message);
  const { time } = placed.entry;
  const begun = started ?? finished;
  if (finished !== null && started !== null && finished < started) {
    disagree(`it finished at ${finished}, before it started at ${started}`);
  }
  if (finished !== null && finished > time + CLOCK_TOLERANCE_MS) {
    disagree(`it finished at ${finished}, long after its entry's ${time}`);
  }
  if (begun !== null && admission !== null && begun < admission.timeMs - CLOCK_TOLERANCE_MS) {
    disagree(`it started at ${begun}, long before its admission at ${admission.timeMs}`);
  }
}

/** Which outcomes can be: an effect that was let through is never plainly refused. */
function compareOutcome(
  context: Context,
  placed: Placed,
  body: Receipt,
  admission: Admission | null,
): void {
  const differs = (message: string) => report(context, placed, "receipt_differs", message);
  const { outcome, final } = body;
  const category = admission?.operation?.tool.category;
  const possible: readonly Outcome[] =
    admission === null
      ? ["refused"]
      : category === "read"
        ? ["done", "failed_before_effect", "refused", "uncertain"]
        : category === "effect"
          ? ["done", "failed_before_effect", "uncertain"]
          : [outcome];
  if (!possible.includes(outcome)) {
    const what =
      admission === null ? "an operation that was not admitted" : `an admitted ${category}`;
    differs(`the outcome of ${what} is never ${outcome}`);
  }
  if (!final && outcome !== "refused") differs(`an outcome ${outcome} is final`);
  const hasResult = body.result !== undefined || body.result_blob !== undefined;
  if (hasResult !== (outcome === "done"))
    differs(`a receipt with outcome ${outcome} has ${hasResult ? "a" : "no"} result`);
}

/** Bare digest of the result that is kept; null when there is none, undefined when it cannot be read. */
async function resultIn(
  context: Context,
  placed: Placed,
  { result, result_blob: blob }: Receipt,
): Promise<string | null | undefined> {
  if (result !== undefined) return bare(digestText(TAGS.result, textOf(result)));
  if (blob === undefined) return null;
  const bytes = await context.blobs.read(blob, placeOf(placed), "a result");
  if (bytes === undefined) return undefined;
  if (readCanonical(bytes).ok) return bare(digestBytes(TAGS.result, bytes));
  report(context, placed, "blob_differs", "the result that is kept is not canonical JSON");
  return undefined;
}

function bare(digest: Digest): string {
  return digest.slice("sha256:".length);
}

/** An operation that was never admitted is kept by its digest, so that what was tried can be seen. */
async function refusedOperation(
  context: Context,
  run: RunAudit,
  placed: Placed,
  digest: Digest,
): Promise<Operation | null> {
  const head = Buffer.from(`${TAGS.operation}\n`);
  const bytes = await context.blobs.find(bare(digest), placeOf(placed), "a refused operation");
  if (
    bytes === null ||
    bytes === undefined ||
    !sameBytes(bytes.subarray(0, head.byteLength), head)
  ) {
    const message = `the operation ${digest} that was refused is not kept`;
    report(context, placed, "receipt_unmatched", message);
    return null;
  }
  const operation = operationFrom(context, placed, bytes.subarray(head.byteLength));
  if (operation === null) return null;
  if (frozen(operation).digest !== digest) return null;
  judgeBelonging(context, run, placed, operation);
  return operation;
}
