/** What parsing makes, and what its parts share. */
import type { JsonValue } from "../base/json.ts";
import { parsePointer } from "../base/pointer.ts";
import { hasLoneSurrogate } from "../base/text.ts";
import type { DiagnosticCode, Report } from "../model/diagnostic.ts";
import { OPERATORS, type OperatorName } from "../model/operators.ts";
import type { Type } from "../model/type.ts";
import type { ExpressionLimits } from "./limits.ts";

export interface OperatorNode {
  readonly kind: "operator";
  readonly op: OperatorName;
  /** JSON Pointer in the document as written. */
  readonly at: string;
  /** Members that are one expression. */
  readonly operands: ReadonlyMap<string, ParsedNode>;
  readonly values: readonly ParsedNode[];
  readonly fields: ReadonlyMap<string, ParsedNode>;
  /** Fixed words: names, rounding, order. */
  readonly words: ReadonlyMap<string, string>;
  readonly tokens: readonly string[] | undefined;
  readonly literal: JsonValue;
  readonly type: Type | undefined;
  readonly number: number | undefined;
  readonly flag: boolean;
}

/** Something with a problem that was reported. Its parts can still be checked for problems of their own. */
export interface BrokenNode {
  readonly kind: "broken";
  readonly at: string;
  readonly parts: readonly ParsedNode[];
}

export type ParsedNode = OperatorNode | BrokenNode;

export interface Parsing {
  readonly names: ReadonlyMap<string, Type>;
  readonly report: Report;
  readonly limits: ExpressionLimits;
  inputs: Set<string> | undefined;
  nodes: Set<string> | undefined;
  readonly parse: (source: JsonValue, at: string, depth: number, parsing: Parsing) => ParsedNode;
  operators: number;
  /** Set once there are too many operators: nothing more is parsed. */
  stopped: boolean;
}

/** An operator while its members are read. */
export type Building = { -readonly [Part in keyof OperatorNode]: OperatorNode[Part] };

/** The map with one more entry; a map of nothing is shared by all operators, so it gives way to a new one. */
export function withEntry<T>(
  map: ReadonlyMap<string, T>,
  key: string,
  value: T,
): ReadonlyMap<string, T> {
  return map instanceof Map && map.size > 0 ? map.set(key, value) : new Map([[key, value]]);
}

export const NONE: ReadonlyMap<string, never> = new Map<string, never>();
export const NO_VALUES: readonly ParsedNode[] = Object.freeze([]);

/** An operator without members, to be filled. */
export function leaf(op: OperatorName, at: string): Building {
  return {
    kind: "operator",
    op,
    at,
    operands: NONE,
    values: NO_VALUES,
    fields: NONE,
    words: NONE,
    tokens: undefined,
    literal: null,
    type: undefined,
    number: undefined,
    flag: false,
  };
}

export function broken(at: string): BrokenNode {
  return { kind: "broken", at, parts: [] };
}

export function refuse(
  parsing: Parsing,
  code: DiagnosticCode,
  at: string,
  message: string,
  hint?: string | undefined,
): BrokenNode {
  parsing.report(
    hint === undefined ? { code, pointer: at, message } : { code, pointer: at, message, hint },
  );
  return broken(at);
}

export function tooDeep(parsing: Parsing, at: string): BrokenNode {
  const message = `an expression nests at most ${parsing.limits.depth} levels in its long form`;
  return refuse(parsing, "too_deep", at, message, "compute parts of it in nodes of their own");
}

export function isOperator(name: string): name is OperatorName {
  return Object.hasOwn(OPERATORS, name);
}

export function shown(name: string): string {
  return JSON.stringify(name.length <= 64 ? name : `${name.slice(0, 60)}..`);
}

export function pointerTokens(source: JsonValue): readonly string[] | undefined {
  return typeof source === "string" && !hasLoneSurrogate(source) ? parsePointer(source) : undefined;
}
