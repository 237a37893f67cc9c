/**
 * The state of one evaluation, and the accounting of its fuel.
 *
 * - F1 A straight-line piece of an expression (all that is evaluated whenever its root is) is paid for at once, where
 *   it is entered: the root, a branch, an `else`, the body of a list operator times its elements. So the total is one
 *   per operator evaluated, and no operator pays by itself.
 * - F2 Work that grows with the size of a value is paid by the operator that does it, before it is done where the size
 *   is known before.
 */
import type { RecordValue, Value } from "../model/value.ts";
import { type EvaluationFailure, failure, type Site } from "./failure.ts";
import type { EvaluationLimits } from "./limits.ts";

export interface Frame {
  readonly inputs: readonly Value[];
  readonly nodes: readonly Value[];
  /** Named values in scope, the outermost first. */
  readonly items: Value[];
  /** Position of the element in each slot that is a list's. */
  readonly positions: number[];
  fuel: number;
}

/** A compiled operator. What it gives has the static type of the operator. */
export type Code<T extends Value = Value> = (frame: Frame) => T;

/** What compiling an operator may rely on. */
export interface Lowering {
  readonly limits: EvaluationLimits;
  readonly layout: Layout;
}

/** Slots of the sources that an expression refers to. */
export interface Layout {
  input(name: string): number;
  node(id: string): number;
}

export const LIST_SHIFT = 5;
const MADE_SHIFT = 2;
export const UNIT_SHIFT = 8;

export function outOfFuel(frame: Frame, site: Site): EvaluationFailure {
  return failure(site, frame.positions, "out_of_fuel", "the evaluation takes too long");
}

export function fail(
  frame: Frame,
  site: Site,
  code: EvaluationFailure["code"],
  what: string,
): EvaluationFailure {
  return failure(site, frame.positions, code, what);
}

export function spend(frame: Frame, amount: number, site: Site): void {
  frame.fuel -= amount;
  if (frame.fuel < 0) throw outOfFuel(frame, site);
}

/** Pays for reading or building so many elements. */
export function spendElements(frame: Frame, elements: number, site: Site): void {
  if (elements >= 32) spend(frame, elements >>> LIST_SHIFT, site);
}

/**
 * Pays for making so many values anew: integers, texts, records, copies of json. They take memory of their own, which
 * an element that is only referred to does not.
 */
export function spendMade(frame: Frame, parts: number, site: Site): void {
  if (parts >= 4) spend(frame, parts >>> MADE_SHIFT, site);
}

/** Pays for reading or building so many units of text. */
export function spendUnits(frame: Frame, units: number, site: Site): void {
  if (units >= 256) spend(frame, units >>> UNIT_SHIFT, site);
}

// The checker has given every operand its type, so these say what is known; nothing is converted.
export const asIntegers = (code: Code): Code<bigint> => code as Code<bigint>;
export const asTexts = (code: Code): Code<string> => code as Code<string>;
export const asBooleans = (code: Code): Code<boolean> => code as Code<boolean>;
export const asNumbers = (code: Code): Code<number> => code as Code<number>;
export const asLists = (code: Code): Code<readonly Value[]> => code as Code<readonly Value[]>;
export const asRecords = (code: Code): Code<RecordValue> => code as Code<RecordValue>;
export const asDictionaries = (code: Code): Code<ReadonlyMap<string, Value>> =>
  code as Code<ReadonlyMap<string, Value>>;
