/**
 * Types of the operator language (docs/expressions.md, section 1), normalised: names are resolved, enum texts
 * and record fields are sorted by UTF-16 unit.
 *
 * `decimal` is a *reading* rule only. A value read through it is an integer, so it never occurs in the type of a
 * computed value (`valueType` removes it); re-reading a stored value must use the value type, or 12.50 would
 * become 125000.
 */
export type Type =
  | { readonly kind: "null" }
  | { readonly kind: "boolean" }
  | { readonly kind: "integer" }
  | { readonly kind: "text" }
  | { readonly kind: "date" }
  | { readonly kind: "timestamp" }
  | { readonly kind: "json" }
  /** The element type of `[]`: fits every type, has no value. */
  | { readonly kind: "nothing" }
  | { readonly kind: "enum"; readonly values: readonly string[] }
  | { readonly kind: "list"; readonly of: Type }
  | {
      readonly kind: "record";
      readonly fields: ReadonlyMap<string, Type>;
      readonly others: "refuse" | "ignore";
    }
  | { readonly kind: "dictionary"; readonly of: Type }
  | { readonly kind: "optional"; readonly of: Type }
  | { readonly kind: "decimal"; readonly scale: number };

/** Names of the types that need no definition, as written in a recipe. */
export const BUILTIN_TYPES = [
  "null",
  "boolean",
  "integer",
  "text",
  "date",
  "timestamp",
  "json",
] as const;
