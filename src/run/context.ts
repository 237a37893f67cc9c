/** What a verifier sees: the inputs, every settled operation, and what it is to judge. */
import { recordValue } from "../expression/index.ts";
import type { PlanNode } from "../model/plan.ts";
import type { RecordValue, Value } from "../model/value.ts";
import type { PlannedOperation } from "./event.ts";
import type { Program } from "./program.ts";
import type { NodeState, OperationItem, OperationSettlement } from "./state.ts";

interface Facts {
  readonly inputs: readonly Value[];
  readonly nodes: readonly NodeState[];
}

/** The `context` of `result`. */
export function resultContext(program: Program, facts: Facts, result: Value): Value {
  return recordValue([
    ["inputs", inputsOf(program, facts)],
    ["operations", operationsOf(program, facts)],
    ["result", result],
  ]);
}

/** The `context` of `before_effect`: what was done so far, and what is proposed. */
export function proposedContext(
  program: Program,
  facts: Facts,
  { node, index, tool, arguments: json, key }: PlannedOperation,
): Value {
  return recordValue([
    ["inputs", inputsOf(program, facts)],
    ["operations", operationsOf(program, facts)],
    [
      "proposed",
      recordValue([
        ["node", node],
        ["index", index === null ? null : BigInt(index)],
        ["tool", tool],
        ["arguments", json],
        ["key", key],
      ]),
    ],
  ]);
}

/** What a verifier is shown in a run, made again from what the run came to. */
export interface Shown {
  /** Before each effect that was done: the operations that stand before it in the plan, and what was proposed. */
  readonly proposals: readonly Value[];
  readonly result: Value;
}

/** Of a completed run; `result` is what it came to. */
export function shownIn(program: Program, facts: Facts, result: Value): Shown {
  const inputs = inputsOf(program, facts);
  const operations = operationsOf(program, facts) as readonly RecordValue[];
  const proposals = operations.flatMap((operation, at) => {
    if (operation["category"] !== "effect" || operation["outcome"] !== "done") return [];
    const proposed = recordValue(PROPOSED.map((name) => [name, operation[name] ?? null] as const));
    const before = operations.slice(0, at);
    return [
      recordValue([
        ["inputs", inputs],
        ["operations", before],
        ["proposed", proposed],
      ]),
    ];
  });
  return { proposals, result: resultContext(program, facts, result) };
}

const PROPOSED = ["node", "index", "tool", "arguments", "key"] as const;

function inputsOf(program: Program, facts: Facts): Value {
  return recordValue(
    program.plan.inputs.map(({ name }, slot) => [name, facts.inputs[slot] ?? null] as const),
  );
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
      operations.push(operationValue(node, item, item.settled));
    }
  }
  return Object.freeze(operations);
}

/** Settled operations are looked at before each effect, and never change. */
const values = new WeakMap<OperationItem, Value>();

function operationValue(
  node: PlanNode,
  item: OperationItem,
  { outcome, result }: OperationSettlement,
): Value {
  const known = values.get(item);
  if (known !== undefined) return known;
  const value = recordValue([
    ["node", node.id],
    ["index", item.index === null ? null : BigInt(item.index)],
    ["category", node.step.kind],
    ["tool", item.tool],
    ["arguments", item.arguments],
    ["key", item.key],
    ["outcome", outcome],
    ["result", result ?? null],
  ]);
  values.set(item, value);
  return value;
}

const NO_OPERATIONS: Value = Object.freeze([]);
