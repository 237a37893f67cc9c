/** One member of an operator: read as its kind says, and noted in the tree. */
import { assertNever } from "../base/assert.ts";
import { ROUNDINGS } from "../base/integer.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../base/json-value.ts";
import { pointer } from "../base/pointer.ts";
import { compareText, hasLoneSurrogate, nearest } from "../base/text.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { NAME_PATTERN } from "../model/names.ts";
import { MAX_SCALE, type MemberSpec, type OperatorName, ORDERS } from "../model/operators.ts";
import { EVALUATION_LIMITS } from "./limits.ts";
import {
  type Building,
  type ParsedNode,
  type Parsing,
  pointerTokens,
  refuse,
  shown,
  tooDeep,
  withEntry,
} from "./parse-tree.ts";
import { parseType } from "./parse-type.ts";
import { typeToJson } from "./types.ts";

export interface MemberPlace {
  readonly op: OperatorName;
  readonly member: string;
  readonly spec: MemberSpec;
  readonly at: string;
  readonly depth: number;
}

/** What a member that was left out means. */
export function defaultOf(spec: MemberSpec, member: string, build: Building): void {
  const standard = spec.default;
  if (standard === undefined) return;
  switch (spec.kind) {
    case "binding":
    case "name":
    case "order":
      if (typeof standard === "string") setWord(build, member, standard);
      return;
    case "pointer":
      build.tokens = [];
      return;
    case "scale":
      if (typeof standard === "number") build.number = standard;
      return;
    default:
      return;
  }
}

/** Reads a member that is there. False when it was reported as wrong. */
export function readMember(
  source: JsonValue,
  place: MemberPlace,
  build: Building,
  parsing: Parsing,
): boolean {
  const { spec, member, at, depth } = place;
  switch (spec.kind) {
    case "expression":
    case "lazy":
    case "body": {
      const node = parsing.parse(source, `${at}/${member}`, depth + 1, parsing);
      if (isDefault(node, spec, build)) return true;
      build.operands = withEntry(build.operands, member, node);
      return true;
    }
    case "expressions": {
      if (!isJsonArray(source)) return wrong(place, parsing, "is an array of expressions");
      build.values = parseAll(source, `${at}/${member}`, depth + 2, parsing);
      return true;
    }
    case "fields": {
      if (!isJsonObject(source)) return wrong(place, parsing, "is an object of expressions");
      if (Object.keys(source).some(hasLoneSurrogate)) {
        return wrong(place, parsing, "has a name with a lone surrogate");
      }
      build.fields = parseFields(source, `${at}/${member}`, depth + 2, parsing);
      return true;
    }
    case "value":
      return readLiteral(source, place, build, parsing);
    case "type":
      return readType(source, place, build, parsing);
    case "name":
    case "binding":
      return readName(source, place, build, parsing);
    case "pointer": {
      const tokens = pointerTokens(source);
      if (tokens === undefined) {
        const hint = 'a pointer is "" or starts with a slash: "/lines/0/amount"';
        refuse(parsing, "bad_pointer", at, `${shownJson(source)} is no JSON Pointer`, hint);
        return false;
      }
      build.tokens = tokens;
      return true;
    }
    case "rounding":
      return readWord(source, ROUNDINGS, place, build, parsing);
    case "order":
      return readWord(source, ORDERS, place, build, parsing);
    case "flag":
      if (typeof source !== "boolean") return wrong(place, parsing, "is true or false");
      build.flag = source;
      return true;
    case "scale":
      if (
        typeof source !== "number" ||
        !Number.isInteger(source) ||
        source < 0 ||
        source > MAX_SCALE
      ) {
        return wrong(place, parsing, `is a number from 0 to ${MAX_SCALE}, not an expression`);
      }
      build.number = source === 0 ? 0 : source;
      return true;
    default:
      return assertNever(spec.kind, "kind of member");
  }
}

function setWord(build: Building, member: string, word: string): true {
  build.words = withEntry(build.words, member, word);
  return true;
}

function readName(
  source: JsonValue,
  place: MemberPlace,
  build: Building,
  parsing: Parsing,
): boolean {
  if (typeof source !== "string" || hasLoneSurrogate(source)) {
    return wrong(place, parsing, "is a name, so a text");
  }
  if (place.spec.kind === "binding" && !NAME_PATTERN.test(source)) {
    const what = `is no name: ${shown(source)}`;
    return wrong(
      place,
      parsing,
      what,
      "a small letter, then small letters, digits and underscores",
    );
  }
  return setWord(build, place.member, source);
}

function readWord(
  source: JsonValue,
  words: readonly string[],
  place: MemberPlace,
  build: Building,
  parsing: Parsing,
): boolean {
  if (typeof source === "string" && words.includes(source)) {
    return setWord(build, place.member, source);
  }
  const code = place.spec.kind === "rounding" ? "bad_rounding" : "bad_member";
  const meant = typeof source === "string" ? nearest(source, words) : undefined;
  const message = `${place.op}: ${place.member} is one of ${words.join(", ")}, not ${shownJson(source)}`;
  refuse(parsing, code, place.at, message, meant && `did you mean ${meant}?`);
  return false;
}

function readType(
  source: JsonValue,
  place: MemberPlace,
  build: Building,
  parsing: Parsing,
): boolean {
  const inner = `${place.at}/${place.member}`;
  const report = (problem: Diagnostic): void => {
    const part = problem.pointer.slice(inner.length);
    const message = part === "" ? problem.message : `${problem.message} (in the type, at ${part})`;
    parsing.report({ ...problem, pointer: place.at, message });
  };
  const type = parseType(source, parsing.names, inner, report);
  if (type === undefined) return false;
  if (!admits(typeToJson(type), place.depth + 1, parsing)) {
    tooDeep(parsing, place.at);
    return false;
  }
  build.type = type;
  return true;
}

function readLiteral(
  source: JsonValue,
  place: MemberPlace,
  build: Building,
  parsing: Parsing,
): boolean {
  const budget = { nodes: EVALUATION_LIMITS.nodes };
  const copy = copyLiteral(source, place.depth + 1, budget, parsing.limits.depth);
  if (copy === "too_deep") {
    tooDeep(parsing, place.at);
    return false;
  }
  if (typeof copy === "string") {
    refuse(parsing, "bad_literal", place.at, `literal: ${copy}`);
    return false;
  }
  build.literal = copy.value;
  return true;
}

/** Our own copy of a literal's JSON, or why there cannot be one. */
function copyLiteral(
  source: JsonValue,
  depth: number,
  budget: { nodes: number },
  maxDepth: number,
): { readonly value: JsonValue } | string {
  budget.nodes -= 1;
  if (budget.nodes < 0) return `a value of more than ${EVALUATION_LIMITS.nodes} parts`;
  switch (typeof source) {
    case "string":
      return hasLoneSurrogate(source) ? "a text with a lone surrogate" : { value: source };
    case "number":
      return Number.isFinite(source)
        ? { value: source === 0 ? 0 : source }
        : `${source} is no JSON number`;
    case "boolean":
      return { value: source };
    case "object":
      break;
    default:
      return `${typeof source} is no JSON value`;
  }
  if (source === null) return { value: null };
  if (depth > maxDepth) return "too_deep";
  if (isJsonArray(source)) {
    const copy: JsonValue[] = [];
    for (const element of source) {
      const part = copyLiteral(element, depth + 1, budget, maxDepth);
      if (typeof part === "string") return part;
      copy.push(part.value);
    }
    return { value: copy };
  }
  const copy: { [key: string]: JsonValue } = Object.create(null);
  const object = source as { readonly [key: string]: JsonValue };
  for (const key of Object.keys(object)) {
    if (hasLoneSurrogate(key)) return "a key with a lone surrogate";
    const part = copyLiteral(object[key] ?? null, depth + 1, budget, maxDepth);
    if (typeof part === "string") return part;
    copy[key] = part.value;
  }
  return { value: copy };
}

/** True when a JSON value that starts at a level ends within the levels allowed. */
function admits(json: JsonValue, depth: number, parsing: Parsing): boolean {
  if (typeof json !== "object" || json === null) return true;
  if (depth > parsing.limits.depth) return false;
  const parts: readonly JsonValue[] = isJsonArray(json) ? json : Object.values(json);
  return parts.every((part) => admits(part, depth + 1, parsing));
}

/** An operand that says what leaving it out would mean. */
function isDefault(node: ParsedNode, spec: MemberSpec, build: Building): boolean {
  const standard = spec.default;
  if (standard === undefined || node.kind !== "operator") return false;
  if (typeof standard === "object" && standard !== null) {
    const named = build.words.get("as");
    return node.op === "item" && node.words.get("name") === named && node.tokens?.length === 0;
  }
  return node.op === "literal" && node.type === undefined && node.literal === standard;
}

function wrong(
  { op, member, at }: MemberPlace,
  parsing: Parsing,
  what: string,
  hint?: string,
): boolean {
  refuse(parsing, "bad_member", at, `${op}: ${member} ${what}`, hint);
  return false;
}

function shownJson(source: JsonValue): string {
  if (typeof source === "string") return shown(source);
  if (typeof source !== "object" || source === null) return String(source);
  return isJsonArray(source) ? "an array" : "an object";
}

/** Parses an array of expressions. */
export function parseAll(
  source: readonly JsonValue[],
  at: string,
  depth: number,
  parsing: Parsing,
): readonly ParsedNode[] {
  const nodes: ParsedNode[] = [];
  for (let index = 0; index < source.length && !parsing.stopped; index += 1) {
    nodes.push(parsing.parse(source[index] ?? null, `${at}/${index}`, depth, parsing));
  }
  return nodes;
}

/** Parses an object of expressions, in text order of the names: that is also the order of evaluation. */
export function parseFields(
  source: JsonObject,
  at: string,
  depth: number,
  parsing: Parsing,
): ReadonlyMap<string, ParsedNode> {
  const nodes = new Map<string, ParsedNode>();
  for (const name of Object.keys(source).sort(compareText)) {
    if (parsing.stopped) break;
    nodes.set(name, parsing.parse(source[name] ?? null, at + pointer(name), depth, parsing));
  }
  return nodes;
}
