/** and, or, not, if: only what is needed is evaluated. */
import {
  enter,
  entryOf,
  expect,
  type Operation,
  operand,
  operandOf,
  problem,
  typed,
} from "../checking.ts";
import { asBooleans } from "../frame.ts";
import { leastCommon } from "../type-relations.ts";
import { BOOLEAN, optionalOf, typeName } from "../types.ts";
import { agreement } from "./matching.ts";

function junction(stopsAt: boolean): Operation {
  return (node, checking) => {
    const values = node.values.map((value, index) => {
      const found = checking.check(value, checking);
      const fine = found && expect(found, BOOLEAN, `value ${index}`, node, checking);
      return fine ? found : undefined;
    });
    const known = values.filter((value) => value !== undefined);
    if (known.length < values.length) return undefined;
    // The first one is always evaluated, so it is paid for together with the operator.
    return typed(node, checking, BOOLEAN, known.slice(0, 1), (lowering) => {
      const agreeing = stopsAt ? undefined : agreement(known, lowering);
      if (agreeing !== undefined) return agreeing;
      const [start, ...rest] = known;
      if (start === undefined) return () => !stopsAt;
      const first = asBooleans(start.lower(lowering));
      const entries = rest.map((value) => entryOf(value, lowering));
      const [second, third] = entries;
      if (second !== undefined && entries.length === 1) {
        return (frame) => (first(frame) === stopsAt ? stopsAt : enter(frame, second));
      }
      if (second !== undefined && third !== undefined && entries.length === 2) {
        return (frame) => {
          if (first(frame) === stopsAt || enter(frame, second) === stopsAt) return stopsAt;
          return enter(frame, third);
        };
      }
      return (frame) => {
        if (first(frame) === stopsAt) return stopsAt;
        for (const entry of entries) if (enter(frame, entry) === stopsAt) return stopsAt;
        return !stopsAt;
      };
    });
  };
}

const not: Operation = (node, checking) => {
  const value = operandOf(node, "value", BOOLEAN, checking);
  if (value === undefined) return undefined;
  return typed(node, checking, BOOLEAN, [value], (lowering) => {
    const code = asBooleans(value.lower(lowering));
    return (frame) => !code(frame);
  });
};

const ifThen: Operation = (node, checking) => {
  const condition = operandOf(node, "condition", BOOLEAN, checking);
  const then = operand(node, "then", checking);
  const otherwise = operand(node, "else", checking);
  const hasElse = node.operands.has("else");
  if (condition === undefined || then === undefined) return undefined;
  if (hasElse && otherwise === undefined) return undefined;
  const type =
    otherwise === undefined ? optionalOf(then.type) : leastCommon(then.type, otherwise.type);
  if (type === undefined) {
    const other = otherwise === undefined ? "null" : typeName(otherwise.type);
    const what = `then is ${typeName(then.type)} and else is ${other}; they have no common type`;
    return problem(node, checking, "type_mismatch", what);
  }
  return typed(node, checking, type, [condition], (lowering) => {
    const test = asBooleans(condition.lower(lowering));
    const yes = entryOf(then, lowering);
    if (otherwise === undefined) return (frame) => (test(frame) ? enter(frame, yes) : null);
    const no = entryOf(otherwise, lowering);
    return (frame) => enter(frame, test(frame) ? yes : no);
  });
};

export const logic = { and: junction(false), or: junction(true), not, if: ifThen };
