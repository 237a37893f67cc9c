import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { Procedure } from "../../src/app/procedure.ts";
import { ProcedureMemory } from "../../src/app/procedure-memory.ts";
import { ENVIRONMENT } from "../support/pure-procedure.ts";

const environment = ENVIRONMENT;
const read = (name: string) => readFileSync(new URL(`seed/${name}.json`, import.meta.url));

it("the seed's recipe and verifier, as they are: five runs qualify it, the sixth reuses one pure node", async () => {
  const procedure = new Procedure(read("recipe"), { verifier: read("verifier") });
  const memory = await ProcedureMemory.inProcess();
  for (const [index, phase] of (
    ["training", "training", "training", "shadow", "canary"] as const
  ).entries()) {
    const run = procedure.start({ quantity: String(index + 1), price: "1200" }, { environment });
    expect(run.advancePure({ environment })).toBe("verified");
    await memory.observe(run, { phase });
    run.close();
  }
  const qualified = await memory.qualify(procedure, { environment });
  const run = qualified.start({ quantity: "6", price: "1200" }, { environment });
  expect(run.advancePure({ environment })).toBe("verified");
  expect(run.result).toBe("7200");
  expect(run.report).toMatchObject({
    mode: "compiled",
    independently_verified: true,
    reused_pure_nodes: 1,
    learned_model_hits: 0,
    model_calls: 0,
    tokens: { input: 0, output: 0 },
  });
  expect(run.report.trace.filter((node) => node.reused_pure).map((node) => node.node)).toEqual([
    "duplicate",
  ]);
});

it("a demotion, by a failed verification, reaches a compiled run that waits", async () => {
  const recipe = {
    version: 1,
    id: "kind",
    environment,
    inputs: { memo: "text", expected: "text" },
    terminal: "r",
    nodes: [
      { id: "kind", output: "text", step: { kind: "model", prompt: { input: "memo" } } },
      {
        id: "more",
        when: { op: "equal", left: { input: "memo" }, right: "ask" },
        output: "text",
        step: { kind: "model", prompt: "more?" },
      },
      { id: "r", after: ["kind", "more"], step: { kind: "pure", value: { node: "kind" } } },
    ],
  };
  const verifier = {
    op: "equal",
    left: { input: "context/result" },
    right: { input: "context/inputs/expected" },
  };
  const procedure = new Procedure(recipe, { verifier });
  const models = { default: { provider: "test", name: "scripted" } };
  const memory = await ProcedureMemory.inProcess();
  for (const [index, phase] of (
    ["training", "training", "training", "shadow", "canary"] as const
  ).entries()) {
    const inputs = { memo: `memo ${index}`, expected: "travel" };
    const run = procedure.start(inputs, { environment, models });
    run.advancePure({ environment });
    expect(run.advancePure({ environment, model: { answer: "travel" } })).toBe("verified");
    await memory.observe(run, { phase });
  }
  const qualified = await memory.qualify(procedure, { environment });
  const start = (memo: string, expected: string) =>
    qualified.start({ memo, expected }, { environment, models });
  const waiting = start("ask", "travel");
  expect(waiting.advancePure({ environment })).toBe("awaiting_model");
  expect(waiting.pending.map((one) => one.node)).toEqual(["more"]);
  expect(waiting.report.learned_model_hits).toBe(1);

  const wrong = start("lunch", "food");
  expect(wrong.advancePure({ environment })).toBe("rejected");
  expect(wrong.report).toMatchObject({ reason: "verifier_rejected", learned_model_hits: 1 });

  expect(waiting.advancePure({ environment, model: { answer: "x" } })).toBe("denied");
  expect(waiting.report.reason).toBe("not_qualified");
  expect(() => start("dinner", "travel")).toThrow(
    expect.objectContaining({ code: "not_qualified" }),
  );
});
