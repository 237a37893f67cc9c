/** Phase 4: a checked recipe becomes a plan. Nothing can be wrong any more, but what it is in full can be too long. */
import { assertNever, invariant } from "../base/assert.ts";
import { digestBytes } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import { TAGS } from "../base/tags.ts";
import { normalJson, valueType } from "../expression/index.ts";
import { DEFAULT_ROLE } from "../model/names.ts";
import {
  DEFAULT_RUN_LIMITS,
  type Plan,
  type PlanEach,
  type PlanInput,
  type PlanNode,
  type PlanStep,
  SEMANTICS_VERSION,
} from "../model/plan.ts";
import type { CompiledExpression } from "../model/value.ts";
import type { CheckedNode, CheckedRecipe } from "./3-check.ts";
import { normalRecipe, sortedSet } from "./normal.ts";
import type { Slot } from "./parsed.ts";
import { findTwins } from "./twins.ts";

const PLAN_TAG = TAGS.plan;

/** Undefined when the normal form is over its limit. */
export function lowerRecipe(recipe: CheckedRecipe): Plan | undefined {
  const { parsed, positions, terminal } = recipe.resolved;
  // Before twins are sought: those compare texts that are no longer than this one in all.
  const bytes = normalRecipe(recipe);
  if (bytes === undefined) return undefined;
  const twins = findTwins(recipe);
  const nodes = Object.freeze(
    recipe.nodes.map((node, index) => planNode(node, positions, twins[index] ?? null)),
  );
  let normal: JsonValue | undefined;
  const last = nodes[terminal ?? -1];
  invariant(last !== undefined && parsed.id !== undefined, "a checked recipe has id and terminal");
  // Frozen part by part: a walk over the whole plan would cost as much as a phase.
  return Object.freeze({
    id: parsed.id,
    title: parsed.title,
    description: parsed.description,
    digest: parsed.environment === null ? null : digestBytes(PLAN_TAG, bytes),
    environment: parsed.environment === null ? null : Object.freeze(parsed.environment),
    get normal() {
      normal ??= normalJson(bytes);
      return normal;
    },
    semantics: SEMANTICS_VERSION,
    inputs: planInputs(recipe),
    nodes,
    terminal: last.index,
    result: last.seen,
    limits: Object.freeze({ ...DEFAULT_RUN_LIMITS, ...parsed.limits }),
    needsHost: nodes.some(({ step }) => HOSTED.has(step.kind)),
  });
}

const HOSTED: ReadonlySet<string> = new Set(["read", "effect", "approval", "checkpoint"]);

function slotOf(slots: ReadonlyMap<string, number>, name: string): number {
  const slot = slots.get(name);
  invariant(slot !== undefined, `"${name}" was resolved`);
  return slot;
}

function planInputs(recipe: CheckedRecipe): readonly PlanInput[] {
  const inputs: PlanInput[] = [];
  for (const [name, reading] of recipe.resolved.parsed.inputs) {
    if (reading === undefined) continue;
    inputs.push(Object.freeze({ name, reading, type: valueType(reading) }));
  }
  return Object.freeze(inputs);
}

function planNode(
  node: CheckedNode,
  positions: ReadonlyMap<string, number>,
  twin: number | null,
): PlanNode {
  const { resolved, slots, types } = node;
  const { each } = resolved.parsed;
  return Object.freeze({
    index: resolved.index,
    id: resolved.id,
    pointer: resolved.parsed.pointer,
    after: Object.freeze(resolved.after),
    when: slots.when ?? null,
    each: each === undefined ? null : planEach(each, expressionIn(node, "list")),
    output: types.output,
    seen: types.seen,
    step: Object.freeze(planStep(node, positions)),
    twin,
  });
}

function planEach(
  { as, limit }: { readonly as: string; readonly limit: number },
  list: CompiledExpression,
): PlanEach {
  return Object.freeze({ list, as, limit });
}

function planStep(node: CheckedNode, positions: ReadonlyMap<string, number>): PlanStep {
  const { step } = node.resolved.parsed;
  invariant(step !== undefined, "a checked node has a step");
  const { reading } = node.types;
  const take = (slot: Slot) => expressionIn(node, slot);
  switch (step.kind) {
    case "pure":
      return { kind: "pure", value: take("value") };
    case "read":
      return {
        kind: "read",
        tool: step.tool,
        arguments: take("arguments"),
        absentOn: Object.freeze(sortedSet(step.absent_on ?? [])),
        reading,
      };
    case "model":
      return {
        kind: "model",
        role: step.role ?? DEFAULT_ROLE,
        prompt: take("prompt"),
        instructions: step.instructions ?? null,
        reading,
      };
    case "verify":
      return {
        kind: "verify",
        condition: take("condition"),
        value: take("value"),
        message: step.message ?? null,
      };
    case "policy":
      return { kind: "policy", condition: take("condition"), message: step.message ?? null };
    case "approval": {
      const effects = sortedSet(step.effects).map((id) => slotOf(positions, id));
      effects.sort((left, right) => left - right);
      return { kind: "approval", effects: Object.freeze(effects) };
    }
    case "effect":
      return {
        kind: "effect",
        tool: step.tool,
        arguments: take("arguments"),
        key: node.slots.key ?? null,
        reading,
      };
    case "checkpoint":
      return { kind: "checkpoint", value: node.slots.value ?? null };
    default:
      return assertNever(step, "step kind");
  }
}

function expressionIn({ resolved, slots }: CheckedNode, slot: Slot): CompiledExpression {
  const expression = slots[slot];
  invariant(expression !== undefined, `node "${resolved.id}" has its ${slot}`);
  return expression;
}
