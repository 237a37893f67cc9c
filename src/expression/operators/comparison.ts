/** equal, the order, and the choice between two ordered values. */
import type { Type } from "../../model/type.ts";
import type { RecordValue, Value } from "../../model/value.ts";
import { type Checking, type Operation, operand, problem, type Typed, typed } from "../checking.ts";
import { equalityOf, isScalar, settle, type Work } from "../equality.ts";
import type { Site } from "../failure.ts";
import { asTexts, type Code, type Frame, type Lowering, spendUnits } from "../frame.ts";
import type { OperatorNode } from "../parse-tree.ts";
import { isOrdered, isTextual, leastCommon, neverEqual } from "../type-relations.ts";
import { BOOLEAN, isOptional, presentOf, typeName } from "../types.ts";
import { bitsRead, isSmall } from "./arithmetic.ts";

/** Equality of two operands of possibly different types, one of which may be optional. */
export type Equal = (left: Value, right: Value, frame: Frame) => boolean;

/** The equality of two types as `equal` has it, or undefined after reporting why there is none. */
export function comparing(
  left: Type,
  right: Type,
  node: OperatorNode,
  checking: Checking,
): ((site: Site) => Equal) | undefined {
  if (left.kind === "optional" && right.kind === "optional") {
    const hint = "say with default or has what two absent values mean";
    return problem(node, checking, "both_optional", "both sides may be absent", hint);
  }
  const common = leastCommon(left, right);
  if (common === undefined) return incomparable(left, right, node, checking);
  if (neverEqual(left, right)) {
    const what = `${typeName(left)} and ${typeName(right)} have no value in common`;
    return problem(node, checking, "never_equal", what, "is a word misspelt?");
  }
  return (site) => equalOf(common, isOptional(left) !== isOptional(right), site);
}

function incomparable(left: Type, right: Type, node: OperatorNode, checking: Checking): undefined {
  const json = presentOf(left).kind === "json" || presentOf(right).kind === "json";
  const what = `${typeName(left)} and ${typeName(right)} cannot be compared`;
  const hint = json ? "json is compared with json only: decode one side" : undefined;
  return problem(node, checking, "type_mismatch", what, hint);
}

/** Texts are read as far as the shorter one goes. */
function sameText(left: string, right: string, frame: Frame, site: Site): boolean {
  if (left.length >= 256 && right.length >= 256) {
    spendUnits(frame, Math.min(left.length, right.length), site);
  }
  return left === right;
}

function equalOf(common: Type, oneOptional: boolean, site: Site): Equal {
  const present = presentOf(common);
  if (present.kind === "text" || present.kind === "enum") {
    return (left, right, frame) =>
      typeof left === "string" && typeof right === "string"
        ? sameText(left, right, frame, site)
        : left === right;
  }
  if (isScalar(present)) return (left, right) => left === right;
  const same = equalityOf(present);
  const absentable = isOptional(common);
  return (left, right, frame) => {
    // An absent value equals no value of the other type, json's own null included.
    if (absentable && (left === null || right === null)) return !oneOptional && left === right;
    const work: Work = { frame, site, parts: 0 };
    const result = same(left, right, work);
    settle(work);
    return result;
  };
}

/**
 * The equality of scalars that are there, by kind (V8 compares best where it sees one kind) and without a call for a
 * side that is a field or fixed. Undefined where there is no such short way.
 */
function shortEqual(
  left: Typed,
  right: Typed,
  site: Site,
  lowering: Lowering,
): Code<boolean> | undefined {
  if (!isScalar(left.type) || isOptional(left.type) || isOptional(right.type)) return undefined;
  if (left.constant !== undefined) {
    return right.constant === undefined ? shortEqual(right, left, site, lowering) : undefined;
  }
  const textual = isTextual(left.type);
  if (right.constant !== undefined) {
    const { value } = right.constant;
    // A longer text is never equal, and comparing it reads no more than the fixed one has.
    if (typeof value !== "string" || value.length < 256) return equalToFixed(left, value, lowering);
  }
  const fields = bothInputFields(left, right, lowering);
  if (fields !== undefined) return textual ? equalTexts(fields, site) : equalFields(fields);
  const one = left.lower(lowering);
  const other = right.lower(lowering);
  if (left.type.kind === "integer") return (frame) => one(frame) === other(frame);
  if (!textual) return undefined;
  const first = asTexts(one);
  const second = asTexts(other);
  return (frame) => sameText(first(frame), second(frame), frame, site);
}

function equalToFixed(left: Typed, value: Value, lowering: Lowering): Code<boolean> {
  const { direct } = left;
  const field = direct?.fields.length === 1 ? direct.fields[0] : undefined;
  const code = left.lower(lowering);
  if (direct?.from !== "items" || field === undefined) {
    return typeof value === "bigint"
      ? (frame) => code(frame) === value
      : (frame) => code(frame) === value;
  }
  const slot = direct.slot(lowering);
  return (frame) => (frame.items[slot] as RecordValue)[field] === value;
}

interface TwoFields {
  readonly left: number;
  readonly right: number;
  readonly mine: string;
  readonly other: string;
}

function bothInputFields(left: Typed, right: Typed, lowering: Lowering): TwoFields | undefined {
  const one = left.direct;
  const two = right.direct;
  if (one?.from !== "inputs" || two?.from !== "inputs") return undefined;
  const [mine] = one.fields;
  const [other] = two.fields;
  if (mine === undefined || other === undefined) return undefined;
  if (one.fields.length > 1 || two.fields.length > 1) return undefined;
  return { left: one.slot(lowering), right: two.slot(lowering), mine, other };
}

function equalFields({ left, right, mine, other }: TwoFields): Code<boolean> {
  return ({ inputs }) =>
    (inputs[left] as RecordValue)[mine] === (inputs[right] as RecordValue)[other];
}

function equalTexts({ left, right, mine, other }: TwoFields, site: Site): Code<boolean> {
  return (frame) => {
    const one = (frame.inputs[left] as RecordValue)[mine] as string;
    const two = (frame.inputs[right] as RecordValue)[other] as string;
    return sameText(one, two, frame, site);
  };
}

function equality(negated: boolean): Operation {
  return (node, checking) => {
    const left = operand(node, "left", checking);
    const right = operand(node, "right", checking);
    if (left === undefined || right === undefined) return undefined;
    const make = comparing(left.type, right.type, node, checking);
    if (make === undefined) return undefined;
    return typed(node, checking, BOOLEAN, [left, right], (lowering, site) => {
      const short = shortEqual(left, right, site, lowering);
      if (short !== undefined) return negated ? (frame) => !short(frame) : short;
      const one = left.lower(lowering);
      const other = right.lower(lowering);
      const equal = make(site);
      return negated
        ? (frame) => !equal(one(frame), other(frame), frame)
        : (frame) => equal(one(frame), other(frame), frame);
    });
  };
}

/** -1, 0 or 1; pays for long texts and large integers. */
type Order = (left: Value, right: Value, frame: Frame) => number;

/** The order of an ordered type: integers by value, texts by UTF-16 unit, dates and timestamps by time. */
export function orderOf(type: Type, site: Site): Order {
  const pay = payerOf(type, site);
  return (left, right, frame) => {
    const one = left as Ranked;
    const other = right as Ranked;
    pay?.(frame, one, other);
    return one < other ? -1 : one > other ? 1 : 0;
  };
}

/** Pays for comparing two values of a type; dates and timestamps cost nothing. */
function payerOf(
  type: Type,
  site: Site,
): ((frame: Frame, left: Ranked, right: Ranked) => void) | undefined {
  if (type.kind === "integer") {
    return (frame, left) => {
      const value = left as bigint;
      if (!isSmall(value)) bitsRead(frame, value, site);
    };
  }
  if (type.kind !== "text") return undefined;
  return (frame, left, right) => {
    spendUnits(frame, Math.min((left as string).length, (right as string).length), site);
  };
}

interface Ordered {
  readonly left: Typed;
  readonly right: Typed;
  readonly common: Type;
}

function ordered(node: OperatorNode, checking: Checking): Ordered | undefined {
  const left = operand(node, "left", checking);
  const right = operand(node, "right", checking);
  if (left === undefined || right === undefined) return undefined;
  const common = leastCommon(left.type, right.type);
  if (common === undefined) return incomparable(left.type, right.type, node, checking);
  if (!isOrdered(common)) return notOrdered(common, node, checking);
  return { left, right, common };
}

export function notOrdered(type: Type, node: OperatorNode, checking: Checking): undefined {
  const what = `${typeName(type)} has no order`;
  const hint =
    type.kind === "enum"
      ? "to_text makes a text of it"
      : isOptional(type)
        ? "say with get or default what its absence means"
        : "integers, texts, dates and timestamps have one";
  return problem(node, checking, "not_ordered", what, hint);
}

type Ranked = bigint | string | number;

function comparison(holds: (left: Ranked, right: Ranked) => boolean): Operation {
  return (node, checking) => {
    const found = ordered(node, checking);
    if (found === undefined) return undefined;
    const { left, right, common } = found;
    return typed(node, checking, BOOLEAN, [left, right], (lowering, site) => {
      const one = left.lower(lowering) as Code<Ranked>;
      const other = right.lower(lowering) as Code<Ranked>;
      const pay = payerOf(common, site);
      if (pay === undefined) return (frame) => holds(one(frame), other(frame));
      return (frame) => {
        const first = one(frame);
        const second = other(frame);
        pay(frame, first, second);
        return holds(first, second);
      };
    });
  };
}

function choice(takesLeft: (order: number) => boolean): Operation {
  return (node, checking) => {
    const found = ordered(node, checking);
    if (found === undefined) return undefined;
    const { left, right, common } = found;
    return typed(node, checking, common, [left, right], (lowering, site): Code => {
      const one = left.lower(lowering);
      const other = right.lower(lowering);
      const order = orderOf(common, site);
      return (frame) => {
        const first = one(frame);
        const second = other(frame);
        return takesLeft(order(first, second, frame)) ? first : second;
      };
    });
  };
}

export const comparisons = {
  equal: equality(false),
  not_equal: equality(true),
  less: comparison((left, right) => left < right),
  less_or_equal: comparison((left, right) => left <= right),
  greater: comparison((left, right) => left > right),
  greater_or_equal: comparison((left, right) => left >= right),
  minimum: choice((order) => order <= 0),
  maximum: choice((order) => order >= 0),
};
