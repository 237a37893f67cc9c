/**
 * The normal form of an expression as canonical text (RFC 8785): long form, type names resolved, defaults left out.
 * Digests are made from it, so it is written straight from the tree; as JSON it is only ever read by people.
 */
import { assertNever, invariant } from "../base/assert.ts";
import { canonicalText } from "../base/canonical.ts";
import { deepFreeze } from "../base/freeze.ts";
import { type JsonValue, readJson } from "../base/json.ts";
import { pointer } from "../base/pointer.ts";
import { compareText } from "../base/text.ts";
import {
  type MemberSpec,
  OPERATOR_NAMES,
  OPERATORS,
  type OperatorName,
} from "../model/operators.ts";
import type { Type } from "../model/type.ts";
import type { OperatorNode, ParsedNode } from "./parse-tree.ts";
import { typeToJson } from "./types.ts";

type Member = readonly [name: string, spec: MemberSpec | "op"];

/** Members of each operator in the order of canonical text. */
const MEMBERS: ReadonlyMap<OperatorName, readonly Member[]> = new Map(
  OPERATOR_NAMES.map((op) => {
    const members: Member[] = [["op", "op"], ...Object.entries(OPERATORS[op].members)];
    return [op, members.sort(([left], [right]) => compareText(left, right))] as const;
  }),
);

/** Canonical text of the normal form; meaningless where something was reported. */
export function normalText(node: ParsedNode): string {
  if (node.kind === "broken") return "null";
  let text = "";
  for (const [name, spec] of MEMBERS.get(node.op) ?? []) {
    const value = spec === "op" ? `"${node.op}"` : memberText(node, name, spec);
    if (value !== undefined) text += text === "" ? `{"${name}":${value}` : `,"${name}":${value}`;
  }
  return `${text}}`;
}

/** A normal form as JSON, frozen. */
export function normalJson(text: string): JsonValue {
  const read = readJson(text, UNBOUNDED);
  invariant(read.ok, "a normal form is canonical JSON");
  return deepFreeze(read.value);
}

/** What was written was bounded; its long form is longer and deeper. Literals may hold any finite number. */
const UNBOUNDED = {
  numbers: "finite",
  maxBytes: Number.MAX_SAFE_INTEGER,
  maxNodes: Number.MAX_SAFE_INTEGER,
  maxDepth: 1_000,
} as const;

/** Canonical text of a type, names resolved. */
export function typeText(type: Type): string {
  const json = typeToJson(type);
  return typeof json === "string" ? `"${json}"` : canonicalText(json);
}

function memberText(node: OperatorNode, name: string, spec: MemberSpec): string | undefined {
  switch (spec.kind) {
    case "expression":
    case "lazy":
    case "body": {
      const operand = node.operands.get(name);
      return operand && normalText(operand);
    }
    case "expressions":
      return `[${node.values.map(normalText).join(",")}]`;
    case "fields":
      return fieldsText(node.fields);
    case "value":
      return scalarText(node.literal);
    case "type":
      return node.type && typeText(node.type);
    case "name":
    case "binding":
    case "rounding":
    case "order": {
      const word = node.words.get(name);
      return word === undefined || word === spec.default ? undefined : quoted(word);
    }
    case "pointer": {
      if (node.tokens === undefined) return undefined;
      const text = pointer(...node.tokens);
      return text === spec.default ? undefined : quoted(text);
    }
    case "flag":
      return String(node.flag);
    case "scale":
      return node.number === undefined || node.number === spec.default
        ? undefined
        : String(node.number);
    default:
      return assertNever(spec.kind, "kind of member");
  }
}

function fieldsText(fields: ReadonlyMap<string, ParsedNode>): string {
  const sorted = [...fields].sort(([left], [right]) => compareText(left, right));
  return `{${sorted.map(([name, node]) => `${quoted(name)}:${normalText(node)}`).join(",")}}`;
}

function scalarText(value: JsonValue): string {
  return typeof value === "string" ? quoted(value) : canonicalText(value);
}

const PLAIN = /^[\w ./-]*$/;

/** Every text of a tree is well-formed, so `JSON.stringify` escapes it as RFC 8785 does. */
function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}
