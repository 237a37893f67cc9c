/**
 * A recipe between its phases: as parsed, then as resolved. Parts that could not be read are absent and have been
 * reported; what hangs on them stays silent, so that one mistake is one diagnostic.
 */
import type { ParsedExpression } from "../expression/index.ts";
import type { Environment } from "../model/environment.ts";
import type { RunLimits, StepKind } from "../model/plan.ts";
import type { StepDocument } from "../model/recipe.ts";
import type { Type } from "../model/type.ts";

/** Where expressions stand in a node: its guard, the list of its `each`, and the members of its step. */
export const SLOTS = ["when", "list", "condition", "value", "arguments", "prompt", "key"] as const;
export type Slot = (typeof SLOTS)[number];
export type Slots<E> = { readonly [slot in Slot]?: E };

/** The slots of each kind of step, in the order they are evaluated. */
export const STEP_SLOTS: { readonly [kind in StepKind]: readonly Slot[] } = {
  pure: ["value"],
  read: ["arguments"],
  model: ["prompt"],
  verify: ["condition", "value"],
  policy: ["condition"],
  approval: [],
  effect: ["arguments", "key"],
  checkpoint: ["value"],
};

export interface ParsedRecipe {
  readonly id: string | undefined;
  readonly title: string | null;
  readonly description: string | null;
  readonly environment: Environment | null;
  readonly limits: Partial<RunLimits>;
  /** Sorted by name; a type that could not be read is undefined. */
  readonly inputs: ReadonlyMap<string, Type | undefined>;
  readonly terminal: string | undefined;
  readonly nodes: readonly ParsedNode[];
}

export interface ParsedNode {
  /** Position in the document. */
  readonly position: number;
  readonly pointer: string;
  readonly id: string | undefined;
  readonly after: readonly string[] | undefined;
  /** The declared output as it is read from outside (may contain `decimal`). */
  readonly declared: Type | undefined;
  readonly each: { readonly as: string; readonly limit: number } | undefined;
  readonly step: StepDocument | undefined;
  readonly slots: Slots<ParsedExpression>;
  /** Ids of nodes that any of its expressions refers to, without repeats. */
  readonly references: readonly string[];
  /** Some part of it could not be read, so its type is not known. */
  readonly broken: boolean;
}
