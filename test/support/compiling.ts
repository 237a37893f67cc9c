/** Small recipes for tests of compile/: what a test is about stands in the test, the rest comes from here. */
import type { JsonValue } from "../../src/base/json.ts";
import { compileRecipe, compileVerifier } from "../../src/compile/index.ts";
import type { Diagnostic } from "../../src/model/diagnostic.ts";
import type { Plan, PlanNode, Verifier } from "../../src/model/plan.ts";

export type Json = { readonly [key: string]: JsonValue };

export const ENVIRONMENT = {
  policy: "1".repeat(64),
  tools: "2".repeat(64),
  credentials: "3".repeat(64),
  evidence: "4".repeat(64),
  host_configuration: null,
};

/** A bound recipe with these nodes; the last one is the terminal unless `more` says otherwise. */
export function recipe(nodes: readonly Json[], more: Json = {}): Json {
  return {
    version: 1,
    id: "sample",
    environment: ENVIRONMENT,
    inputs: { quantity: "integer", price: "integer" },
    terminal: nodes.at(-1)?.["id"] ?? "end",
    nodes,
    ...more,
  };
}

export function pure(id: string, value: JsonValue, more: Json = {}): Json {
  return { id, step: { kind: "pure", value }, ...more };
}

export function verify(id: string, more: Json = {}, step: Json = {}): Json {
  return { id, step: { kind: "verify", condition: true, value: 1, ...step }, ...more };
}

export function effect(id: string, more: Json = {}, step: Json = {}): Json {
  const whole = { kind: "effect", tool: "post", arguments: 1, ...step };
  return { id, output: "json", step: whole, ...more };
}

export function approval(id: string, effects: readonly string[], more: Json = {}): Json {
  return { id, step: { kind: "approval", effects }, ...more };
}

export function planOf(source: unknown): Plan {
  const compiled = compileRecipe(source);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.error, null, 2));
  return compiled.value;
}

export function nodeOf(plan: Plan, id: string): PlanNode {
  const node = plan.nodes.find((one) => one.id === id);
  if (node === undefined) throw new Error(`no node ${id}`);
  return node;
}

export function problemsOf(source: unknown): readonly Diagnostic[] {
  const compiled = compileRecipe(source);
  return compiled.ok ? [] : compiled.error;
}

/** Code and place of every problem, as `code at pointer`. */
export function codesOf(source: unknown): readonly string[] {
  return problemsOf(source).map(({ code, pointer }) => `${code} at ${pointer}`);
}

export function verifierOf(source: unknown, plan: Plan): Verifier {
  const compiled = compileVerifier(source, plan);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.error, null, 2));
  return compiled.value;
}
