/** What the table of operators says about each operator, and short ways to say it. */

/**
 * What stands in a member. `expression` is one expression, `expressions` an array of them, `fields` an object of them;
 * `lazy` is an expression that is evaluated only when it is needed, `body` one that is evaluated once per element.
 * All other kinds are fixed parts of the document and never computed.
 */
export const MEMBER_KINDS = [
  "expression",
  "lazy",
  "body",
  "expressions",
  "fields",
  "value",
  "type",
  "name",
  "binding",
  "pointer",
  "rounding",
  "order",
  "flag",
  "scale",
] as const;
export type MemberKind = (typeof MEMBER_KINDS)[number];

/** Words of `order`. */
export const ORDERS = ["ascending", "descending"] as const;
export type Order = (typeof ORDERS)[number];

/** Most digits behind the point in `to_text`, `to_json` and `{"decimal": s}`. */
export const MAX_SCALE = 30;

/** Name of a fold's running value where `into` names none. */
export const DEFAULT_TOTAL = "total";

export interface MemberSpec {
  readonly kind: MemberKind;
  /** The type that is wanted, in words. */
  readonly of: string;
  readonly required: boolean;
  /**
   * What is meant when it is left out: a fixed part, or for an expression a literal. Written out, it is dropped from
   * the normal form. `element` is the element that the operator's `as` names.
   */
  readonly default?: string | number | null | { readonly element: true };
}

export const OPERATOR_FAMILIES = [
  "references",
  "arithmetic",
  "comparison",
  "logic",
  "text",
  "conversion",
  "dates",
  "structure",
  "lists",
] as const;
export type OperatorFamily = (typeof OPERATOR_FAMILIES)[number];

export interface OperatorSpec {
  readonly family: OperatorFamily;
  readonly members: { readonly [member: string]: MemberSpec };
  /** Type of the result, in words. */
  readonly result: string;
  /** Edge cases, and the codes it may fail with besides `too_large` and `out_of_fuel`. */
  readonly notes: string;
}

const ELEMENT = { element: true } as const;

export const operand = (of: string): MemberSpec => ({ kind: "expression", of, required: true });
export const optional = (of: string, standard?: string | number | null): MemberSpec =>
  standard === undefined
    ? { kind: "expression", of, required: false }
    : { kind: "expression", of, required: false, default: standard };
export const lazy = (of: string): MemberSpec => ({ kind: "lazy", of, required: false });
export const fixed = (kind: MemberKind, of: string, standard?: string | number): MemberSpec =>
  standard === undefined
    ? { kind, of, required: true }
    : { kind, of, required: false, default: standard };
export const free = (kind: MemberKind, of: string): MemberSpec => ({ kind, of, required: false });

export const POINTER = fixed("pointer", "JSON Pointer", "");
export const AS = fixed("binding", "name", "item");
export const body = (of: string): MemberSpec => ({ kind: "body", of, required: true });
export const elementBody = (of: string): MemberSpec => ({
  kind: "body",
  of,
  required: false,
  default: ELEMENT,
});
