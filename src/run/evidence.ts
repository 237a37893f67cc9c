/** What a run has to show for itself, made from its own state: commitments, and the model answers. */
import { canonicalText } from "../base/canonical.ts";
import { type Digest, digestOf } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import { TAGS } from "../base/tags.ts";
import { environmentDigest } from "../compile/environment.ts";
import { writeValue } from "../expression/index.ts";
import type { PlanNode } from "../model/plan.ts";
import type { ModelExchange, RunEvidence } from "../model/run.ts";
import { type Drive, stateName } from "./drive.ts";
import { promptDigest } from "./learned.ts";
import { boundDigest, boundEnvironment } from "./program.ts";

export function evidenceFrom(drive: Drive, receipts: readonly Digest[]): RunEvidence {
  const { plan, verifier } = drive.program;
  const state = stateName(drive);
  const result = resultOf(drive);
  const environment = boundEnvironment(plan);
  return Object.freeze({
    run: drive.id,
    task: plan.id,
    plan: boundDigest(plan),
    verifier: verifier.digest,
    environment: environmentDigest(environment),
    environmentParts: environment,
    semantics: plan.semantics,
    mode: drive.mode,
    state,
    reason: drive.state?.end?.reason ?? null,
    independentlyVerified: state === "verified",
    inputs: digestOf(TAGS.inputs, drive.inputs),
    result: result === undefined ? null : digestOf(TAGS.result, result),
    receipts: Object.freeze(receipts.slice()),
    models: Object.freeze(plan.nodes.flatMap((node) => exchangesOf(drive, node))),
    twins: Object.freeze(plan.nodes.flatMap((node) => twinOf(drive, node))),
  });
}

/** The result in its JSON form; undefined unless the run is verified, since nothing less is a result. */
export function resultOf(drive: Drive): JsonValue | undefined {
  const { state, program } = drive;
  if (state?.end?.reason !== "completed") return undefined;
  const value = state.outputs[program.plan.terminal] ?? null;
  return writeValue(program.plan.result, value);
}

function exchangesOf(drive: Drive, node: PlanNode): readonly ModelExchange[] {
  const state = drive.state?.nodes[node.index];
  if (state === undefined || !("items" in state)) return [];
  return state.items.flatMap((item): readonly ModelExchange[] => {
    if (item.kind !== "model" || item.settled === null) return [];
    const { answer, model, source } = item.settled;
    const prompt = promptDigest(item.prompt);
    return [Object.freeze({ node: node.id, index: item.index, prompt, answer, model, source })];
  });
}

/** Whether a guided run computed the same as a compiled run would have taken from the twin. */
function twinOf(drive: Drive, node: PlanNode): readonly { node: string; agreed: boolean }[] {
  const { state, program } = drive;
  const twin = node.twin === null ? undefined : program.plan.nodes[node.twin];
  if (drive.mode !== "guided" || state === null || twin === undefined) return [];
  if (state.nodes[node.index]?.kind !== "done" || state.nodes[twin.index]?.kind !== "done")
    return [];
  const own = writeValue(node.output, state.outputs[node.index] ?? null);
  const other = writeValue(twin.output, state.outputs[twin.index] ?? null);
  return [Object.freeze({ node: node.id, agreed: canonicalText(own) === canonicalText(other) })];
}
