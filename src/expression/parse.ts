/**
 * Documents -> operator trees: short forms become what they stand for, members are checked against the operator
 * table, and the normal form (long form, type names resolved, defaults left out) is built beside the tree.
 *
 * - P1 Total on any JSON: what is wrong is reported and leaves a `broken` node, so everything else is still checked.
 * - P2 Every report points at the operator in the document as written.
 * - P3 Work and depth are bounded: after `limits.operators` operators nothing more is looked at.
 */
import type { JsonValue } from "../base/json.ts";
import { compareText, hasLoneSurrogate, nearest } from "../base/text.ts";
import type { Report } from "../model/diagnostic.ts";
import { OPERATOR_NAMES, OPERATORS, type OperatorName } from "../model/operators.ts";
import type { Type } from "../model/type.ts";
import { EXPRESSION_LIMITS, type ExpressionLimits } from "./limits.ts";
import { defaultOf, parseAll, readMember } from "./parse-member.ts";
import {
  type Building,
  broken,
  isArray,
  isOperator,
  type JsonObject,
  leaf,
  NONE,
  type OperatorNode,
  type ParsedNode,
  type Parsing,
  type Piece,
  refuse,
  shown,
  tooDeep,
} from "./parse-tree.ts";

export interface ParsedExpression {
  /** JSON Pointer of the expression in its document. */
  readonly at: string;
  /** The normal form; meaningless when something was reported. */
  readonly normal: JsonValue;
  /** Names of the inputs referred to, in text order. */
  readonly inputs: readonly string[];
  /** Ids of the nodes referred to, in text order. */
  readonly nodes: readonly string[];
  readonly operators: number;
  readonly tree: ParsedNode;
}

const SHORT_FORMS = ["input", "node", "item", "index"] as const;

/**
 * Parses the expression at `at`. Undefined only when it is far too large or too deep to go on; other problems are
 * reported and the rest is given, so that checking can report what else is wrong.
 *
 * @param names the types that the document defines, as `parseTypes` gave them
 */
export function parseExpression(
  source: JsonValue,
  at: string,
  names: ReadonlyMap<string, Type>,
  report: Report,
  limits: ExpressionLimits = EXPRESSION_LIMITS,
): ParsedExpression | undefined {
  const parsing: Parsing = {
    names,
    report,
    limits,
    inputs: new Set(),
    nodes: new Set(),
    operators: 0,
    stopped: false,
    parse: parseNode,
  };
  const { node, normal } = parseNode(source, at, 1, parsing);
  if (parsing.stopped) return undefined;
  return {
    at,
    normal,
    inputs: [...parsing.inputs].sort(compareText),
    nodes: [...parsing.nodes].sort(compareText),
    operators: parsing.operators,
    tree: node,
  };
}

/** Parses what stands where an expression is expected; `depth` is the JSON level of its long form. */
function parseNode(source: JsonValue, at: string, depth: number, parsing: Parsing): Piece {
  if (parsing.stopped) return broken(at);
  parsing.operators += 1;
  if (parsing.operators > parsing.limits.operators) {
    parsing.stopped = true;
    const message = `an expression has at most ${parsing.limits.operators} operators`;
    return refuse(
      parsing,
      "too_many_operators",
      at,
      message,
      "compute parts of it in nodes of their own",
    );
  }
  if (depth > parsing.limits.depth) return tooDeep(parsing, at);
  switch (typeof source) {
    case "string":
      return hasLoneSurrogate(source)
        ? refuse(parsing, "bad_literal", at, "a text with a lone surrogate")
        : literal(source, at);
    case "boolean":
      return literal(source, at);
    case "number":
      return Number.isSafeInteger(source)
        ? literal(source === 0 ? 0 : source, at)
        : refuse(
            parsing,
            "bad_literal",
            at,
            `${source} is no safe integer`,
            'write a decimal as {"op": "literal", "value": "12.50", "type": {"decimal": 2}}',
          );
    case "object":
      if (source === null) return literal(null, at);
      return isArray(source)
        ? shortList(source, at, depth, parsing)
        : parseObject(source as JsonObject, at, depth, parsing);
    default:
      return refuse(parsing, "bad_member", at, `${typeof source} is no expression`);
  }
}

function parseObject(source: JsonObject, at: string, depth: number, parsing: Parsing): Piece {
  if (!Object.hasOwn(source, "op")) return shortReference(source, at, depth, parsing);
  const op = source["op"];
  if (typeof op !== "string") {
    return refuse(parsing, "bad_member", at, "op is the name of an operator");
  }
  if (!isOperator(op)) {
    const meant = nearest(op, OPERATOR_NAMES);
    const message = `there is no operator ${shown(op)}`;
    return refuse(parsing, "unknown_operator", at, message, meant && `did you mean ${meant}?`);
  }
  return parseOperator(op, source, at, depth, parsing);
}

function parseOperator(
  op: OperatorName,
  source: JsonObject,
  at: string,
  depth: number,
  parsing: Parsing,
): Piece {
  const { members } = OPERATORS[op];
  let complete = true;
  for (const key of Object.keys(source)) {
    if (key === "op" || Object.hasOwn(members, key)) continue;
    complete = false;
    const known = Object.keys(members);
    const meant = nearest(key, known);
    const hint = meant === undefined ? `it has ${known.join(", ")}` : `did you mean ${meant}?`;
    refuse(parsing, "unknown_member", at, `${op} has no member ${shown(key)}`, hint);
  }
  const build: Building = {
    operands: new Map(),
    fields: NONE,
    values: [],
    words: new Map(),
    tokens: undefined,
    literal: null,
    type: undefined,
    number: undefined,
    flag: false,
    normal: Object.assign(Object.create(null), { op }),
  };
  for (const member of Object.keys(members)) {
    const spec = members[member];
    if (spec === undefined) continue;
    if (!Object.hasOwn(source, member)) {
      if (spec.required) {
        complete = false;
        refuse(parsing, "missing_member", at, `${op} needs the member ${member} (${spec.of})`);
      } else {
        defaultOf(spec, member, build);
      }
      continue;
    }
    const place = { op, member, spec, at, depth };
    if (!readMember(source[member] ?? null, place, build, parsing)) complete = false;
    if (parsing.stopped) return broken(at);
  }
  note(op, build, parsing);
  if (!complete) return partly(op, at, build);
  const { normal, ...rest } = build;
  return { node: { kind: "operator", op, at, ...rest }, normal };
}

function note(op: OperatorName, build: Building, parsing: Parsing): void {
  const name = build.words.get(op === "node" ? "id" : "name");
  if (name === undefined) return;
  if (op === "input") parsing.inputs.add(name);
  if (op === "node") parsing.nodes.add(name);
}

/** Parts in which the operator binds a name are left out: whether the name is right cannot be said. */
function partly(op: OperatorName, at: string, build: Building): Piece {
  const { members } = OPERATORS[op];
  const parts = [...build.values, ...build.fields.values()];
  for (const [member, node] of build.operands) {
    if (members[member]?.kind !== "body" && !(op === "let" && member === "in")) parts.push(node);
  }
  return { node: { kind: "broken", at, parts }, normal: build.normal };
}

function shortReference(source: JsonObject, at: string, depth: number, parsing: Parsing): Piece {
  const keys = Object.keys(source);
  const form = SHORT_FORMS.find((name) => Object.hasOwn(source, name));
  if (form === undefined) {
    const [key] = keys;
    const meant = key === undefined ? undefined : nearest(key, ["op", ...SHORT_FORMS]);
    return refuse(
      parsing,
      "missing_member",
      at,
      "an expression that is an object needs the member op",
      meant && meant !== "op" ? `did you mean {"${meant}": ..}?` : undefined,
    );
  }
  const extra = keys.find((key) => key !== form);
  if (extra !== undefined) {
    const message = `the short form {"${form}": ..} stands alone, without ${shown(extra)}`;
    return refuse(parsing, "unknown_member", at, message);
  }
  const text = source[form];
  if (typeof text !== "string") {
    return refuse(parsing, "bad_member", at, `{"${form}": ..} names something, so it is a text`);
  }
  const slash = form === "index" ? -1 : text.indexOf("/");
  const name = slash < 0 ? text : text.slice(0, slash);
  const long: { [key: string]: JsonValue } = Object.assign(Object.create(null), { op: form });
  long[form === "node" ? "id" : "name"] = name;
  if (slash >= 0) long["pointer"] = text.slice(slash);
  return parseOperator(form, long, at, depth, parsing);
}

function shortList(
  source: readonly JsonValue[],
  at: string,
  depth: number,
  parsing: Parsing,
): Piece {
  const { nodes, normals } = parseAll(source, at, depth + 2, parsing);
  if (parsing.stopped) return broken(at);
  const node: OperatorNode = { ...leaf("list", at), values: nodes };
  return { node, normal: Object.assign(Object.create(null), { op: "list", values: normals }) };
}

function literal(value: JsonValue, at: string): Piece {
  return {
    node: { ...leaf("literal", at), literal: value },
    normal: Object.assign(Object.create(null), { op: "literal", value }),
  };
}
