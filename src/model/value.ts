import type { JsonValue } from "../base/json.ts";
import type { Type } from "./type.ts";

/**
 * A value while it is computed with. Its static type says how to read it; nothing at run time tags it.
 *
 * null -> null, boolean -> boolean, integer -> bigint, text, enum and date -> string, timestamp -> number of
 * milliseconds since 1970 UTC, list -> frozen array, record -> frozen null-prototype object with every field of
 * its type present (an absent optional is null), dictionary -> Map, json -> the JSON value itself.
 */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | readonly Value[]
  | ReadonlyMap<string, Value>
  | RecordValue
  | JsonValue;

export interface RecordValue {
  readonly [field: string]: Value;
}

/** Where an evaluation reads from. Slots are positions fixed when the expression was compiled. */
export interface Sources {
  readonly inputs: readonly Value[];
  /** Outputs of nodes by plan index; only ancestors of the reader are ever read. */
  readonly nodes: readonly Value[];
  /** The element a node's `each` is at, when the expression stands inside one. */
  readonly item?: Value;
  /** Position of that element, from 0. */
  readonly index?: number;
}

/** An expression after checking and compilation. Pure, total, bounded. */
export interface CompiledExpression {
  readonly type: Type;
  /** JSON Pointer of the expression in its document, for messages. */
  readonly at: string;
  /** @throws EvaluationFailure (code of docs/expressions.md section 5). */
  evaluate(sources: Sources): Value;
}
