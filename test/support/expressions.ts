import { admitJson, type JsonValue } from "../../src/base/json.ts";
import {
  checkExpression,
  compileExpression,
  EvaluationFailure,
  parseExpression,
  parseType,
  parseTypes,
  readValue,
  type Scope,
  valueType,
  writeValue,
} from "../../src/expression/index.ts";
import type { EvaluationLimits } from "../../src/expression/limits.ts";
import type { Diagnostic } from "../../src/model/diagnostic.ts";
import type { Type } from "../../src/model/type.ts";
import type { CompiledExpression, Value } from "../../src/model/value.ts";

/** Inputs as {name: [type, value]}, both as JSON; a value left out is only needed for checking. */
export type Given = { readonly [name: string]: readonly [type: unknown, value?: unknown] };

export interface Surroundings {
  readonly inputs?: Given;
  /** Nodes before the expression, as inputs are given. */
  readonly nodes?: Given;
  /** Ids of nodes that exist but do not come before. */
  readonly others?: readonly string[];
  readonly types?: { readonly [name: string]: unknown };
  readonly item?: {
    readonly name: string;
    readonly type: unknown;
    readonly value?: unknown;
    readonly index?: number;
  };
  readonly limits?: Partial<EvaluationLimits>;
}

/** JSON of the closed domain from a literal in a test. */
export function json(value: unknown): JsonValue {
  const admitted = admitJson(value, { numbers: "finite" });
  if (!admitted.ok) throw new Error(`not JSON: ${admitted.error.message}`);
  return admitted.value;
}

export function typeOf(source: unknown, names: ReadonlyMap<string, Type> = new Map()): Type {
  const problems: Diagnostic[] = [];
  const type = parseType(json(source), names, "", (problem) => problems.push(problem));
  if (type === undefined) throw new Error(`no type: ${JSON.stringify(problems)}`);
  return type;
}

export interface Checked {
  readonly compiled: CompiledExpression | undefined;
  readonly problems: readonly Diagnostic[];
}

/** Parses, checks and compiles; whatever is wrong with the expression comes back in `problems`. */
export function check(expression: unknown, around: Surroundings = {}): Checked {
  const problems: Diagnostic[] = [];
  const report = (problem: Diagnostic): void => {
    problems.push(problem);
  };
  const names = parseTypes(json(around.types ?? {}), "/types", report);
  const seen = (given: Given = {}): ReadonlyMap<string, Type> =>
    new Map(Object.entries(given).map(([name, [type]]) => [name, valueType(typeOf(type, names))]));
  const inputs = seen(around.inputs);
  const nodes = seen(around.nodes);
  const inputNames = [...inputs.keys()];
  const nodeNames = [...nodes.keys()];
  const scope: Scope = {
    input: (name) => inputs.get(name),
    inputNames,
    node: (id) =>
      nodes.get(id) ?? (around.others?.includes(id) ? "not_an_ancestor" : "unknown_node"),
    nodeNames,
    ...(around.item && {
      item: { name: around.item.name, type: valueType(typeOf(around.item.type, names)) },
    }),
  };
  const parsed = parseExpression(json(expression), "", names, report);
  const typed = parsed && checkExpression(parsed, scope, report);
  const compiled =
    typed &&
    compileExpression(
      typed,
      { input: (name) => inputNames.indexOf(name), node: (id) => nodeNames.indexOf(id) },
      around.limits,
    );
  return { compiled, problems };
}

/** The codes reported for an expression, each with its pointer. */
export function codes(expression: unknown, around: Surroundings = {}): readonly string[] {
  return check(expression, around).problems.map(({ code, pointer }) =>
    pointer === "" ? code : `${code} ${pointer}`,
  );
}

function compiledOf(expression: unknown, around: Surroundings): CompiledExpression {
  const { compiled, problems } = check(expression, around);
  if (compiled === undefined || problems.length > 0) {
    throw new Error(`does not check: ${JSON.stringify(problems, null, 1)}`);
  }
  return compiled;
}

/** The values of given inputs or nodes, read by their types. */
export function valuesOf(given: Given = {}, around: Surroundings = {}): readonly Value[] {
  const names = parseTypes(json(around.types ?? {}), "/types", () => undefined);
  return Object.entries(given).map(([name, [type, value]]) => {
    const read = readValue(typeOf(type, names), json(value ?? null));
    if (!read.ok) throw new Error(`input ${name}: ${read.error.message}`);
    return read.value;
  });
}

/** Evaluates to a value; throws what evaluation throws. */
export function value(expression: unknown, around: Surroundings = {}): Value {
  const { item } = around;
  return compiledOf(expression, around).evaluate({
    inputs: valuesOf(around.inputs, around),
    nodes: valuesOf(around.nodes, around),
    ...(item && {
      item: valuesOf({ item: [item.type, item.value] }, around)[0] ?? null,
      index: item.index ?? 0,
    }),
  });
}

/** Evaluates to the JSON form of the result. */
export function result(expression: unknown, around: Surroundings = {}): unknown {
  const compiled = compiledOf(expression, around);
  return plain(writeValue(compiled.type, value(expression, around)));
}

/** The failure of an evaluation that must fail. */
export function failed(expression: unknown, around: Surroundings = {}): EvaluationFailure {
  try {
    const got = result(expression, around);
    throw new Error(`gave ${JSON.stringify(got).slice(0, 200)}`);
  } catch (error) {
    if (error instanceof EvaluationFailure) return error;
    throw error;
  }
}

/** Objects with a prototype again, so that expectations can be written as literals. */
export function plain(value: JsonValue): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, plain(part)]));
}

export function literal(value: unknown, type: unknown): unknown {
  return { op: "literal", value, type };
}
