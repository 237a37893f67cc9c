import { ERROR_CODES } from "../../src/model/codes.ts";
import {
  type DiagnosticCode,
  DOCUMENT_CODES,
  EXPRESSION_CODES,
  GRAPH_CODES,
} from "../../src/model/diagnostic.ts";
import { code, GENERATED, markdownTable } from "../markdown.ts";

/** What each diagnostic means. Its message names the place and what was found there. */
const DIAGNOSTICS: { readonly [name in DiagnosticCode]: string } = {
  bad_encoding:
    "The text is not UTF-8, starts with a byte order mark, or holds half a surrogate pair.",
  bad_json: "The text is not JSON.",
  bad_literal: "The value of a literal is not of its type.",
  bad_member: "A member of an operator has a value that it cannot have.",
  bad_name: "An id or name is not written as such names are.",
  bad_number: "A number is not written in its canonical form, or not exactly representable.",
  bad_pointer: "A JSON Pointer is malformed, or cannot be followed through the type.",
  bad_rounding: "The rounding is not one of the words for it.",
  bad_shape: "A value has another shape than the document has there.",
  both_optional: "Both sides of a comparison are optional; say what two absent values mean.",
  cycle: "Nodes wait for each other; the message names the cycle.",
  document_too_deep: "The document nests deeper than is read.",
  document_too_large: "The document is larger than is read.",
  duplicate_key: "An object names a member twice.",
  duplicate_node: "Two nodes have one id.",
  fence_not_before_effect: "An approval fence is not before one of its effects.",
  fence_target:
    "An approval fence names something else than an effect, or what its effects need is not before it.",
  guard_not_allowed: "`when` or `each` stands on a node that cannot have it.",
  limit_exceeded: "A number is over the limit for it, or there is more of something than is taken.",
  missing_key: "A document lacks a member that it must have.",
  missing_member: "An operator lacks a member that it must have.",
  missing_node: "An id names no node.",
  name_taken: "A name is in scope already; nested lists need names of their own.",
  nested_optional: "An optional stands directly inside another.",
  never_equal: "Two texts that have no common value are compared: the comparison is always false.",
  no_verify_before_effect: "An effect has no verify node among its ancestors.",
  not_an_ancestor: "A node refers to a node that is not before it.",
  not_optional: "An operator for optional values stands on a value that is always there.",
  not_ordered: "Values without an order are compared or sorted.",
  output_required: "The node's `output` cannot be inferred and has to be written.",
  recursive_type: "A named type contains itself.",
  too_deep: "An expression nests deeper than is compiled.",
  too_many_operators: "An expression has more operators than are compiled.",
  too_many_problems:
    "There are more problems than are listed; correct the first ones and compile again.",
  type_mismatch: "A value has another type than is wanted there.",
  unknown_field: "A record has no field of that name.",
  unknown_input: "There is no input of that name.",
  unknown_item: "No list element or value of that name is in scope.",
  unknown_key: "A document has a member that is not known.",
  unknown_member: "An operator has a member that is not known.",
  unknown_node: "An expression refers to a node that is not there.",
  unknown_operator: "There is no operator of that name.",
  unknown_type: "There is no type of that name.",
  unreachable_node: "The terminal does not depend on the node, so nothing would come of it.",
  unsupported_version: "The document is of another version.",
  verifier_without_before_effect:
    "The recipe has effects, and the verifier does not judge them beforehand.",
};

/** docs/errors.md from the closed lists of error and diagnostic codes. */
export function outputs(): ReadonlyMap<string, string> {
  const errors = Object.entries(ERROR_CODES)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, { meaning, todo }]) => [code(name), meaning, todo]);
  const diagnostics = (codes: readonly DiagnosticCode[]) =>
    markdownTable(
      ["code", "meaning"],
      [...codes].sort().map((name) => [code(name), DIAGNOSTICS[name]]),
    );
  const text = [
    GENERATED,
    "",
    "# Errors",
    "",
    "Every code that a `RoteError` can carry: misuse by the caller, input that was refused, a store or a file that does",
    "not serve. Match `error.code`, never the message; `error.data` carries the details. How a run ends is no error: see",
    "[states.md](states.md).",
    "",
    markdownTable(["code", "meaning", "what to do"], errors),
    "",
    "# Diagnostics",
    "",
    "Problems of recipes and verifiers, all reported at once, each with its place. `compile` returns them;",
    "`new Procedure` throws one `recipe_invalid` or `verifier_invalid` that carries them in `data.diagnostics`.",
    "",
    "## Of the text and shape of a document",
    "",
    diagnostics(DOCUMENT_CODES),
    "",
    "## Of the graph, and of what it is paired with",
    "",
    diagnostics(GRAPH_CODES),
    "",
    "## Of expressions",
    "",
    diagnostics(EXPRESSION_CODES),
    "",
  ].join("\n");
  return new Map([["docs/errors.md", text]]);
}
