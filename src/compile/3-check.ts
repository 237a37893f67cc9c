/**
 * Phase 3: types, node by node in plan order, so that every reader knows what it reads; then what only the whole graph
 * shows: effects behind verify nodes, fences before their effects.
 *
 * An expression that checks is compiled on the spot, so that what checking made of it need not be kept for the whole
 * recipe.
 */
import { assertNever } from "../base/assert.ts";
import {
  BOOLEAN,
  checkExpression,
  compileExpression,
  type EvaluationLimits,
  fits,
  listOf,
  NOTHING,
  NULL,
  optionalOf,
  type Scope,
  type TypedExpression,
  typeName,
  valueType,
} from "../expression/index.ts";
import type { Report } from "../model/diagnostic.ts";
import type { StepKind } from "../model/plan.ts";
import type { Type } from "../model/type.ts";
import type { CompiledExpression } from "../model/value.ts";
import { inNodeOf } from "./1-parse.ts";
import type { ResolvedNode, ResolvedRecipe } from "./2-resolve.ts";
import { checkEffects } from "./effects.ts";
import { type Hints, hintsFrom } from "./hints.ts";
import { type Slot, type Slots, STEP_SLOTS } from "./parsed.ts";

export interface CheckedRecipe {
  readonly resolved: ResolvedRecipe;
  readonly nodes: readonly CheckedNode[];
}

export interface CheckedNode {
  readonly resolved: ResolvedNode;
  readonly slots: Slots<CompiledExpression>;
  readonly types: NodeTypes;
}

export interface NodeTypes {
  /** As declared or inferred, reading rules included: what the normal form says. */
  readonly declared: Type;
  /** How one value from outside is read: the declared output, its element with `each`. */
  readonly reading: Type;
  readonly output: Type;
  readonly seen: Type;
}

/** Every node with its types; undefined when some node has none, which has been reported. */
export function checkRecipe(
  resolved: ResolvedRecipe,
  limits: Partial<EvaluationLimits> | undefined,
  report: Report,
): CheckedRecipe | undefined {
  const context = contextOf(resolved, limits);
  const nodes: CheckedNode[] = [];
  for (const node of resolved.nodes) {
    const inNode: Report = (diagnostic) => report(inNodeOf(node.id, diagnostic));
    const checked = checkNode(node, context, inNode);
    context.seen.push(checked?.types.seen);
    if (checked !== undefined) nodes.push(checked);
  }
  checkEffects(resolved, report);
  return nodes.length === resolved.nodes.length ? { resolved, nodes } : undefined;
}

/** Kinds that may be skipped or repeated. A check that may be is no check. */
const GUARDABLE: ReadonlySet<StepKind> = new Set(["pure", "read", "model", "effect"]);

/** What every node's scope has in common. */
interface Context {
  readonly inputs: ReadonlyMap<string, Type>;
  readonly inputHints: Hints;
  readonly nodeHints: Hints;
  readonly positions: ReadonlyMap<string, number>;
  /** By plan index, as far as checked; undefined where the type is not known. */
  readonly seen: (Type | undefined)[];
  readonly compile: (typed: TypedExpression) => CompiledExpression;
}

function contextOf(
  { parsed, nodes, positions }: ResolvedRecipe,
  limits: Partial<EvaluationLimits> | undefined,
): Context {
  const slots = new Map([...parsed.inputs.keys()].map((name, slot) => [name, slot] as const));
  const layout = {
    input: (name: string) => slots.get(name) ?? -1,
    node: (id: string) => positions.get(id) ?? -1,
  };
  const inputs = new Map<string, Type>();
  for (const [name, reading] of parsed.inputs) {
    // A type that could not be read was reported; `nothing` fits everywhere, so its readers stay silent.
    inputs.set(name, reading === undefined ? NOTHING : valueType(reading));
  }
  return {
    inputs,
    inputHints: hintsFrom([...inputs.keys()]),
    nodeHints: hintsFrom(nodes.map(({ id }) => id)),
    positions,
    seen: [],
    compile: (typed) => compileExpression(typed, layout, limits),
  };
}

function checkNode(node: ResolvedNode, context: Context, report: Report): CheckedNode | undefined {
  const { parsed } = node;
  const { step, slots } = parsed;
  if (step !== undefined && !GUARDABLE.has(step.kind)) refuseGuards(node, report);
  const scope = new NodeScope(node, context);
  const compiled: { [slot in Slot]?: CompiledExpression } = {};
  const check = (slot: Slot, within: Scope): Type | undefined => {
    const source = slots[slot];
    const checked = source === undefined ? undefined : checkExpression(source, within, report);
    if (checked === undefined) return undefined;
    compiled[slot] = context.compile(checked);
    return checked.type;
  };

  requireBoolean(check("when", scope), slots.when?.at, "a guard", report);
  const element = elementOf(check("list", scope), slots.list?.at, report);
  let inStep: Scope = scope;
  if (parsed.each !== undefined && element !== undefined) {
    inStep = new NodeScope(node, context, { name: parsed.each.as, type: element });
  }
  // Without an element type every use of the item would be reported again.
  const silent = parsed.each !== undefined && element === undefined;
  if (step === undefined || silent) return undefined;
  for (const slot of STEP_SLOTS[step.kind]) {
    const type = check(slot, inStep);
    if (slot === "condition") requireBoolean(type, slots.condition?.at, "a condition", report);
  }
  if (node.failed) return undefined;
  for (const slot of Object.keys(slots) as Slot[]) {
    if (compiled[slot] === undefined) return undefined;
  }
  const types = typesOf(node, compiled, report);
  return types === undefined ? undefined : { resolved: node, slots: compiled, types };
}

function refuseGuards({ parsed: { pointer, step, slots, each } }: ResolvedNode, report: Report) {
  for (const [guard, there] of [
    ["when", slots.when !== undefined],
    ["each", each !== undefined],
  ] as const) {
    if (!there) continue;
    report({
      code: "guard_not_allowed",
      pointer: `${pointer}/${guard}`,
      message: `"${guard}" cannot stand on a ${step?.kind} node`,
      hint: "a check that is skipped, or made over an empty list, is no check; guard what depends on it",
    });
  }
}

/** What the expressions of one node may refer to. */
class NodeScope implements Scope {
  readonly item?: NonNullable<Scope["item"]>;
  private readonly reader: ResolvedNode;
  private readonly context: Context;

  constructor(reader: ResolvedNode, context: Context, item?: Scope["item"]) {
    this.reader = reader;
    this.context = context;
    if (item !== undefined) this.item = item;
  }

  input(name: string): Type | undefined {
    return this.context.inputs.get(name);
  }

  get inputNames(): readonly string[] {
    return this.context.inputHints.names;
  }

  node(id: string): ReturnType<Scope["node"]> {
    const position = this.context.positions.get(id);
    if (position === undefined) return "unknown_node";
    if (this.reader.beyondReach.has(id)) return "not_an_ancestor";
    return this.context.seen[position] ?? "failed";
  }

  get nodeNames(): readonly string[] {
    return this.context.nodeHints.names;
  }
}

function requireBoolean(
  type: Type | undefined,
  at: string | undefined,
  what: string,
  report: Report,
): void {
  if (type === undefined || fits(type, BOOLEAN)) return;
  report({
    code: "type_mismatch",
    pointer: at ?? "",
    message: `${what} is boolean, this is ${typeName(type)}`,
  });
}

function elementOf(
  type: Type | undefined,
  at: string | undefined,
  report: Report,
): Type | undefined {
  if (type === undefined) return undefined;
  if (type.kind === "list") return type.of;
  const message = `"each" goes over a list, this is ${typeName(type)}`;
  report({ code: "type_mismatch", pointer: at ?? "", message });
  return undefined;
}

function typesOf(
  node: ResolvedNode,
  compiled: Slots<CompiledExpression>,
  report: Report,
): NodeTypes | undefined {
  const { parsed } = node;
  const declared = declaredType(node, compiled, report);
  if (declared === undefined) return undefined;
  let reading = declared;
  if (parsed.each !== undefined) {
    if (declared.kind !== "list") {
      report({
        code: "type_mismatch",
        pointer: `${parsed.pointer}/output`,
        message: `with "each" the output is a list, not ${typeName(declared)}`,
        hint: 'output is the whole output: {"list": type of one element}',
      });
      return undefined;
    }
    reading = declared.of;
  }
  const absent = parsed.step?.kind === "read" && (parsed.step.absent_on ?? []).length > 0;
  const one = absent ? optionalOf(valueType(reading)) : valueType(reading);
  const output = parsed.each === undefined ? valueType(declared) : listOf(one);
  const taken = parsed.each === undefined ? one : output;
  const seen = parsed.slots.when === undefined ? taken : optionalOf(taken);
  return { declared, reading, output, seen };
}

/** The whole output as declared, or as inferred where nothing is declared. */
function declaredType(
  { parsed }: ResolvedNode,
  compiled: Slots<CompiledExpression>,
  report: Report,
): Type | undefined {
  const { pointer, step, declared, each } = parsed;
  if (step === undefined) return undefined;
  const inferred = computedType(step.kind, compiled);
  if (inferred === undefined) {
    if (declared !== undefined) return declared;
    report({
      code: "output_required",
      pointer,
      message: `${step.kind === "effect" ? "an effect" : `a ${step.kind}`} node declares its output`,
      hint: "output is how json from outside becomes typed",
    });
    return undefined;
  }
  const whole = each === undefined ? inferred : listOf(inferred);
  if (declared === undefined) {
    if (!hasNothing(whole)) return whole;
    report({
      code: "output_required",
      pointer,
      message: `the type cannot be inferred from what has no values: ${typeName(whole)}`,
      hint: "declare the output",
    });
    return undefined;
  }
  if (valueType(declared) === declared && fits(whole, declared)) return declared;
  report({
    code: "type_mismatch",
    pointer: `${pointer}/output`,
    message:
      valueType(declared) === declared
        ? `the node gives ${typeName(whole)}, which does not fit the declared ${typeName(declared)}`
        : "decimal and others say how a value from outside is read; this value is computed",
  });
  return undefined;
}

/** Type of what a step computes; undefined for what comes from outside. */
function computedType(kind: StepKind, compiled: Slots<CompiledExpression>): Type | undefined {
  switch (kind) {
    case "pure":
    case "verify":
      return compiled.value?.type;
    case "checkpoint":
      return compiled.value?.type ?? NULL;
    case "policy":
    case "approval":
      return NULL;
    case "read":
    case "model":
    case "effect":
      return undefined;
    default:
      return assertNever(kind, "step kind");
  }
}

function hasNothing(type: Type): boolean {
  switch (type.kind) {
    case "nothing":
      return true;
    case "list":
    case "dictionary":
    case "optional":
      return hasNothing(type.of);
    case "record":
      return [...type.fields.values()].some(hasNothing);
    default:
      return false;
  }
}
