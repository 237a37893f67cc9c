/** What a verifier sees of a run (docs/expressions.md section 6), as types. run/ builds the values. */
import {
  enumOf,
  INTEGER,
  JSON_TYPE,
  listOf,
  optionalOf,
  recordOf,
  TEXT,
} from "../expression/index.ts";
import type { Plan } from "../model/plan.ts";
import type { Type } from "../model/type.ts";

const OPERATION_CATEGORIES = ["read", "effect"] as const;
const OPERATION_OUTCOMES = ["done", "failed_before_effect", "refused", "uncertain"] as const;

export interface ContextTypes {
  /** Of the completed run: `inputs`, `operations`, `result`. */
  readonly result: Type;
  /** Before an effect: `inputs`, `operations`, `proposed`. */
  readonly beforeEffect: Type;
}

/** Types of `context` in both rules of a verifier; its values have every field, absent optionals as null. */
export function contextTypes(plan: Plan): ContextTypes {
  const inputs = recordOf(plan.inputs.map(({ name, type }) => [name, type] as const));
  const common = [
    ["inputs", inputs],
    ["operations", listOf(OPERATION)],
  ] as const;
  return {
    result: recordOf([...common, ["result", plan.result]]),
    beforeEffect: recordOf([...common, ["proposed", PROPOSED]]),
  };
}

const PROPOSAL = [
  ["node", TEXT],
  ["index", optionalOf(INTEGER)],
  ["tool", TEXT],
  ["arguments", JSON_TYPE],
  ["key", optionalOf(JSON_TYPE)],
] as const;

const PROPOSED = recordOf(PROPOSAL);

const OPERATION = recordOf([
  ...PROPOSAL,
  ["category", enumOf(OPERATION_CATEGORIES)],
  ["outcome", enumOf(OPERATION_OUTCOMES)],
  ["result", optionalOf(JSON_TYPE)],
]);
