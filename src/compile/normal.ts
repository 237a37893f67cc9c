/**
 * The recipe in normal form: what its digest is made from.
 *
 * Nodes stand in plan order, expressions in long form, types written out, `after` and `output` always present; sets of
 * ids and codes are sorted; members that equal their default are left out. Title and description are part of it: they
 * are what a reviewer was shown.
 */
import { assertNever } from "../base/assert.ts";
import type { JsonValue } from "../base/json.ts";
import { compareText } from "../base/text.ts";
import { typeToJson } from "../expression/index.ts";
import { DEFAULT_ITEM, DEFAULT_ROLE } from "../model/names.ts";
import { DEFAULT_RUN_LIMITS, type RunLimits } from "../model/plan.ts";
import type { StepDocument } from "../model/recipe.ts";
import type { CheckedNode, CheckedRecipe } from "./3-check.ts";
import { STEP_SLOTS } from "./parsed.ts";

type Members = { [key: string]: JsonValue };

export function normalRecipe(recipe: CheckedRecipe): JsonValue {
  const { parsed, nodes } = recipe.resolved;
  const inputs: Members = Object.create(null);
  for (const [name, type] of parsed.inputs) if (type !== undefined) inputs[name] = typeToJson(type);
  const normal: Members = { version: 1, id: parsed.id ?? "" };
  if (parsed.title !== null) normal["title"] = parsed.title;
  if (parsed.description !== null) normal["description"] = parsed.description;
  if (parsed.environment !== null) normal["environment"] = { ...parsed.environment };
  normal["inputs"] = inputs;
  normal["terminal"] = parsed.terminal ?? "";
  const limits = normalLimits(parsed.limits);
  if (limits !== undefined) normal["limits"] = limits;
  const ids = nodes.map(({ id }) => id);
  normal["nodes"] = recipe.nodes.map((node) => normalNode(node, ids));
  return normal;
}

function normalLimits(limits: Partial<RunLimits>): JsonValue | undefined {
  const lowered: Members = {};
  for (const [name, most] of Object.entries(DEFAULT_RUN_LIMITS)) {
    const value = limits[name as keyof RunLimits];
    if (value !== undefined && value !== most) lowered[name] = value;
  }
  return Object.keys(lowered).length === 0 ? undefined : lowered;
}

function normalNode({ resolved, slots, types }: CheckedNode, ids: readonly string[]): JsonValue {
  const { each, step } = resolved.parsed;
  const after = resolved.after.map((index) => ids[index] ?? "").sort(compareText);
  const normal: Members = { id: resolved.id, after, output: typeToJson(types.declared) };
  if (slots.when !== undefined) normal["when"] = slots.when.normal;
  if (each !== undefined && slots.list !== undefined) {
    const { as, limit } = each;
    const list = slots.list.normal;
    normal["each"] = as === DEFAULT_ITEM ? { list, limit } : { list, as, limit };
  }
  if (step !== undefined) normal["step"] = normalStep(step, slots);
  return normal;
}

function normalStep(step: StepDocument, slots: CheckedNode["slots"]): JsonValue {
  const normal: Members = { kind: step.kind, ...fixedMembers(step) };
  for (const slot of STEP_SLOTS[step.kind]) {
    const expression = slots[slot];
    if (expression !== undefined) normal[slot] = expression.normal;
  }
  return normal;
}

/** The members of a step that are no expressions, without those that equal their default. */
function fixedMembers(step: StepDocument): Members {
  switch (step.kind) {
    case "read": {
      const absent = sortedSet(step.absent_on ?? []);
      return absent.length === 0 ? { tool: step.tool } : { tool: step.tool, absent_on: absent };
    }
    case "effect":
      return { tool: step.tool };
    case "approval":
      return { effects: sortedSet(step.effects) };
    case "model": {
      const members: Members = {};
      if (step.role !== undefined && step.role !== DEFAULT_ROLE) members["role"] = step.role;
      if (step.instructions !== undefined) members["instructions"] = step.instructions;
      return members;
    }
    case "verify":
    case "policy":
      return step.message === undefined ? {} : { message: step.message };
    case "pure":
    case "checkpoint":
      return {};
    default:
      return assertNever(step, "step kind");
  }
}

export function sortedSet(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort(compareText);
}
