/**
 * Comparing fields of records with each other and with fixed values: what checks and filters do most. The code says
 * nothing that `equal` and `and` do not say. It is written out per case, because a place in the code at which V8 has
 * seen one field only is several times faster than one that has seen many.
 */
import type { RecordValue, Value } from "../../model/value.ts";
import type { Match, Typed } from "../checking.ts";
import type { Site } from "../failure.ts";
import { type Code, type Frame, type Lowering, outOfFuel, spendUnits } from "../frame.ts";

/** Scalars are equal by value; texts are paid for as far as the shorter one goes. */
export function same(left: Value, right: Value, frame: Frame, site: Site): boolean {
  if (typeof left === "string" && left.length >= 256 && typeof right === "string") {
    spendUnits(frame, Math.min(left.length, right.length), site);
  }
  return left === right;
}

/** The code of a match, where there is a shorter one than for any two operands. */
export function matchCode(match: Match, site: Site, lowering: Lowering): Code<boolean> | undefined {
  if ("value" in match.right) return fixedCode(match, match.right.value, lowering);
  const pair = inputPair(match, 0, site, lowering);
  return pair === undefined ? undefined : pairCode(pair);
}

function pairCode({ left, mine, right, other, site }: InputPair): Code<boolean> {
  return (frame) => {
    const one = (frame.inputs[left] as RecordValue)[mine] as Value;
    const two = (frame.inputs[right] as RecordValue)[other] as Value;
    return same(one, two, frame, site);
  };
}

function fixedCode({ left }: Match, value: Value, lowering: Lowering): Code<boolean> | undefined {
  const slot = left.slot(lowering);
  const [field = ""] = left.fields;
  switch (left.from) {
    case "items":
      return (frame) => (frame.items[slot] as RecordValue)[field] === value;
    case "inputs":
      return (frame) => (frame.inputs[slot] as RecordValue)[field] === value;
    default:
      return undefined;
  }
}

/** A match of two fields of records among the inputs. */
interface InputPair {
  readonly left: number;
  readonly mine: string;
  readonly right: number;
  readonly other: string;
  readonly cost: number;
  readonly site: Site;
}

function inputPair(
  { left, right }: Match,
  cost: number,
  site: Site,
  lowering: Lowering,
): InputPair | undefined {
  if (!("from" in right) || left.from !== "inputs" || right.from !== "inputs") return undefined;
  const [mine = ""] = left.fields;
  const [other = ""] = right.fields;
  return { left: left.slot(lowering), mine, right: right.slot(lowering), other, cost, site };
}

/** `and` of matches between the same two inputs: does this record agree with that one. */
export function agreement(values: readonly Typed[], lowering: Lowering): Code<boolean> | undefined {
  const pairs: InputPair[] = [];
  for (const { match, cost, site } of values) {
    const pair = match && inputPair(match, cost, site, lowering);
    if (pair === undefined) return undefined;
    pairs.push(pair);
  }
  const [first] = pairs;
  if (first === undefined || pairs.length < 2) return undefined;
  const { left, right } = first;
  if (pairs.some((pair) => pair.left !== left || pair.right !== right)) return undefined;
  return allOf(pairs);
}

/** Two or three at a time are written out; what is left over follows behind them. */
function allOf(pairs: readonly InputPair[]): Code<boolean> {
  const [a, b, c, ...more] = pairs;
  if (a === undefined) return () => true;
  if (b === undefined) return pairCode(a);
  if (c === undefined) return bothOf(a, b);
  const three = threeOf(a, b, c);
  const [next] = more;
  if (next === undefined) return three;
  const rest = allOf(more);
  const { cost, site } = next;
  return (frame) => {
    if (!three(frame)) return false;
    frame.fuel -= cost;
    if (frame.fuel < 0) throw outOfFuel(frame, site);
    return rest(frame);
  };
}

function bothOf(a: InputPair, b: InputPair): Code<boolean> {
  const { left, right, mine: mineA, other: otherA, site: siteA } = a;
  const { mine: mineB, other: otherB, site: siteB, cost: costB } = b;
  return (frame) => {
    const one = frame.inputs[left] as RecordValue;
    const two = frame.inputs[right] as RecordValue;
    if (!same(one[mineA] as Value, two[otherA] as Value, frame, siteA)) return false;
    frame.fuel -= costB;
    if (frame.fuel < 0) throw outOfFuel(frame, siteB);
    return same(one[mineB] as Value, two[otherB] as Value, frame, siteB);
  };
}

function threeOf(a: InputPair, b: InputPair, c: InputPair): Code<boolean> {
  // Kept apart from the pairs: what a closure holds itself is read faster than members of what it holds.
  const { left, right, mine: mineA, other: otherA, site: siteA } = a;
  const { mine: mineB, other: otherB, site: siteB, cost: costB } = b;
  const { mine: mineC, other: otherC, site: siteC, cost: costC } = c;
  return (frame) => {
    const one = frame.inputs[left] as RecordValue;
    const two = frame.inputs[right] as RecordValue;
    if (!same(one[mineA] as Value, two[otherA] as Value, frame, siteA)) return false;
    frame.fuel -= costB;
    if (frame.fuel < 0) throw outOfFuel(frame, siteB);
    if (!same(one[mineB] as Value, two[otherB] as Value, frame, siteB)) return false;
    frame.fuel -= costC;
    if (frame.fuel < 0) throw outOfFuel(frame, siteC);
    return same(one[mineC] as Value, two[otherC] as Value, frame, siteC);
  };
}

/** The field and the value, where a body is true for the elements that have this value in this field. */
export function elementMatch(
  body: Typed,
  slot: number,
  lowering: Lowering,
): { readonly field: string; readonly value: Value } | undefined {
  const { match } = body;
  if (match === undefined || !("value" in match.right)) return undefined;
  const { left } = match;
  if (left.from !== "items" || left.slot(lowering) !== slot) return undefined;
  return { field: left.fields[0] ?? "", value: match.right.value };
}
