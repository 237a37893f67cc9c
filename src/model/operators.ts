/**
 * The operators of the expression language, as data: which members each one has, in the order in which they are
 * evaluated, and what it gives. Parser, checker, JSON Schema and the table in docs/expressions.md all derive from it.
 */
import type { OperatorSpec } from "./operator-spec.ts";
import { COMPOUND_OPERATORS } from "./operators-compound.ts";
import { SCALAR_OPERATORS } from "./operators-scalar.ts";

export {
  MAX_SCALE,
  type MemberSpec,
  OPERATOR_FAMILIES,
  type OperatorFamily,
  type OperatorSpec,
  ORDERS,
  type Order,
} from "./operator-spec.ts";

const TABLE = { ...SCALAR_OPERATORS, ...COMPOUND_OPERATORS };

export type OperatorName = keyof typeof TABLE;
export const OPERATORS: { readonly [operator in OperatorName]: OperatorSpec } = TABLE;
export const OPERATOR_NAMES = Object.keys(TABLE) as readonly OperatorName[];

/** Codes that an evaluation may fail with. */
export const EVALUATION_CODES = [
  "missing",
  "decode_failed",
  "unknown_field",
  "ambiguous",
  "division_by_zero",
  "inexact",
  "out_of_range",
  "length_mismatch",
  "too_large",
  "out_of_fuel",
] as const;
export type EvaluationCode = (typeof EVALUATION_CODES)[number];
