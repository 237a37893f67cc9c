/** What a memory keeps of the people whose data went through it. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Procedure } from "../../../src/app/procedure.ts";
import { ProcedureMemory } from "../../../src/app/procedure-memory.ts";
import type { Run } from "../../../src/run/index.ts";
import {
  ENVIRONMENT as environment,
  MODELS as models,
  recipeOf,
} from "../../support/pure-procedure.ts";

const PEOPLE = ["Erika Mustermann", "Jürgen Öztürk", "Ana Ruiz", "Li Wei", "Zoë Braun"];
const PHASES = ["training", "training", "training", "shadow", "canary"] as const;
const memo = (at: number) => ({ name: PEOPLE[at] ?? "", account: `DE8937040044053201300${at}` });
/** What the model answers, which is the one thing that has to be kept to be reused. */
const ANSWER = "kind-of-payment-4711";

const recipe = recipeOf({ name: "text", account: "text" }, [
  {
    id: "kind",
    output: "text",
    step: {
      kind: "model",
      prompt: { op: "concat", values: [{ input: "name" }, { input: "account" }] },
    },
  },
  {
    id: "line",
    after: ["kind"],
    output: "text",
    step: {
      kind: "pure",
      value: { op: "concat", values: [{ input: "account" }, ":", { node: "kind" }] },
    },
  },
]);
const procedure = new Procedure(recipe, { verifier: true });

function played(at: number): Run {
  const run = procedure.start(memo(at), { environment, models });
  run.advancePure({ environment });
  run.advancePure({ environment, model: { node: "kind", answer: ANSWER } });
  if (run.state !== "verified") throw new Error(JSON.stringify(run.report));
  return run;
}

const root = mkdtempSync(join(tmpdir(), "rote-personal-"));
const directory = join(root, "memory");
let memory: ProcedureMemory;

beforeAll(async () => {
  memory = await ProcedureMemory.create(directory);
  for (const [at, phase] of PHASES.entries()) await memory.observe(played(at), { phase });
  await memory.qualify(procedure, { environment });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Every byte in the memory's directory, in the spellings that texts are kept in. */
function kept(): string {
  const bytes = readdirSync(directory).map((name) => readFileSync(join(directory, name)));
  return [
    ...bytes.map((one) => one.toString("latin1")),
    ...bytes.map((one) => one.toString("utf8")),
    ...bytes.map((one) => one.toString("utf16le")),
  ].join("\n");
}

describe("a memory that learned from runs with names and account numbers (B121)", () => {
  it("has neither of them anywhere in its files, nor results made of them, but the model's answers", async () => {
    const all = kept();
    for (const [at, name] of PEOPLE.entries()) {
      expect(all).not.toContain(name);
      expect(all).not.toContain(name.split(" ")[1] ?? name);
      expect(all).not.toContain(memo(at).account);
    }
    expect(all).toContain(ANSWER);
    expect((await memory.status(procedure, { environment })).missing).toEqual([]);
  });

  it("tells nobody of them either: not in status, list, nor what qualifies", async () => {
    const told = JSON.stringify([
      await memory.status(procedure, { environment }),
      await memory.list(),
    ]);
    for (const [at, name] of PEOPLE.entries()) {
      expect(told).not.toContain(name);
      expect(told).not.toContain(memo(at).account);
    }
  });

  it("once it has forgotten them has nothing left of them, and starts from no evidence", async () => {
    await memory.forget(procedure, { environment });
    const { missing, qualification } = await memory.status(procedure, { environment });
    expect(missing).not.toEqual([]);
    expect(qualification).toBeNull();
    expect(await memory.recall(procedure, { environment })).toBeUndefined();
    await memory.close();
    const all = kept();
    expect(all).not.toContain(ANSWER);
    for (const name of PEOPLE) expect(all).not.toContain(name);
  });
});
