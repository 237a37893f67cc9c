/** An operation that the host let through: that it is what its digest says, of this run, and was allowed. */
import { isJsonObject, type JsonValue } from "../base/json.ts";
import type { Operation } from "../model/operation.ts";
import { judgeAdmitted } from "./agent.ts";
import { type Bodies, isOperation } from "./bodies.ts";
import type { Budgets } from "./budgets.ts";
import { readCanonical } from "./canonical.ts";
import { type Context, type Placed, placeOf, report } from "./context.ts";
import type { Judge } from "./judgement.ts";
import { frozen, naturalKeyOf, placeIn } from "./operation.ts";
import { judgeRejections, judgeUses } from "./requests.ts";
import type { Admission, RunAudit } from "./run-state.ts";
import type { Seen } from "./seen.ts";

type Admitted = Bodies["admitted"];

export interface Admitting {
  readonly context: Context;
  readonly judge: Judge;
  readonly budgets: Budgets;
  /** Natural keys that are taken. */
  readonly naturalKeys: Seen;
}

export async function judgeAdmission(
  admitting: Admitting,
  run: RunAudit,
  placed: Placed,
  body: Admitted,
): Promise<void> {
  const { context, judge, budgets, naturalKeys } = admitting;
  const operation = await operationIn(context, placed, body.operation);
  judgeUses(context, run, placed, body.digest, body.approvals);
  judgeRejections(context, run, placed, body.digest);
  let naturalKey: string | null = null;
  if (operation !== null) {
    context.counts.admissions[operation.tool.category] += 1;
    const { digest } = frozen(operation);
    if (digest !== body.digest) {
      const message = `the entry names ${body.digest}, and the operation is ${digest}`;
      report(context, placed, "operation_differs", message);
    }
    judgeBelonging(context, run, placed, operation);
    judgeUnchanged(context, run, placed, operation);
    judgeNode(context, run, placed, operation, body);
    const place = placeIn(operation);
    if (run.places.has(place)) {
      report(context, placed, "operation_repeated", `${place} of this run was admitted before`);
    }
    run.places.add(place);
    naturalKey = naturalKeyOf(operation);
    if (naturalKey !== null && !naturalKeys.add(naturalKey)) {
      const message = `the effect ${JSON.stringify(naturalKey)} was admitted before and not released`;
      report(context, placed, "key_repeated", message);
    }
    judgeTrust(context, placed, operation);
    const judged = await judge.judge(placed, operation, body);
    await budgets.reserve(run, placed, operation, body.reserved, judged);
  }
  if (operation === null && run.agent !== null) run.agent.count.unsure = true;
  const { digest, approvals, rules, reserved } = body;
  run.open.set(placed.entry.seq, {
    seq: placed.entry.seq,
    hash: placed.hash,
    timeMs: placed.entry.time,
    digest,
    operation,
    approvals: approvals.map(({ envelope }) => envelope),
    rules,
    reserved,
    naturalKey,
  } satisfies Admission);
}

async function operationIn(
  context: Context,
  placed: Placed,
  given: JsonValue,
): Promise<(JsonValue & Operation) | null> {
  if (isOperation(given)) return given;
  const name = isJsonObject(given) ? given["blob"] : null;
  if (typeof name !== "string") return null;
  const bytes = await context.blobs.read(name, placeOf(placed), "an operation");
  return bytes === undefined ? null : operationFrom(context, placed, bytes);
}

/** The operation in bytes that were kept of it. */
export function operationFrom(
  context: Context,
  placed: Placed,
  bytes: Uint8Array,
): (JsonValue & Operation) | null {
  const json = readCanonical(bytes);
  if (json.ok && isOperation(json.value)) return json.value;
  report(context, placed, "blob_differs", "what is kept of an operation is not one");
  return null;
}

/** What an operation shares with the run it stands in, whether it was admitted or refused. */
export function judgeBelonging(
  context: Context,
  { id, made }: RunAudit,
  placed: Placed,
  operation: Operation,
): void {
  compareParts(context, placed, [
    ["run", operation.run, id],
    ["audience", operation.audience, context.keys.origin],
    ["recipe", operation.recipe, made.plan],
    ["verifier", operation.verifiers.join(", "), made.verifier],
  ]);
}

/** What it also shares when it was admitted: nothing had changed since the run began. */
function judgeUnchanged(
  context: Context,
  run: RunAudit,
  placed: Placed,
  operation: Operation,
): void {
  const { environment, policy: bound } = run.made;
  compareParts(context, placed, [["environment", operation.environment, environment]]);
  if (bound !== null && operation.policy !== `sha256:${bound}`) {
    const message = `its policy is ${operation.policy}, and the run is bound to sha256:${bound}`;
    report(context, placed, "operation_foreign", message);
  }
  if (operation.requested_at > placed.entry.time) {
    const message = `it was asked for at ${operation.requested_at}, behind its entry's ${placed.entry.time}`;
    report(context, placed, "times_disagree", message);
  }
}

type Part = readonly [part: string, found: string | null, expected: string | null];

function compareParts(context: Context, placed: Placed, parts: readonly Part[]): void {
  for (const [part, found, expected] of parts) {
    if (found === expected) continue;
    const message = `its ${part} is ${found}, and the run's is ${expected}`;
    report(context, placed, "operation_foreign", message);
  }
}

function judgeNode(
  context: Context,
  run: RunAudit,
  placed: Placed,
  operation: Operation,
  { approvals, ms }: Admitted,
): void {
  if (run.agent !== null) return judgeAdmitted(context, run.agent, placed, operation, ms);
  const { node, index, call, tool } = operation;
  if (run.recipe === undefined) return;
  const facts = run.recipe.nodes.get(node);
  const foreign = (message: string) => report(context, placed, "operation_foreign", message);
  if (facts === undefined) return foreign(`the recipe has no node ${JSON.stringify(node)}`);
  if (facts.kind !== tool.category || facts.tool !== tool.name) {
    foreign(
      `node ${node} is a ${facts.kind} of ${facts.tool}, not a ${tool.category} of ${tool.name}`,
    );
  }
  if (facts.each !== (index !== null) || call !== null) {
    foreign(`node ${node} does not make an operation at index ${index} and call ${call}`);
  }
  if (facts.fenced && approvals.length === 0) {
    const message = `node ${node} stands behind an approval, and none was used`;
    report(context, placed, "approval_missing", message);
  }
}

function judgeTrust(context: Context, placed: Placed, { trust }: Operation): void {
  const store = context.keys.inForce();
  const outdated = (message: string) => report(context, placed, "trust_outdated", message);
  if (store === undefined) outdated("no trust store that the auditor vouches for is in force");
  else if (store.digest !== trust) {
    outdated(`it was judged by ${trust}, and ${store.digest} is in force`);
  } else if (store.expired(placed.seconds)) {
    outdated(`version ${store.document.version} of the trust store had expired`);
  }
}
