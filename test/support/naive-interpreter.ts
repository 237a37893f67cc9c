import type { Plan, PlanNode } from "../../src/model/plan.ts";
import type { CompiledExpression, Value } from "../../src/model/value.ts";

/** Thrown where a run would end early. */
export class Ended extends Error {}

/**
 * What a recipe of pure, model, verify and policy nodes gives, by plain recursion from the terminal: no events, no
 * order, no state. `answer` stands for the model. Nodes that nothing asks for are looked at as well, since their
 * checks count.
 */
export function interpret(
  plan: Plan,
  inputs: readonly Value[],
  answer: (node: string, index: number | null) => Value,
): Value {
  const outputs: Value[] = [];
  const known = new Set<number>();

  function output(index: number): Value {
    const node = plan.nodes[index];
    if (node === undefined) throw new Error(`no node ${index}`);
    if (!known.has(index)) {
      for (const before of node.after) output(before);
      outputs[index] = compute(node);
      known.add(index);
    }
    return outputs[index] ?? null;
  }

  function compute(node: PlanNode): Value {
    const evaluate = (expression: CompiledExpression, item?: Value, index?: number): Value => {
      const place = index === undefined ? {} : { item: item ?? null, index };
      return expression.evaluate({ inputs, nodes: outputs, ...place });
    };
    if (node.when !== null && evaluate(node.when) !== true) return null;
    const one = (item?: Value, index?: number): Value => {
      const { step } = node;
      if (step.kind === "pure") return evaluate(step.value, item, index);
      if (step.kind === "model") return answer(node.id, index ?? null);
      if (step.kind !== "verify" && step.kind !== "policy") throw new Error(step.kind);
      if (evaluate(step.condition) !== true) throw new Ended(node.id);
      return step.kind === "verify" ? evaluate(step.value) : null;
    };
    if (node.each === null) return one();
    const list = evaluate(node.each.list) as readonly Value[];
    if (list.length > node.each.limit) throw new Ended(node.id);
    return list.map((item, index) => one(item, index));
  }

  for (const node of plan.nodes) output(node.index);
  return output(plan.terminal);
}
