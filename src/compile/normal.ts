/**
 * The recipe in normal form, as canonical text (RFC 8785): what its digest is made from.
 *
 * Nodes stand in plan order, expressions in long form, types written out, `after` and `output` always present; sets of
 * ids and codes are sorted; members that equal their default are left out. Title and description are part of it: they
 * are what a reviewer was shown.
 *
 * It is written as text straight away, since the text is what is hashed, for every recipe, and the JSON is read by few.
 */
import { assertNever } from "../base/assert.ts";
import { type Digest, digestBytes } from "../base/digest.ts";
import { compareText } from "../base/text.ts";
import { type ParsedExpression, typeText } from "../expression/index.ts";
import type { Environment } from "../model/environment.ts";
import { DEFAULT_ITEM, DEFAULT_ROLE } from "../model/names.ts";
import { DEFAULT_RUN_LIMITS, type RunLimits } from "../model/plan.ts";
import type { StepDocument } from "../model/recipe.ts";
import type { Type } from "../model/type.ts";
import type { CheckedNode, CheckedRecipe } from "./3-check.ts";
import type { Slots } from "./parsed.ts";

/** Canonical text of the normal form. */
export function normalRecipe({ resolved, nodes }: CheckedRecipe): string {
  const { parsed } = resolved;
  const ids = resolved.nodes.map(({ id }) => id);
  const types = new TypeTexts();
  return object([
    ["description", optional(parsed.description)],
    ["environment", parsed.environment === null ? null : environmentText(parsed.environment)],
    ["id", quoted(parsed.id ?? "")],
    ["inputs", inputsText(parsed.inputs, types)],
    ["limits", limitsText(parsed.limits)],
    ["nodes", `[${nodes.map((node) => nodeText(node, ids, types)).join(",")}]`],
    ["terminal", quoted(parsed.terminal ?? "")],
    ["title", optional(parsed.title)],
    ["version", "1"],
  ]);
}

/** The digest of a normal form. */
export function digestOfText(tag: string, text: string): Digest {
  return digestBytes(tag, new TextEncoder().encode(text));
}

/** An object whose members are given in the order of canonical text; those that are null are left out. */
export function object(members: readonly (readonly [name: string, text: string | null])[]): string {
  let text = "";
  for (const [name, value] of members) {
    if (value !== null) text += text === "" ? `{"${name}":${value}` : `,"${name}":${value}`;
  }
  return text === "" ? "{}" : `${text}}`;
}

/** Every text that passed the strict reader is well-formed, so `JSON.stringify` escapes it as RFC 8785 does. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}

function optional(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : quoted(text);
}

/** Most nodes share a few types. */
class TypeTexts {
  private readonly known = new Map<Type, string>();

  of(type: Type): string {
    let text = this.known.get(type);
    if (text === undefined) {
      text = typeText(type);
      this.known.set(type, text);
    }
    return text;
  }
}

function environmentText(environment: Environment): string {
  const { credentials, evidence, host_configuration, policy, tools } = environment;
  return object([
    ["credentials", quoted(credentials)],
    ["evidence", quoted(evidence)],
    ["host_configuration", host_configuration === null ? "null" : quoted(host_configuration)],
    ["policy", quoted(policy)],
    ["tools", quoted(tools)],
  ]);
}

function inputsText(inputs: ReadonlyMap<string, Type | undefined>, types: TypeTexts): string {
  return object(
    [...inputs].map(([name, type]) => [name, type === undefined ? null : types.of(type)]),
  );
}

function limitsText(limits: Partial<RunLimits>): string | null {
  const lowered: (readonly [string, string])[] = [];
  for (const [name, most] of Object.entries(DEFAULT_RUN_LIMITS)) {
    const value = limits[name as keyof RunLimits];
    if (value !== undefined && value !== most) lowered.push([name, String(value)]);
  }
  if (lowered.length === 0) return null;
  return object(lowered.sort(([left], [right]) => compareText(left, right)));
}

function nodeText(node: CheckedNode, ids: readonly string[], types: TypeTexts): string {
  const { resolved } = node;
  const { each, step, slots } = resolved.parsed;
  const after = resolved.after.map((index) => ids[index] ?? "");
  const as = each === undefined || each.as === DEFAULT_ITEM ? null : quoted(each.as);
  return object([
    ["after", listText(after)],
    [
      "each",
      each === undefined
        ? null
        : object([
            ["as", as],
            ["limit", String(each.limit)],
            ["list", slots.list?.normalText ?? null],
          ]),
    ],
    ["id", quoted(resolved.id)],
    ["output", types.of(node.types.declared)],
    ["step", step === undefined ? null : stepText(step, slots)],
    ["when", slots.when?.normalText ?? null],
  ]);
}

function stepText(step: StepDocument, slots: Slots<ParsedExpression>): string {
  const kind = ["kind", `"${step.kind}"`] as const;
  const value = ["value", slots.value?.normalText ?? null] as const;
  switch (step.kind) {
    case "pure":
    case "checkpoint":
      return object([kind, value]);
    case "read": {
      const absent = step.absent_on ?? [];
      return object([
        ["absent_on", absent.length === 0 ? null : listText(absent)],
        ["arguments", slots.arguments?.normalText ?? null],
        kind,
        ["tool", quoted(step.tool)],
      ]);
    }
    case "model":
      return object([
        ["instructions", optional(step.instructions)],
        kind,
        ["prompt", slots.prompt?.normalText ?? null],
        ["role", step.role === DEFAULT_ROLE ? null : optional(step.role)],
      ]);
    case "verify":
      return object([
        ["condition", slots.condition?.normalText ?? null],
        kind,
        ["message", optional(step.message)],
        value,
      ]);
    case "policy":
      return object([
        ["condition", slots.condition?.normalText ?? null],
        kind,
        ["message", optional(step.message)],
      ]);
    case "approval":
      return object([["effects", listText(step.effects)], kind]);
    case "effect":
      return object([
        ["arguments", slots.arguments?.normalText ?? null],
        ["key", slots.key?.normalText ?? null],
        kind,
        ["tool", quoted(step.tool)],
      ]);
    default:
      return assertNever(step, "step kind");
  }
}

/** A set of texts. */
function listText(texts: readonly string[]): string {
  return texts.length === 0 ? "[]" : `[${sortedSet(texts).map(quoted).join(",")}]`;
}

export function sortedSet(texts: readonly string[]): readonly string[] {
  return texts.length < 2 ? texts : [...new Set(texts)].sort(compareText);
}
