/**
 * The operator language: types and values, parsing, checking, compiling. docs/expressions.md is its specification.
 *
 *   parseExpression -> checkExpression -> compileExpression -> evaluate
 */

import * as expressions from "./builders.ts";

export type { Expression, TypeSource } from "./builders.ts";
export { checkExpression, type TypedExpression } from "./check.ts";
export type { Scope } from "./checking.ts";
export { compileExpression } from "./compile.ts";
export { EvaluationFailure } from "./failure.ts";
export {
  EVALUATION_LIMITS,
  type EvaluationLimits,
  EXPRESSION_LIMITS,
  TYPE_LIMITS,
} from "./limits.ts";
export { normalJson, putNormal, putType } from "./normal-form.ts";
export { type ParsedExpression, parseExpression } from "./parse.ts";
export { parseType, parseTypes } from "./parse-type.ts";
export { readValue, recordValue } from "./read.ts";
export { fits, leastCommon, sameType } from "./type-relations.ts";
export {
  BOOLEAN,
  enumOf,
  INTEGER,
  JSON_TYPE,
  listOf,
  NOTHING,
  NULL,
  optionalOf,
  recordOf,
  TEXT,
  typeName,
  typeToJson,
  valueType,
} from "./types.ts";
export { writeValue } from "./write.ts";
export { expressions };
