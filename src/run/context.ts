/** What a verifier sees: the inputs, every settled operation, and what it is to judge. */
import type { Value } from "../model/value.ts";
import type { Program } from "./program.ts";
import type { NodeState } from "./state.ts";

interface Facts {
  readonly inputs: readonly Value[];
  readonly nodes: readonly NodeState[];
}

/** The `context` of `result`. */
export function resultContext(program: Program, facts: Facts, result: Value): Value {
  return record({ inputs: inputsOf(program, facts), operations: operationsOf(program, facts), result });
}

function inputsOf(program: Program, facts: Facts): Value {
  const fields: { [name: string]: Value } = Object.create(null);
  program.plan.inputs.forEach((input, slot) => {
    fields[input.name] = facts.inputs[slot] ?? null;
  });
  return Object.freeze(fields);
}

/** In plan order, then by index: the same list however the operations were interleaved. */
function operationsOf(program: Program, facts: Facts): Value {
  if (!program.plan.needsHost) return NO_OPERATIONS;
  const operations: Value[] = [];
  for (const node of program.plan.nodes) {
    const state = facts.nodes[node.index];
    if (state === undefined || !("items" in state)) continue;
    for (const item of state.items) {
      if (item.kind !== "operation" || item.settled === null) continue;
      operations.push(
        record({
          node: node.id,
          index: item.index === null ? null : BigInt(item.index),
          category: node.step.kind,
          tool: item.tool,
          arguments: item.arguments,
          key: item.key,
          outcome: item.settled.outcome,
          result: item.settled.result ?? null,
        }),
      );
    }
  }
  return Object.freeze(operations);
}

const NO_OPERATIONS: Value = Object.freeze([]);

function record(fields: { readonly [name: string]: Value }): Value {
  return Object.freeze(Object.assign(Object.create(null) as { [name: string]: Value }, fields));
}
