/**
 * Learn a small verified procedure. No model, account, broker or server required.
 *
 * Three training runs, one held-out shadow run and one canary run qualify the procedure; the sixth run is compiled and
 * takes one repeated expression from its twin. Run it with `npx tsx examples/learn.ts`; it prints 7200.
 */
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Procedure, ProcedureMemory } from "../src/index.ts";

const value = (x: boolean) => ({ op: "literal", value: x });
const inputAt = (name: string, pointer = "") => ({ op: "input", name, pointer });
const multiply = (left: object, right: object) => ({ op: "multiply", left, right });

const environment = {
  policy: "1".repeat(64),
  tools: "2".repeat(64),
  credentials: "3".repeat(64),
  evidence: "4".repeat(64),
  host_configuration: null,
};
const calculation = multiply(inputAt("quantity"), inputAt("price"));
const graph = {
  version: 1,
  id: "line-total",
  environment,
  inputs: { quantity: "integer", price: "integer" },
  terminal: "result",
  nodes: [
    ...["calculate", "duplicate"].map((id) => ({
      id,
      after: [],
      output: "integer",
      step: { kind: "pure", value: calculation },
    })),
    {
      id: "result",
      after: ["calculate", "duplicate"],
      output: "integer",
      step: {
        kind: "verify",
        condition: value(true),
        value: { op: "node", id: "calculate", pointer: "" },
      },
    },
  ],
};
// The application supplies this separately from the recipe. Its context is built from the actual inputs and the
// completed result.
const verifier = {
  op: "equal",
  left: inputAt("context", "/result"),
  right: multiply(inputAt("context", "/inputs/quantity"), inputAt("context", "/inputs/price")),
};

const procedure = new Procedure(graph, { verifier });
const directory = join(mkdtempSync(join(tmpdir(), "rote-learn-")), "memory");
const memory = await ProcedureMemory.create(directory);
for (let index = 0; index < 5; index += 1) {
  const run = procedure.start({ quantity: String(index + 1), price: "1200" }, { environment });
  try {
    assert.equal(run.advancePure({ environment }), "verified");
    const phase = index < 3 ? "training" : index === 3 ? "shadow" : "canary";
    await memory.observe(run, { phase });
  } finally {
    run.close();
  }
}
await memory.close();

const reopened = await ProcedureMemory.open(directory);
const qualified = await reopened.qualify(procedure, { environment });
const run = qualified.start({ quantity: "6", price: "1200" }, { environment });
try {
  assert.equal(run.advancePure({ environment }), "verified");
  assert.equal(run.result, "7200");
  assert.equal(run.report.independently_verified, true);
  assert.equal(run.report.trace.filter((node) => node.reused_pure).length, 1);
  console.log(run.result);
  console.log(run.report);
  console.log("Memory:", directory);
} finally {
  run.close();
  await reopened.close();
}
