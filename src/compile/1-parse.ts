/**
 * Phase 1: a JSON document becomes typed parts. Members, names, types and expressions are read one by one and every
 * problem is reported; nothing here looks from one node to another.
 */
import type { JsonValue } from "../base/json.ts";
import { pointer } from "../base/pointer.ts";
import { compareText } from "../base/text.ts";
import {
  type ParsedExpression,
  parseExpression,
  parseType,
  parseTypes,
} from "../expression/index.ts";
import type { Report } from "../model/diagnostic.ts";
import { DEFAULT_ITEM } from "../model/names.ts";
import { DEFAULT_RUN_LIMITS, type RunLimits } from "../model/plan.ts";
import {
  type LimitsDocument,
  type NodeDocument,
  nodeSchema,
  recipeHeaderSchema,
  type StepDocument,
} from "../model/recipe.ts";
import type { Type } from "../model/type.ts";
import { isList, isObject, kindOf, member } from "./json-object.ts";
import { type ParsedNode, type ParsedRecipe, type Slot, STEP_SLOTS } from "./parsed.ts";
import { readMembers } from "./shape.ts";

type Names = ReadonlyMap<string, Type>;

/** The recipe as far as it could be read, or undefined when there are no nodes to go on with. */
export function parseRecipe(document: JsonValue, report: Report): ParsedRecipe | undefined {
  if (!isObject(document)) {
    const message = `a recipe is an object, this is ${kindOf(document)}`;
    report({ code: "bad_shape", pointer: "", message });
    return undefined;
  }
  const header = readMembers(recipeHeaderSchema, document, "", report);
  const names = readTypes(document, report);
  const limits = readLimits(header.limits ?? {}, report);
  const inputs = readInputs(member(document, "inputs"), names, report);
  if (header.nodes === undefined) return undefined;
  return {
    id: header.id,
    title: header.title ?? null,
    description: header.description ?? null,
    environment: header.environment ?? null,
    limits,
    inputs,
    terminal: header.terminal,
    nodes: header.nodes.map((node, position) => parseNode(node, position, names, report)),
  };
}

/** The named types of a document. `__proto__` is looked for here, since zod passes over it. */
export function readTypes(document: JsonValue, report: Report): Names {
  const types = member(document, "types");
  if (!isObject(types)) return new Map();
  refuseProto(types, "/types", report);
  return parseTypes(types, "/types", report);
}

function readInputs(
  inputs: JsonValue | undefined,
  names: Names,
  report: Report,
): ReadonlyMap<string, Type | undefined> {
  const read = new Map<string, Type | undefined>();
  if (!isObject(inputs)) return read;
  refuseProto(inputs, "/inputs", report);
  for (const name of Object.keys(inputs).sort(compareText)) {
    const source = member(inputs, name);
    if (source === undefined) continue;
    read.set(name, parseType(source, names, `/inputs${pointer(name)}`, report));
  }
  return read;
}

function refuseProto(object: JsonValue, at: string, report: Report): void {
  if (member(object, "__proto__") === undefined) return;
  report({
    code: "bad_name",
    pointer: `${at}/__proto__`,
    message: '"__proto__" cannot be a name here',
  });
}

function readLimits(document: LimitsDocument, report: Report): Partial<RunLimits> {
  for (const [name, value] of Object.entries(document)) {
    const most = DEFAULT_RUN_LIMITS[name as keyof RunLimits];
    if (value <= most) continue;
    report({
      code: "limit_exceeded",
      pointer: `/limits/${name}`,
      message: `${value} is above the limit of ${most}`,
      hint: "a recipe may lower limits, never raise them",
    });
  }
  return document;
}

function parseNode(source: JsonValue, position: number, names: Names, report: Report): ParsedNode {
  const at = `/nodes/${position}`;
  const whole = nodeSchema.safeParse(source);
  const document: Partial<NodeDocument> = whole.success
    ? whole.data
    : readMembers(nodeSchema, source, at, report);
  const { id, after, step, each } = document;
  const inNode = id === undefined ? report : within(id, report);
  let broken = id === undefined || step === undefined || !isWhole(source, document);

  const declared =
    document.output === undefined
      ? undefined
      : parseType(document.output, names, `${at}/output`, inNode);
  if (declared === undefined && document.output !== undefined) broken = true;

  const slots: { [slot in Slot]?: ParsedExpression } = {};
  const references = new Set<string>();
  const noting: Report = (diagnostic) => {
    broken = true;
    inNode(diagnostic);
  };
  for (const [slot, place, expression] of expressionsOf(document)) {
    const parsed = parseExpression(expression, `${at}${place}`, names, noting);
    if (parsed === undefined) continue;
    slots[slot] = parsed;
    for (const node of parsed.nodes) references.add(node);
  }
  if (broken) mentioned(source, references);
  return {
    position,
    pointer: at,
    id,
    after,
    declared,
    each: each === undefined ? undefined : { as: each.as ?? DEFAULT_ITEM, limit: each.limit },
    step,
    slots,
    references: [...references],
    broken,
  };
}

/** Says in whose expression a problem lies, since a pointer counts nodes instead of naming them. */
export function within(id: string, report: Report): Report {
  return (diagnostic) => {
    report({ ...diagnostic, message: `node "${id}": ${diagnostic.message}` });
  };
}

/** False when some member that the document has could not be read. */
function isWhole(source: JsonValue, read: Partial<NodeDocument>): boolean {
  if (!isObject(source)) return false;
  return NODE_MEMBERS.every(
    (name) => member(source, name) === undefined || read[name] !== undefined,
  );
}

const NODE_MEMBERS = Object.keys(nodeSchema.shape) as readonly (keyof NodeDocument)[];

/** The expressions of a node as written, each with its slot and its place in the node. */
function* expressionsOf(
  node: Partial<NodeDocument>,
): Generator<readonly [slot: Slot, place: string, expression: JsonValue]> {
  if (node.when !== undefined) yield ["when", "/when", node.when];
  if (node.each !== undefined) yield ["list", "/each/list", node.each.list];
  if (node.step === undefined) return;
  for (const slot of STEP_SLOTS[node.step.kind]) {
    const expression = stepMember(node.step, slot);
    if (expression !== undefined) yield [slot, `/step/${slot}`, expression];
  }
}

function stepMember(step: StepDocument, slot: Slot): JsonValue | undefined {
  const members: { readonly kind: string } & { readonly [slot in Slot]?: JsonValue } = step;
  return members[slot];
}

/**
 * Everything that looks like a reference to a node in a part that could not be read, so that the nodes it names do not
 * seem to lead nowhere.
 */
function mentioned(source: JsonValue, into: Set<string>): void {
  const open: JsonValue[] = [source];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (isList(value)) {
      for (const one of value) open.push(one);
    } else if (isObject(value)) {
      const short = member(value, "node");
      if (typeof short === "string") into.add(short.split("/", 1)[0] ?? short);
      const id = member(value, "id");
      if (member(value, "op") === "node" && typeof id === "string") into.add(id);
      for (const one of Object.values(value)) open.push(one);
    }
  }
}
