/**
 * Documents -> operator trees: short forms become what they stand for, members are checked against the operator
 * table. The normal form (long form, type names resolved, defaults left out) is written from the tree when asked for.
 *
 * - P1 Total on any JSON: what is wrong is reported and leaves a `broken` node, so everything else is still checked.
 * - P2 Every report points at the operator in the document as written.
 * - P3 Work and depth are bounded: after `limits.operators` operators nothing more is looked at.
 */
import { byteSink, bytesOf } from "../base/canonical-bytes.ts";
import { isJsonArray, type JsonObject, type JsonValue } from "../base/json-value.ts";
import { hasLoneSurrogate, nearest, sortTexts } from "../base/text.ts";
import type { Report } from "../model/diagnostic.ts";
import {
  type MemberSpec,
  OPERATOR_NAMES,
  OPERATORS,
  type OperatorName,
} from "../model/operators.ts";
import type { Type } from "../model/type.ts";
import { EXPRESSION_LIMITS, type ExpressionLimits } from "./limits.ts";
import { normalJson, putNormal } from "./normal-form.ts";
import { defaultOf, parseAll, readMember } from "./parse-member.ts";
import {
  broken,
  isOperator,
  leaf,
  type OperatorNode,
  type ParsedNode,
  type Parsing,
  refuse,
  shown,
  tooDeep,
  withEntry,
} from "./parse-tree.ts";

export interface ParsedExpression {
  /** JSON Pointer of the expression in its document. */
  readonly at: string;
  /** The normal form as JSON, made when asked for; meaningless when something was reported. */
  readonly normal: JsonValue;
  /** Names of the inputs referred to, in text order. */
  readonly inputs: readonly string[];
  /** Ids of the nodes referred to, in text order. */
  readonly nodes: readonly string[];
  readonly tree: ParsedNode;
}

const NO_TOKENS: readonly string[] = Object.freeze([]);
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
    inputs: undefined,
    nodes: undefined,
    operators: 0,
    stopped: false,
    parse: parseNode,
  };
  const tree = parseNode(source, at, 1, parsing);
  if (parsing.stopped) return undefined;
  return new Parsed(at, sorted(parsing.inputs), sorted(parsing.nodes), tree);
}

class Parsed implements ParsedExpression {
  readonly at: string;
  readonly inputs: readonly string[];
  readonly nodes: readonly string[];
  readonly tree: ParsedNode;

  constructor(at: string, inputs: readonly string[], nodes: readonly string[], tree: ParsedNode) {
    this.at = at;
    this.inputs = inputs;
    this.nodes = nodes;
    this.tree = tree;
  }

  get normal(): JsonValue {
    const sink = byteSink();
    putNormal(sink, this.tree);
    return normalJson(bytesOf(sink));
  }
}

function sorted(names: ReadonlySet<string> | undefined): readonly string[] {
  if (names === undefined) return NO_NAMES;
  return sortTexts([...names]);
}

const NO_NAMES: readonly string[] = Object.freeze([]);

/** Parses what stands where an expression is expected; `depth` is the JSON level of its long form. */
function parseNode(source: JsonValue, at: string, depth: number, parsing: Parsing): ParsedNode {
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
      return isJsonArray(source)
        ? shortList(source, at, depth, parsing)
        : parseObject(source as JsonObject, at, depth, parsing);
    default:
      return refuse(parsing, "bad_member", at, `${typeof source} is no expression`);
  }
}

function parseObject(source: JsonObject, at: string, depth: number, parsing: Parsing): ParsedNode {
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
): ParsedNode {
  let complete = knowsMembers(op, source, at, parsing);
  const build = leaf(op, at);
  for (const [member, spec] of MEMBERS.get(op) ?? []) {
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
  note(build, parsing);
  return complete ? build : partly(build);
}

/** The members of each operator, as a list: asked for at every operator of every document. */
const MEMBERS: ReadonlyMap<OperatorName, readonly (readonly [string, MemberSpec])[]> = new Map(
  OPERATOR_NAMES.map((op) => [op, Object.entries(OPERATORS[op].members)] as const),
);

/** False after reporting members that the operator does not have. */
function knowsMembers(op: OperatorName, source: JsonObject, at: string, parsing: Parsing): boolean {
  const { members } = OPERATORS[op];
  let complete = true;
  for (const key in source) {
    if (key === "op" || Object.hasOwn(members, key) || !Object.hasOwn(source, key)) continue;
    complete = false;
    const known = Object.keys(members);
    const meant = nearest(key, known);
    const hint = meant === undefined ? `it has ${known.join(", ")}` : `did you mean ${meant}?`;
    refuse(parsing, "unknown_member", at, `${op} has no member ${shown(key)}`, hint);
  }
  return complete;
}

/** Notes which input or node is referred to. */
function note({ op, words }: OperatorNode, parsing: Parsing): void {
  if (op !== "input" && op !== "node") return;
  const name = words.get(op === "node" ? "id" : "name");
  if (name === undefined) return;
  if (op === "input") {
    parsing.inputs ??= new Set();
    parsing.inputs.add(name);
  } else {
    parsing.nodes ??= new Set();
    parsing.nodes.add(name);
  }
}

/** Parts in which the operator binds a name are left out: whether the name is right cannot be said. */
function partly({ op, at, values, fields, operands }: OperatorNode): ParsedNode {
  const { members } = OPERATORS[op];
  const parts = [...values, ...fields.values()];
  for (const [member, node] of operands) {
    if (members[member]?.kind !== "body" && !(op === "let" && member === "in")) parts.push(node);
  }
  return { kind: "broken", at, parts };
}

function shortReference(
  source: JsonObject,
  at: string,
  depth: number,
  parsing: Parsing,
): ParsedNode {
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
  const word = form === "node" ? "id" : "name";
  if (slash < 0 && !hasLoneSurrogate(name)) {
    const node = leaf(form, at);
    node.words = withEntry(node.words, word, name);
    if (form !== "index") node.tokens = NO_TOKENS;
    note(node, parsing);
    return node;
  }
  const long: { [key: string]: JsonValue } = Object.assign(Object.create(null), { op: form });
  long[word] = name;
  if (slash >= 0) long["pointer"] = text.slice(slash);
  return parseOperator(form, long, at, depth, parsing);
}

function shortList(
  source: readonly JsonValue[],
  at: string,
  depth: number,
  parsing: Parsing,
): ParsedNode {
  const values = parseAll(source, at, depth + 2, parsing);
  if (parsing.stopped) return broken(at);
  return { ...leaf("list", at), values };
}

function literal(value: JsonValue, at: string): OperatorNode {
  const node = leaf("literal", at);
  node.literal = value;
  return node;
}
