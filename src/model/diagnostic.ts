/**
 * One problem of a document, as data. Lists are sorted by pointer (members by name, elements by
 * position), then code, then message; the same document gives the same list.
 */
export interface Diagnostic {
  /** Stable code from `DIAGNOSTIC_CODES`. */
  readonly code: DiagnosticCode;
  /** JSON Pointer to the place in the document. */
  readonly pointer: string;
  readonly message: string;
  /** What to do next. */
  readonly hint?: string;
  /** Position in the text, when there was a text: 1-based, column in UTF-16 units. */
  readonly line?: number;
  readonly column?: number;
  /** The line of the text, cut to at most 120 characters around the column. */
  readonly excerpt?: string;
  /** UTF-16 units of the excerpt before the column. */
  readonly caret?: number;
  /** Other places that belong to the problem (members of a cycle, the first of two duplicates). */
  readonly related?: readonly string[];
}

/** Problems of the operator language (docs/expressions.md section 5). */
export const EXPRESSION_CODES = [
  "unknown_operator",
  "unknown_member",
  "missing_member",
  "unknown_input",
  "unknown_node",
  "not_an_ancestor",
  "unknown_item",
  "name_taken",
  "unknown_type",
  "recursive_type",
  "nested_optional",
  "bad_literal",
  "bad_pointer",
  "bad_rounding",
  "bad_member",
  "unknown_field",
  "type_mismatch",
  "never_equal",
  "both_optional",
  "not_optional",
  "not_ordered",
  "too_deep",
  "too_many_operators",
] as const;

/** Problems of the text of a document. */
export const DOCUMENT_CODES = [
  "bad_encoding",
  "bad_json",
  "duplicate_key",
  "bad_number",
  "document_too_large",
  "document_too_deep",
  "unsupported_version",
  "unknown_key",
  "missing_key",
  "bad_shape",
  "bad_name",
  /** Stands last in a list that was cut. */
  "too_many_problems",
] as const;

/** Problems of a recipe's graph and of what it is paired with. */
export const GRAPH_CODES = [
  "duplicate_node",
  "missing_node",
  "cycle",
  "unreachable_node",
  "no_verify_before_effect",
  "fence_not_before_effect",
  "fence_target",
  "guard_not_allowed",
  "output_required",
  "limit_exceeded",
  "verifier_without_before_effect",
] as const;

export const DIAGNOSTIC_CODES = [...DOCUMENT_CODES, ...GRAPH_CODES, ...EXPRESSION_CODES] as const;
export type DiagnosticCode = (typeof DIAGNOSTIC_CODES)[number];

/** Receives problems as they are found; a phase goes on after reporting. */
export type Report = (diagnostic: Diagnostic) => void;
