/** What comes from outside may be as long as it likes: a run that has ended can say so. */
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { partsOf } from "../../../src/host/index.ts";
import {
  begin,
  CHECK,
  hostAt,
  pay,
  procedureOf,
  READ,
  type RecipeNode,
  recipeOf,
} from "../../support/gate.ts";
import { madeTool, POLICY, registration } from "../../support/host.ts";

const LONG = "k".repeat(70_000);

/** A run of one operation that is answered so, as it is told and as it is read back. */
async function told(node: RecipeNode, category: "read" | "effect", result: JsonValue) {
  const name = category === "read" ? "bank.balance" : "bank.pay";
  const made = madeTool(name, () => ({ kind: "done", result }));
  const host = await hostAt(
    null,
    { tools: [registration(made, category)] },
    {
      policy: { ...POLICY, profile: "privileged" },
    },
  );
  const recipe = recipeOf(category === "read" ? [node] : [CHECK, node]);
  const { run } = await begin(host, recipe);
  const { failure } = run.report;
  const [last] = partsOf(host).journal.read(run.id).slice(-1);
  const again = await procedureOf(host, recipe).resume(host, run.id);
  expect(again.report.failure).toEqual(failure);
  await host.close();
  return { state: run.state, calls: made.calls.length, last: last?.entry.type, failure };
}

describe("a run whose tool answers with endless names", () => {
  const of = { dictionary: "integer" };
  const cases: readonly (readonly [string, RecipeNode, "read" | "effect", JsonValue])[] = [
    ["a read, a value of another type", { ...READ, output: of }, "read", { [LONG]: "x" }],
    ["a read, an unknown member", { ...READ, output: { record: {} } }, "read", { [LONG]: 1 }],
    ["an effect", { ...pay("pay", ["check"]), output: of }, "effect", { [LONG]: "x" }],
    [
      "surrogates at the cut",
      { ...READ, output: of },
      "read",
      { ["\u{1f600}".repeat(40_000)]: "x" },
    ],
  ];
  it.each(cases)("ends, and is read back as it ended: %s", async (_, node, category, result) => {
    const { state, calls, last, failure } = await told(node, category, result);
    expect([state, calls, last]).toEqual(["failed", 1, "run_ended"]);
    expect(failure).toMatchObject({ reason: "tool_error", node: node.id });
    expect(JSON.stringify(failure).length).toBeLessThan(10_000);
  });
});
