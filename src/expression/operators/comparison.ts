/** equal, the order, and the choice between two ordered values. */
import type { Type } from "../../model/type.ts";
import type { Value } from "../../model/value.ts";
import {
  type Checking,
  type Match,
  type Operation,
  operand,
  problem,
  type Typed,
  typed,
} from "../checking.ts";
import { equalityOf, isScalar, settle, type Work } from "../equality.ts";
import type { Site } from "../failure.ts";
import { type Code, type Frame, spendUnits } from "../frame.ts";
import type { OperatorNode } from "../parse-tree.ts";
import { isOrdered, leastCommon, neverEqual } from "../type-relations.ts";
import { BOOLEAN, isOptional, presentOf, typeName } from "../types.ts";
import { bitsRead, isSmall } from "./arithmetic.ts";
import { matchCode, same } from "./matching.ts";

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

function equalOf(common: Type, oneOptional: boolean, site: Site): Equal {
  const present = presentOf(common);
  if (present.kind === "text" || present.kind === "enum") {
    return (left, right, frame) => same(left, right, frame, site);
  }
  if (isScalar(present)) return (left, right) => left === right;
  const deep = equalityOf(present);
  const absentable = isOptional(common);
  return (left, right, frame) => {
    // An absent value equals no value of the other type, json's own null included.
    if (absentable && (left === null || right === null)) return !oneOptional && left === right;
    const work: Work = { frame, site, parts: 0 };
    const result = deep(left, right, work);
    settle(work);
    return result;
  };
}

/** The fields, where a comparison is nothing but one of two scalar fields, or of one with something fixed. */
function matchOf(left: Typed, right: Typed): Match | undefined {
  if (!isScalar(left.type) || isOptional(left.type) || isOptional(right.type)) return undefined;
  if (left.constant !== undefined) {
    return right.constant === undefined ? matchOf(right, left) : undefined;
  }
  if (left.direct?.fields.length !== 1) return undefined;
  const { constant, direct } = right;
  if (direct?.fields.length === 1) return { left: left.direct, right: direct };
  // A longer text is never equal, and comparing it reads no more than the fixed one has: nothing to pay for.
  if (
    constant === undefined ||
    (typeof constant.value === "string" && constant.value.length >= 256)
  ) {
    return undefined;
  }
  return { left: left.direct, right: constant };
}

function equality(negated: boolean): Operation {
  return (node, checking) => {
    const left = operand(node, "left", checking);
    const right = operand(node, "right", checking);
    if (left === undefined || right === undefined) return undefined;
    const make = comparing(left.type, right.type, node, checking);
    if (make === undefined) return undefined;
    const match = negated ? undefined : matchOf(left, right);
    const found = typed(node, checking, BOOLEAN, [left, right], (lowering, site) => {
      const short = match && matchCode(match, site, lowering);
      if (short !== undefined) return short;
      const one = left.lower(lowering);
      const other = right.lower(lowering);
      const equal = make(site);
      return negated
        ? (frame) => !equal(one(frame), other(frame), frame)
        : (frame) => equal(one(frame), other(frame), frame);
    });
    return match === undefined ? found : { ...found, match };
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
