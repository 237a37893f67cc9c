/**
 * What checking an operator works with. A check reports problems at its operator, and gives what is needed to compile
 * it; an operand that has none was reported where the problem is, so its readers stay silent.
 */
import { nearest } from "../base/text.ts";
import type { DiagnosticCode, Report } from "../model/diagnostic.ts";
import type { Type } from "../model/type.ts";
import type { Value } from "../model/value.ts";
import type { Around, Site } from "./failure.ts";
import { type Code, type Frame, type Lowering, outOfFuel } from "./frame.ts";
import { MADE_TYPES, TYPE_LIMITS } from "./limits.ts";
import type { OperatorNode, ParsedNode } from "./parse-tree.ts";
import { type Extents, typeExtent } from "./type-extent.ts";
import { fits, leastCommon } from "./type-relations.ts";
import { NOTHING, typeName } from "./types.ts";

/** What an expression may refer to, and of which type it is. */
export interface Scope {
  input(name: string): Type | undefined;
  readonly inputNames: readonly string[];
  /** "failed" is a node with problems of its own: reported there, so not again by its readers. */
  node(id: string): Type | "unknown_node" | "not_an_ancestor" | "failed";
  readonly nodeNames: readonly string[];
  /** The element of a node's `each`, when the expression stands inside one. */
  readonly item?: { readonly name: string; readonly type: Type };
}

/** A name in scope. `list` tells whether it has a position. */
export interface Binding extends Around {
  readonly type: Type;
  readonly list: boolean;
}

export interface Checking {
  readonly scope: Scope;
  readonly report: Report;
  readonly bindings: readonly Binding[];
  /** Most names in scope at once, so far. */
  readonly names: { most: number };
  /** Extents of types seen so far: types grow by sharing. */
  readonly extents: Extents;
  readonly check: (node: ParsedNode, checking: Checking) => Typed | undefined;
}

/** Where a value is read from without computing anything and without failing: lets its reader skip a call. */
export interface Direct {
  readonly from: "inputs" | "nodes" | "items";
  readonly slot: (lowering: Lowering) => number;
  readonly fields: readonly string[];
}

/** A field that is compared with another one, or with a fixed value. */
export interface Match {
  readonly left: Direct;
  readonly right: Direct | { readonly value: Value };
}

/** An operator that was checked. */
export interface Typed {
  readonly type: Type;
  readonly site: Site;
  /** Fuel of all that is evaluated whenever this is: itself, and operands that are not lazy. */
  readonly cost: number;
  readonly lower: (lowering: Lowering) => Code;
  readonly direct?: Direct;
  readonly constant?: { readonly value: Value };
  /** An equality of scalar fields that are there: neither reading nor comparing them can fail. */
  readonly match?: Match;
}

export type Operation = (node: OperatorNode, checking: Checking) => Typed | undefined;

export function siteOf(node: OperatorNode, checking: Checking): Site {
  const { bindings } = checking;
  const around = bindings.length === 0 ? NOTHING_AROUND : bindings.filter(({ list }) => list);
  return { op: node.op, at: node.at, around };
}

const NOTHING_AROUND: readonly Around[] = Object.freeze([]);

/** A checked operator that evaluates these operands always, and pays one for itself. */
export function typed(
  node: OperatorNode,
  checking: Checking,
  type: Type,
  always: readonly Typed[],
  lower: (lowering: Lowering, site: Site) => Code,
): Typed {
  const site = siteOf(node, checking);
  let cost = 1;
  for (const operand of always) cost += operand.cost;
  return { type, site, cost, lower: (lowering) => lower(lowering, site) };
}

/** An operand that is evaluated only sometimes, and is paid for when it is. */
export interface Entry {
  readonly code: Code;
  readonly cost: number;
  readonly site: Site;
}

export function entryOf({ lower, cost, site }: Typed, lowering: Lowering): Entry {
  return { code: lower(lowering), cost, site };
}

export function enter(frame: Frame, { code, cost, site }: Entry): Value {
  frame.fuel -= cost;
  if (frame.fuel < 0) throw outOfFuel(frame, site);
  return code(frame);
}

export function problem(
  node: OperatorNode,
  checking: Checking,
  code: DiagnosticCode,
  what: string,
  hint?: string | undefined,
): undefined {
  const message = `${node.op}: ${what}`;
  checking.report(
    hint === undefined
      ? { code, pointer: node.at, message }
      : { code, pointer: node.at, message, hint },
  );
  return undefined;
}

/** Checks the operand in a member, if there is one. */
export function operand(node: OperatorNode, member: string, checking: Checking): Typed | undefined {
  const parsed = node.operands.get(member);
  return parsed === undefined ? undefined : checking.check(parsed, checking);
}

/** Checks the operand in a member and that it fits a type. */
export function operandOf(
  node: OperatorNode,
  member: string,
  wanted: Type,
  checking: Checking,
): Typed | undefined {
  const found = operand(node, member, checking);
  return found === undefined || expect(found, wanted, member, node, checking) ? found : undefined;
}

/** Reports when an operand does not fit. */
export function expect(
  found: Typed,
  wanted: Type,
  member: string,
  node: OperatorNode,
  checking: Checking,
): boolean {
  if (fits(found.type, wanted)) return true;
  mismatch(node, checking, member, found.type, typeName(wanted));
  return false;
}

export function mismatch(
  node: OperatorNode,
  checking: Checking,
  member: string,
  given: Type,
  wanted: string,
): undefined {
  const what = `${member} must be ${article(wanted)}, not ${article(typeName(given))}`;
  return problem(node, checking, "type_mismatch", what, hintFor(given, wanted));
}

/** The usual way from one type to another, where there is one. */
function hintFor(given: Type, wanted: string): string | undefined {
  if (given.kind === "optional" || given.kind === "null") {
    return "say with get or default what its absence means";
  }
  if (given.kind === "json") return "decode gives json a type";
  if (wanted === "json") return "to_json gives the JSON form of a value";
  if (wanted === "integer" && (given.kind === "enum" || given.kind === "text")) {
    return "decode reads an integer from text; a number literal stands without quotes";
  }
  if (wanted === "text")
    return "to_text gives the text of integers, booleans, dates and timestamps";
  return undefined;
}

export function article(name: string): string {
  if (/^(?:null|nothing|json|text|true)/.test(name)) return name;
  return /^[aeio]/.test(name) ? `an ${name}` : `a ${name}`;
}

/** The least common type of many, or undefined. Halving keeps unions of many texts from being rebuilt each time. */
export function commonOf(types: readonly Type[]): Type | undefined {
  if (types.length <= 1) return types[0] ?? NOTHING;
  const middle = types.length >> 1;
  const left = commonOf(types.slice(0, middle));
  const right = left && commonOf(types.slice(middle));
  return left && right && leastCommon(left, right);
}

/** The element type of a list operand; undefined after reporting that it is no list. */
export function listOperand(
  node: OperatorNode,
  member: string,
  checking: Checking,
): { readonly list: Typed; readonly of: Type } | undefined {
  const list = operand(node, member, checking);
  if (list === undefined) return undefined;
  if (list.type.kind === "list") return { list, of: list.type.of };
  if (list.type.kind === "nothing") return { list, of: NOTHING };
  return mismatch(node, checking, member, list.type, "list");
}

/** The scope inside an operator that binds a name. Reports a name that is taken, and goes on with the new one. */
export function bind(
  node: OperatorNode,
  member: string,
  type: Type,
  list: boolean,
  checking: Checking,
): { readonly inside: Checking; readonly slot: number; readonly free: boolean } {
  const name = node.words.get(member) ?? "";
  const free = !checking.bindings.some((binding) => binding.name === name);
  if (!free) {
    const hint = `say with ${member} what it is called here`;
    problem(
      node,
      checking,
      "name_taken",
      `the name ${name} is taken by an operator around it`,
      hint,
    );
  }
  const slot = checking.bindings.length;
  const bindings = [...checking.bindings, { name, slot, type, list }];
  checking.names.most = Math.max(checking.names.most, bindings.length);
  return { inside: { ...checking, bindings }, slot, free };
}

/** @param candidates names of a scope, which has a budget for all that ask */
export function closest(name: string, candidates: Iterable<string>): string | undefined {
  const meant = nearest(name, candidates, Number.POSITIVE_INFINITY);
  return meant === undefined ? undefined : `did you mean ${meant}?`;
}

/**
 * Refuses types that grew beyond what can be written, one by one or all together: types grow by sharing, so documents
 * that make them stay small. What an expression refers to counts for nothing: it was there before.
 */
export function withinExtent(found: Typed, node: OperatorNode, checking: Checking): boolean {
  const { extents } = checking;
  const before = extents.made;
  const { depth, parts } = typeExtent(found.type, extents);
  if (isReference(node)) extents.made = before;
  if (depth > TYPE_LIMITS.depth) {
    problem(node, checking, "too_deep", `its type nests over ${TYPE_LIMITS.depth} levels`);
    return false;
  }
  if (parts > TYPE_LIMITS.parts) {
    problem(node, checking, "limit_exceeded", `its type has over ${TYPE_LIMITS.parts} parts`);
    return false;
  }
  if (!madeTooMuch(checking)) return true;
  const what = `up to here the expression makes types of over ${MADE_TYPES} parts`;
  problem(node, checking, "limit_exceeded", what, "compute parts of it in nodes of their own");
  return false;
}

/** True once the types of an expression are too large all together; nothing more is checked then. */
export function madeTooMuch({ extents }: Checking): boolean {
  return extents.made > MADE_TYPES;
}

function isReference({ op }: OperatorNode): boolean {
  return op === "input" || op === "node" || op === "item";
}
