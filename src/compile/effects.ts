/**
 * What the whole graph must say about effects: each stands behind a verify node, and a fence stands before all it asks
 * for and knows all it shows.
 */
import type { Report } from "../model/diagnostic.ts";
import type { ResolvedNode, ResolvedRecipe } from "./2-resolve.ts";
import { type AncestorQuestion, areAncestors } from "./ancestry.ts";
import { SLOTS } from "./parsed.ts";

export function checkEffects(recipe: ResolvedRecipe, report: Report): void {
  requireVerify(recipe, report);
  checkFences(recipe, report);
}

function requireVerify({ nodes, positions }: ResolvedRecipe, report: Report): void {
  const verified: boolean[] = [];
  for (const node of nodes) {
    const { step, after, pointer } = node.parsed;
    const behind = node.after.some((before) => verified[before] === true);
    // Where a dependency is missing or cut, the verify node may have been behind it.
    const unknown =
      step === undefined || node.failed || (after ?? []).some((id) => !positions.has(id));
    verified.push(behind || unknown || step.kind === "verify");
    if (behind || unknown || step.kind !== "effect") continue;
    report({
      code: "no_verify_before_effect",
      pointer,
      message: `effect "${node.id}" has no verify node before it`,
      hint: "an effect follows a check that ran and passed: list a verify node in its after",
    });
  }
}

interface FenceQuestion extends AncestorQuestion {
  readonly otherwise: () => void;
}

function checkFences(recipe: ResolvedRecipe, report: Report): void {
  const { nodes, positions, ancestry } = recipe;
  const questions: FenceQuestion[] = [];
  const fenced = new Map<string, ResolvedNode>();
  for (const fence of nodes) {
    const { step, pointer } = fence.parsed;
    if (step?.kind !== "approval") continue;
    const asked = new Set<string>();
    for (const [place, id] of step.effects.entries()) {
      if (asked.has(id)) continue;
      asked.add(id);
      const at = `${pointer}/step/effects/${place}`;
      const effect = nodes[positions.get(id) ?? -1];
      if (effect?.parsed.step === undefined) continue;
      const other = fenced.get(id);
      if (effect.parsed.step.kind !== "effect") {
        const message = `approval "${fence.id}" is for effects; "${id}" is a ${effect.parsed.step.kind} node`;
        report({ code: "fence_target", pointer: at, message });
      } else if (other !== undefined) {
        const message = `effect "${id}" is already behind approval "${other.id}"`;
        report({ code: "fence_target", pointer: at, message, related: [other.parsed.pointer] });
      } else {
        fenced.set(id, fence);
        if (!fence.failed && !effect.failed) {
          questions.push(...fenceQuestions(fence, effect, at, positions, report));
        }
      }
    }
  }
  const answers = areAncestors(ancestry, questions);
  for (const [place, { otherwise }] of questions.entries()) {
    if (answers[place] !== true) otherwise();
  }
}

function* fenceQuestions(
  fence: ResolvedNode,
  effect: ResolvedNode,
  pointer: string,
  positions: ReadonlyMap<string, number>,
  report: Report,
): Generator<FenceQuestion> {
  yield {
    ancestor: fence.index,
    descendant: effect.index,
    otherwise: () =>
      report({
        code: "fence_not_before_effect",
        pointer,
        message: `approval "${fence.id}" does not come before effect "${effect.id}"`,
        hint: `list "${fence.id}" in the after of "${effect.id}"`,
        related: [effect.parsed.pointer],
      }),
  };
  for (const slot of SLOTS) {
    const expression = effect.parsed.slots[slot];
    for (const read of new Set(expression?.nodes)) {
      const ancestor = positions.get(read);
      if (ancestor === undefined) continue;
      yield {
        ancestor,
        descendant: fence.index,
        otherwise: () =>
          report({
            code: "fence_not_before_effect",
            pointer,
            message: `effect "${effect.id}" refers to "${read}", which does not come before approval "${fence.id}"`,
            hint: "an approval shows what will be done, so all of it must be known before",
            related: expression === undefined ? [] : [expression.at],
          }),
      };
    }
  }
}
