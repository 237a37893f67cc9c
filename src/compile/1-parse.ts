/**
 * Phase 1: a JSON document becomes typed parts. Members, names, types and expressions are read one by one and every
 * problem is reported; nothing here looks from one node to another.
 */
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts";
import { pointer } from "../base/pointer.ts";
import { compareText } from "../base/text.ts";
import {
  type ParsedExpression,
  parseExpression,
  parseType,
  parseTypes,
} from "../expression/index.ts";
import type { Diagnostic, Report } from "../model/diagnostic.ts";
import { DEFAULT_ITEM, ID_PATTERN } from "../model/names.ts";
import { DEFAULT_RUN_LIMITS } from "../model/plan.ts";
import {
  type NodeDocument,
  nodeSchema,
  recipeHeaderSchema,
  type StepDocument,
} from "../model/recipe.ts";
import { RECIPE_LIMITS } from "../model/recipe-limits.ts";
import type { Type } from "../model/type.ts";
import { kindOf, member } from "./json-object.ts";
import { type ParsedNode, type ParsedRecipe, type Slot, STEP_SLOTS } from "./parsed.ts";
import { isPlainNode } from "./plain-node.ts";
import { readMembers } from "./shape.ts";

type Names = ReadonlyMap<string, Type>;

/**
 * The recipe as far as it could be read, or undefined when there is no going on: no nodes, or `enough` problems.
 */
export function parseRecipe(
  document: JsonValue,
  report: Report,
  enough: () => boolean,
): ParsedRecipe | undefined {
  if (!isJsonObject(document)) {
    const message = `a recipe is an object, this is ${kindOf(document)}`;
    report({ code: "bad_shape", pointer: "", message });
    return undefined;
  }
  const source = withoutLong(document, report);
  const header = readMembers(recipeHeaderSchema, source, "", report);
  const names = readTypes(source, report);
  refuseRaisedLimits(member(source, "limits"), report);
  const inputs = readInputs(member(source, "inputs"), names, report);
  const nodes: ParsedNode[] = [];
  for (const node of header.nodes ?? []) {
    nodes.push(parseNode(node, nodes.length, names, report));
    if (enough()) return undefined;
  }
  if (header.nodes === undefined) return undefined;
  return {
    id: header.id,
    title: header.title ?? null,
    description: header.description ?? null,
    environment: header.environment ?? null,
    limits: header.limits ?? {},
    inputs,
    terminal: header.terminal,
    nodes,
  };
}

/**
 * The document without tables that are far too long, which are reported as a whole: a schema reports every entry, and
 * a hostile table has millions.
 */
export function withoutLong(document: JsonObject, report: Report): JsonObject {
  let kept = document;
  for (const [key, most] of [
    ["inputs", RECIPE_LIMITS.inputs],
    ["types", RECIPE_LIMITS.types],
  ] as const) {
    const table = member(document, key);
    if (!isJsonObject(table) || Object.keys(table).length <= most) continue;
    report({ code: "limit_exceeded", pointer: `/${key}`, message: `at most ${most} ${key}` });
    kept = { ...kept, [key]: {} };
  }
  return kept;
}

/** The named types of a document. `__proto__` is looked for here, since zod passes over it. */
export function readTypes(document: JsonValue, report: Report): Names {
  const types = member(document, "types");
  if (!isJsonObject(types)) return new Map();
  refuseProto(types, "/types", report);
  return parseTypes(types, "/types", (diagnostic) => {
    // The schema has judged the names.
    if (diagnostic.code !== "bad_name") report(diagnostic);
  });
}

function readInputs(
  inputs: JsonValue | undefined,
  names: Names,
  report: Report,
): ReadonlyMap<string, Type | undefined> {
  const read = new Map<string, Type | undefined>();
  if (!isJsonObject(inputs)) return read;
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

function refuseRaisedLimits(limits: JsonValue | undefined, report: Report): void {
  for (const [name, most] of Object.entries(DEFAULT_RUN_LIMITS)) {
    const value = member(limits, name);
    if (typeof value !== "number" || value <= most) continue;
    report({
      code: "limit_exceeded",
      pointer: `/limits/${name}`,
      message: `${value} is above the limit of ${most}`,
      hint: "a recipe may lower limits, never raise them",
    });
  }
}

function parseNode(source: JsonValue, position: number, names: Names, report: Report): ParsedNode {
  const at = `/nodes/${position}`;
  const document = readNode(source, at, report);
  const { id, after, step, each } = document;
  let broken = document !== source && !isWhole(source, document);
  const inNode: Report = (diagnostic) => {
    broken = true;
    report(id === undefined ? diagnostic : inNodeOf(id, diagnostic));
  };
  const declared =
    document.output === undefined
      ? undefined
      : parseType(document.output, names, `${at}/output`, inNode);
  const slots: { [slot in Slot]?: ParsedExpression } = {};
  let references: readonly string[] = [];
  const parse = (slot: Slot, place: string, expression: JsonValue | undefined): void => {
    if (expression === undefined) return;
    const parsed = parseExpression(expression, `${at}${place}${slot}`, names, inNode);
    if (parsed === undefined) return;
    slots[slot] = parsed;
    references =
      references.length === 0 ? parsed.nodes : [...new Set([...references, ...parsed.nodes])];
  };
  parse("when", "/", document.when);
  parse("list", "/each/", each?.list);
  if (step !== undefined) {
    for (const slot of STEP_SLOTS[step.kind]) parse(slot, "/step/", stepMember(step, slot));
  }
  if (broken) references = [...new Set([...references, ...mentioned(source)])];
  return {
    position,
    pointer: at,
    id,
    after,
    declared,
    each: each === undefined ? undefined : { as: each.as ?? DEFAULT_ITEM, limit: each.limit },
    step,
    slots,
    references,
    broken,
  };
}

/** The members of a node that could be read; the node itself when there is nothing to change or to report. */
function readNode(source: JsonValue, at: string, report: Report): Partial<NodeDocument> {
  const long = longList(source, at);
  if (long !== undefined) {
    report(long);
    return onlyId(source);
  }
  if (isPlainNode(source)) return source;
  const whole = nodeSchema.safeParse(source);
  return whole.success ? whole.data : readMembers(nodeSchema, source, at, report);
}

/** Says in whose expression a problem lies, since a pointer counts nodes instead of naming them. */
export function inNodeOf(id: string, diagnostic: Diagnostic): Diagnostic {
  return { ...diagnostic, message: `node "${id}": ${diagnostic.message}` };
}

/** A list in a node that no recipe can need, since it is longer than there can be nodes. */
function longList(node: JsonValue, at: string): Diagnostic | undefined {
  const step = member(node, "step");
  for (const [place, list] of [
    ["after", member(node, "after")],
    ["step/effects", member(step, "effects")],
    ["step/absent_on", member(step, "absent_on")],
  ] as const) {
    if (!isJsonArray(list) || list.length <= RECIPE_LIMITS.nodes) continue;
    const message = `at most ${RECIPE_LIMITS.nodes} elements`;
    return { code: "limit_exceeded", pointer: `${at}/${place}`, message };
  }
  return undefined;
}

function onlyId(node: JsonValue): Partial<NodeDocument> {
  const id = member(node, "id");
  return typeof id === "string" && ID_PATTERN.test(id) ? { id } : {};
}

/** False when some member could not be read, or one that must be there is not. */
function isWhole(source: JsonValue, read: Partial<NodeDocument>): boolean {
  if (!isJsonObject(source) || read.id === undefined || read.step === undefined) return false;
  return NODE_MEMBERS.every(
    (name) => member(source, name) === undefined || read[name] !== undefined,
  );
}

const NODE_MEMBERS = Object.keys(nodeSchema.shape) as readonly (keyof NodeDocument)[];

function stepMember(step: StepDocument, slot: Slot): JsonValue | undefined {
  const members: { readonly kind: string } & { readonly [slot in Slot]?: JsonValue } = step;
  return members[slot];
}

/**
 * Everything that looks like a reference to a node in a part that could not be read, so that the nodes it names do not
 * seem to lead nowhere.
 */
function mentioned(source: JsonValue): ReadonlySet<string> {
  const found = new Set<string>();
  const open: JsonValue[] = [source];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (isJsonArray(value)) {
      for (const one of value) open.push(one);
    } else if (isJsonObject(value)) {
      const short = member(value, "node");
      if (typeof short === "string") found.add(short.split("/", 1)[0] ?? short);
      const id = member(value, "id");
      if (member(value, "op") === "node" && typeof id === "string") found.add(id);
      for (const one of Object.values(value)) open.push(one);
    }
  }
  return found;
}
