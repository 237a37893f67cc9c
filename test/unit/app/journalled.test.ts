import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createHost } from "../../../src/app/create-host.ts";
import { modelsIn, procedureIn, resumeIn, verifierFrom } from "../../../src/app/journalled.ts";
import { Procedure } from "../../../src/app/procedure.ts";
import { startNamed, wasStarted } from "../../../src/app/start-once.ts";
import { bindRecipe } from "../../../src/compile/index.ts";
import type { Host } from "../../../src/host/index.ts";
import { hostOptions } from "../../support/host.ts";

const RECIPES = fileURLToPath(new URL("../../../recipes/", import.meta.url));
const shipped = readdirSync(RECIPES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** Waits for a model, so that it can be left without an end. */
const RECIPE = {
  version: 1,
  id: "ask",
  inputs: { question: "text", other: { optional: "integer" } },
  terminal: "answer",
  nodes: [{ id: "answer", output: "text", step: { kind: "model", prompt: { input: "question" } } }],
};

function bound(host: Host, recipe: unknown, verifier: unknown, name?: string): Procedure {
  const unbound = new Procedure(recipe, { verifier });
  const source = bindRecipe(recipe, host.environment(unbound.plan));
  const random = name === undefined ? {} : { random: startNamed(name) };
  return new Procedure(source, { verifier, ...random });
}

function start(host: Host, procedure: Procedure, inputs: { [name: string]: string }) {
  const environment = host.environment(procedure.plan);
  const models = { default: { provider: "p", name: "m" } };
  return procedure.start(inputs, { environment, models });
}

describe("the procedure of a run", () => {
  it.each(shipped)("%s compiles from its normal form to what it was", (name) => {
    const read = (file: string) => readFileSync(join(RECIPES, name, file));
    const made = new Procedure(read("recipe.json"), { verifier: read("verifier.json") });
    const again = new Procedure(made.plan.normal, {
      verifier: verifierFrom(made.verifier.normal),
    });
    expect(again.plan.digest).toBe(made.plan.digest);
    expect(again.verifier.digest).toBe(made.verifier.digest);
  });

  it.each([
    ["a document", { version: 1, id: "v", result: true }],
    ["a bare expression", { op: "equal", left: { input: "context/result" }, right: "42" }],
    ["a literal", true],
  ])("comes from the journal alone, its verifier being %s", async (_, verifier) => {
    const host = await createHost(hostOptions(null, []));
    const procedure = bound(host, RECIPE, verifier);
    const run = start(host, procedure, { question: "?" });
    expect(await run.advanceAsync(host)).toBe("awaiting_model");
    await run.closeAsync();
    const found = procedureIn(host, run.id);
    expect(found.digest).toBe(procedure.digest);
    expect(found.verifier.digest).toBe(procedure.verifier.digest);
    expect(modelsIn(host, run.id)).toEqual({ default: { provider: "p", name: "m" } });
    const resumed = await resumeIn(host, run.id);
    expect(await resumed.advanceAsync(host, { model: { answer: "42" } })).toBe("verified");
    await host.close();
  });

  it("is refused for a run that is not there, and for the host's own chain", async () => {
    const host = await createHost(hostOptions(null, []));
    for (const name of ["run-0", "host"]) {
      expect(() => procedureIn(host, name)).toThrow(/There is no run/);
    }
    await host.close();
  });
});

describe("a start under a name", () => {
  it("has one run: told from another start of the same, and from a start of something else", async () => {
    const host = await createHost(hostOptions(null, []));
    const first = start(host, bound(host, RECIPE, true, "july"), { question: "?" });
    expect(wasStarted(host, first)).toBe(false);
    await first.advanceAsync(host);
    const again = start(host, bound(host, RECIPE, true, "july"), { question: "?" });
    expect(again.id).toBe(first.id);
    expect(wasStarted(host, again)).toBe(true);
    const inputs = start(host, bound(host, RECIPE, true, "july"), { question: "!" });
    expect(() => wasStarted(host, inputs)).toThrow(/another inputs/);
    const rule = { version: 1, id: "other", result: true };
    const verifier = start(host, bound(host, RECIPE, rule, "july"), { question: "?" });
    expect(() => wasStarted(host, verifier)).toThrow(/another verifier/);
    const other = start(host, bound(host, RECIPE, true, "august"), { question: "!" });
    expect(wasStarted(host, other)).toBe(false);
    await host.close();
  });
});
