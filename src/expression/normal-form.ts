/**
 * The normal form of an expression as canonical bytes (RFC 8785): long form, type names resolved, defaults left out.
 * Digests are made from it, so it is written straight from the tree; as JSON it is only ever read by people.
 *
 * Every text of a tree is well-formed, so quoting one never fails here.
 */
import { assertNever, invariant } from "../base/assert.ts";
import { canonicalBytes } from "../base/canonical.ts";
import { type ByteSink, putAscii, putByte, putBytes, putQuoted } from "../base/canonical-bytes.ts";
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

interface Member {
  readonly name: string;
  /** Absent for `op` itself. */
  readonly spec: MemberSpec | undefined;
  /** The name as it is written, in quotes and with its colon. */
  readonly head: string;
}

/** Members of each operator in the order of canonical text. */
const MEMBERS: ReadonlyMap<OperatorName, readonly Member[]> = new Map(
  OPERATOR_NAMES.map((op) => {
    const names = ["op", ...Object.keys(OPERATORS[op].members)].sort(compareText);
    const specs: { readonly [member: string]: MemberSpec } = OPERATORS[op].members;
    return [op, names.map((name) => ({ name, spec: specs[name], head: `"${name}":` }))] as const;
  }),
);

const OPEN = 0x7b;
const CLOSE = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;

/** Says what a node is to be called where it is referred to. */
type Rename = (id: string) => string;

/** Appends the normal form; meaningless where something was reported. */
export function putNormal(sink: ByteSink, node: ParsedNode, rename?: Rename): void {
  if (node.kind === "broken") {
    putAscii(sink, "null");
    return;
  }
  let separator = OPEN;
  for (const { name, spec, head } of MEMBERS.get(node.op) ?? []) {
    if (spec === undefined) {
      putByte(sink, separator);
      putAscii(sink, head);
      putQuoted(sink, node.op);
    } else if (says(node, name, spec)) {
      putByte(sink, separator);
      putAscii(sink, head);
      putMember(sink, node, name, spec, rename);
    } else {
      continue;
    }
    separator = COMMA;
  }
  putByte(sink, CLOSE);
}

/** Appends a type, names resolved. */
export function putType(sink: ByteSink, type: Type): void {
  putJson(sink, typeToJson(type));
}

/** A normal form as JSON, frozen. */
export function normalJson(bytes: Uint8Array): JsonValue {
  const read = readJson(bytes, UNBOUNDED);
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

/** False for a member that is not there, or says what would be meant anyway. */
function says(node: OperatorNode, name: string, spec: MemberSpec): boolean {
  switch (spec.kind) {
    case "expression":
    case "lazy":
    case "body":
      return node.operands.has(name);
    case "type":
      return node.type !== undefined;
    case "name":
    case "binding":
    case "rounding":
    case "order":
      return node.words.get(name) !== spec.default;
    case "pointer":
      return node.tokens !== undefined && (node.tokens.length > 0 || spec.default === undefined);
    case "scale":
      return node.number !== spec.default;
    default:
      return true;
  }
}

function putMember(
  sink: ByteSink,
  node: OperatorNode,
  name: string,
  spec: MemberSpec,
  rename: Rename | undefined,
): void {
  switch (spec.kind) {
    case "expression":
    case "lazy":
    case "body": {
      const operand = node.operands.get(name);
      if (operand !== undefined) putNormal(sink, operand, rename);
      return;
    }
    case "expressions":
      return putAll(sink, node.values, rename);
    case "fields":
      return putFields(sink, node.fields, rename);
    case "value":
      return putJson(sink, node.literal);
    case "type":
      return node.type && putType(sink, node.type);
    case "name": {
      const word = node.words.get(name) ?? "";
      putQuoted(sink, node.op === "node" && rename !== undefined ? rename(word) : word);
      return;
    }
    case "binding":
    case "rounding":
    case "order":
      putQuoted(sink, node.words.get(name) ?? "");
      return;
    case "pointer":
      putQuoted(sink, pointer(...(node.tokens ?? [])));
      return;
    case "flag":
      return putAscii(sink, String(node.flag));
    case "scale":
      return putAscii(sink, String(node.number));
    default:
      return assertNever(spec.kind, "kind of member");
  }
}

function putAll(sink: ByteSink, nodes: readonly ParsedNode[], rename: Rename | undefined): void {
  putByte(sink, OPEN_LIST);
  for (const [index, node] of nodes.entries()) {
    if (index > 0) putByte(sink, COMMA);
    putNormal(sink, node, rename);
  }
  putByte(sink, CLOSE_LIST);
}

function putFields(
  sink: ByteSink,
  fields: ReadonlyMap<string, ParsedNode>,
  rename: Rename | undefined,
): void {
  let separator = OPEN;
  for (const name of [...fields.keys()].sort(compareText)) {
    const node = fields.get(name);
    if (node === undefined) continue;
    putByte(sink, separator);
    putQuoted(sink, name);
    putByte(sink, COLON);
    putNormal(sink, node, rename);
    separator = COMMA;
  }
  if (separator === OPEN) putByte(sink, OPEN);
  putByte(sink, CLOSE);
}

function putJson(sink: ByteSink, value: JsonValue): void {
  if (typeof value === "string") putQuoted(sink, value);
  else if (typeof value === "object" && value !== null) putBytes(sink, canonicalBytes(value));
  else putAscii(sink, String(value));
}
