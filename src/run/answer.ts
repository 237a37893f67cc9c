/** Model answers from outside: read by the node's type before anything is recorded. */
import { RoteError } from "../base/error.ts";
import { admitJson } from "../base/json.ts";
import { readValue, typeName, writeValue } from "../expression/index.ts";
import type { ModelAnswer, ModelIdentity } from "../model/run.ts";
import type { ItemName, ModelAnsweredEvent } from "./event.ts";
import { itemType, notPending, openItem } from "./outside.ts";
import { firstPending } from "./pending.ts";
import type { Program } from "./program.ts";
import type { RunState } from "./state.ts";
import { readUsage } from "./usage.ts";

export type Models = { readonly [role: string]: ModelIdentity };

/**
 * The event that an answer stands for. Nothing is repaired: what does not fit is refused, and the boundary stays
 * open for another answer.
 *
 * @throws RoteError `not_pending` `unknown_node` `invalid_model_answer` `bad_model_usage`
 */
export function answerEvent(
  program: Program,
  state: RunState,
  models: Models,
  given: ModelAnswer,
): ModelAnsweredEvent {
  const name = nameOf(program, state, given);
  const { node, item } = openItem(program, state.nodes, name);
  if (node.step.kind !== "model" || item.kind !== "model") {
    throw notPending(name, "is no model node");
  }
  const place =
    name.index === null ? `node "${node.id}"` : `node "${node.id}" element ${name.index}`;
  const admitted = admitJson(given.answer, { numbers: "finite" });
  const read = admitted.ok ? readValue(node.step.reading, admitted.value) : admitted;
  if (!read.ok) {
    const { pointer, code, message } = read.error;
    const expected = typeName(node.step.reading);
    const where = pointer === "" ? "" : ` at ${pointer}`;
    throw new RoteError(
      "invalid_model_answer",
      `the answer for ${place} was refused${where}: ${message}; expected ${expected}`,
      { ...name, pointer, reason: code, expected },
    );
  }
  const model = models[node.step.role];
  if (model === undefined) throw unknownModel([node.step.role]);
  return {
    type: "model_answered",
    ...name,
    answer: writeValue(itemType(node), read.value),
    usage: given.usage === undefined ? null : readUsage(given.usage),
    model,
    source: "supplied",
  };
}

/** Without a node, the answer is for the first pending boundary. */
function nameOf(program: Program, state: RunState, given: ModelAnswer): ItemName {
  if (given.node !== undefined) return { node: given.node, index: given.index ?? null };
  const first = firstPending(program, state);
  if (first !== null) return { node: first.node.id, index: first.item.index };
  throw new RoteError("not_pending", "the run waits for no model answer");
}

/**
 * The identities of every model that the plan asks, copied.
 *
 * @throws RoteError `model_unknown` when a role has none: reuse depends on who answered.
 */
export function readModels(program: Program, given: Models): Models {
  const models: { [role: string]: ModelIdentity } = Object.create(null);
  const unknown = new Set<string>();
  for (const { step } of program.plan.nodes) {
    if (step.kind !== "model") continue;
    const model = Object.hasOwn(given, step.role) ? given[step.role] : undefined;
    if (model === undefined || !isName(model.provider) || !isName(model.name)) {
      unknown.add(step.role);
    } else {
      models[step.role] = Object.freeze({ provider: model.provider, name: model.name });
    }
  }
  if (unknown.size > 0) throw unknownModel([...unknown].sort());
  return models;
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function unknownModel(roles: readonly string[]): RoteError {
  return new RoteError(
    "model_unknown",
    `no model is configured for the role ${roles.map((role) => `"${role}"`).join(", ")}; give its provider and name in models`,
    { roles },
  );
}
