/** A plan as JSON, for golden files: everything that the run sees, expressions by type and place. */
import type { JsonValue } from "../../src/base/json.ts";
import { typeToJson } from "../../src/expression/index.ts";
import type { Plan, PlanNode } from "../../src/model/plan.ts";
import type { CompiledExpression } from "../../src/model/value.ts";

export function planToJson(plan: Plan): JsonValue {
  return {
    id: plan.id,
    digest: plan.digest,
    inputs: Object.fromEntries(
      plan.inputs.map(({ name, reading, type }) => [
        name,
        { reading: typeToJson(reading), type: typeToJson(type) },
      ]),
    ),
    nodes: plan.nodes.map((node) => nodeToJson(node, plan)),
    terminal: plan.nodes[plan.terminal]?.id ?? null,
    result: typeToJson(plan.result),
    limits: { ...plan.limits },
    needs_host: plan.needsHost,
    normal: plan.normal,
  };
}

function nodeToJson(node: PlanNode, plan: Plan): JsonValue {
  const idOf = (index: number) => plan.nodes[index]?.id ?? null;
  const json: { [key: string]: JsonValue } = {
    id: node.id,
    pointer: node.pointer,
    after: node.after.map(idOf),
    output: typeToJson(node.output),
    seen: typeToJson(node.seen),
  };
  if (node.when !== null) json["when"] = expressionToJson(node.when);
  if (node.each !== null) {
    json["each"] = { ...node.each, list: expressionToJson(node.each.list) };
  }
  json["step"] = stepToJson(node, idOf);
  if (node.twin !== null) json["twin"] = idOf(node.twin);
  return json;
}

function stepToJson({ step }: PlanNode, idOf: (index: number) => string | null): JsonValue {
  const json: { [key: string]: JsonValue } = {};
  for (const [name, value] of Object.entries(step)) {
    if (name === "effects") json[name] = (value as readonly number[]).map(idOf);
    else if (name === "reading") json[name] = typeToJson(value);
    else if (typeof value === "object" && value !== null && "evaluate" in value) {
      json[name] = expressionToJson(value as CompiledExpression);
    } else json[name] = value as JsonValue;
  }
  return json;
}

function expressionToJson({ at, type }: CompiledExpression): JsonValue {
  return { at, type: typeToJson(type) };
}
