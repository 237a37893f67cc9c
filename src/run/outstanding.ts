/** What a run wants done outside, read from its state alone: the same after a resume as before it. */

import { plannedBatch } from "./begin.ts";
import type { PlannedOperation } from "./event.ts";
import { operationOf } from "./outside.ts";
import type { Program } from "./program.ts";
import type { Item, OperationItem, RunState } from "./state.ts";

export interface Outstanding {
  readonly reads: readonly PlannedOperation[];
  /** The next effect of each effect node that waits: there is at most one in all. */
  readonly effects: readonly PlannedOperation[];
  readonly fences: readonly {
    readonly node: string;
    readonly operations: readonly PlannedOperation[];
  }[];
  readonly checkpoints: readonly string[];
}

export function outstanding(program: Program, state: RunState): Outstanding {
  const reads: PlannedOperation[] = [];
  const effects: PlannedOperation[] = [];
  const fences: { node: string; operations: readonly PlannedOperation[] }[] = [];
  const checkpoints: string[] = [];
  if (state.end !== null) return { reads, effects, fences, checkpoints };
  for (const index of state.waiting) {
    const node = program.plan.nodes[index];
    const at = state.nodes[index];
    if (node === undefined || at?.kind !== "waiting") continue;
    switch (node.step.kind) {
      case "read":
        reads.push(...at.items.filter(isOpen).map((item) => operationOf(node, item)));
        break;
      case "effect": {
        const next = at.items.find(isOpen);
        if (next !== undefined) effects.push(operationOf(node, next));
        break;
      }
      case "approval":
        fences.push({
          node: node.id,
          operations: plannedBatch(program, state, node, node.step.effects),
        });
        break;
      case "checkpoint":
        checkpoints.push(node.id);
        break;
      default:
        break;
    }
  }
  return { reads, effects, fences, checkpoints };
}

function isOpen(item: Item): item is OperationItem {
  return item.kind === "operation" && item.settled === null;
}
