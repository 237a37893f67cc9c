/** equal, the order, and the choice between two ordered values. */
import { assertNever } from "../../base/assert.ts";
import type { Type } from "../../model/type.ts";
import type { Value } from "../../model/value.ts";
import { type Checking, type Operation, operand, problem, type Typed, typed } from "../checking.ts";
import { equalityOf, settle, type Work } from "../equality.ts";
import type { Site } from "../failure.ts";
import { type Code, type Frame, spendUnits } from "../frame.ts";
import type { OperatorNode } from "../parse-tree.ts";
import { isOrdered, leastCommon, neverEqual } from "../type-relations.ts";
import { BOOLEAN, isOptional, presentOf, typeName } from "../types.ts";
import { bitsRead } from "./arithmetic.ts";

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
  switch (present.kind) {
    case "boolean":
    case "null":
    case "nothing":
    case "date":
    case "timestamp":
      return (left, right) => left === right;
    case "integer":
    case "decimal":
      return (left, right) => left === right;
    case "text":
    case "enum":
      return (left, right, frame) => {
        if (typeof left === "string") spendUnits(frame, left.length, site);
        return left === right;
      };
    case "list":
    case "record":
    case "dictionary":
    case "json":
    case "optional": {
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
    default:
      return assertNever(present, "type");
  }
}

function equality(negated: boolean): Operation {
  return (node, checking) => {
    const left = operand(node, "left", checking);
    const right = operand(node, "right", checking);
    if (left === undefined || right === undefined) return undefined;
    const make = comparing(left.type, right.type, node, checking);
    if (make === undefined) return undefined;
    return typed(node, checking, BOOLEAN, [left, right], (lowering, site) => {
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
  if (type.kind === "integer") {
    return (left, right, frame) => {
      const one = left as bigint;
      const other = right as bigint;
      bitsRead(frame, one, site);
      return one < other ? -1 : one > other ? 1 : 0;
    };
  }
  if (type.kind === "text") {
    return (left, right, frame) => {
      const one = left as string;
      const other = right as string;
      spendUnits(frame, Math.min(one.length, other.length), site);
      return one < other ? -1 : one > other ? 1 : 0;
    };
  }
  return (left, right) => {
    const one = left as string | number;
    const other = right as string | number;
    return one < other ? -1 : one > other ? 1 : 0;
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

function comparison(holds: (order: number) => boolean): Operation {
  return (node, checking) => {
    const found = ordered(node, checking);
    if (found === undefined) return undefined;
    const { left, right, common } = found;
    return typed(node, checking, BOOLEAN, [left, right], (lowering, site) => {
      const one = left.lower(lowering);
      const other = right.lower(lowering);
      const order = orderOf(common, site);
      return (frame) => holds(order(one(frame), other(frame), frame));
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
  less: comparison((order) => order < 0),
  less_or_equal: comparison((order) => order <= 0),
  greater: comparison((order) => order > 0),
  greater_or_equal: comparison((order) => order >= 0),
  minimum: choice((order) => order <= 0),
  maximum: choice((order) => order >= 0),
};
