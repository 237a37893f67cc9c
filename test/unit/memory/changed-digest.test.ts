import { spawnSync } from "node:child_process";
import { afterEach, describe, expect, it } from "vitest";
import { Procedure } from "../../../src/app/procedure.ts";
import type { ProcedureMemory } from "../../../src/app/procedure-memory.ts";
import { readJson } from "../../../src/base/json.ts";
import { childProgram } from "../../support/children.ts";
import { ENVIRONMENT as environment } from "../../support/pure-procedure.ts";
import { AS_EXPECTED, climb, KIND, kindProcedure, memories, refusal } from "./memos.ts";

const { place, created, remove } = memories();
afterEach(remove);

describe("any change of digest invalidates", () => {
  const named = async (
    memory: ProcedureMemory,
    recipe: unknown,
    verifier: unknown = AS_EXPECTED,
  ) => {
    const procedure = new Procedure(recipe, { verifier });
    return refusal(
      memory.qualify(procedure, { environment: procedure.plan.environment ?? environment }),
    );
  };
  const recipe = KIND as { readonly inputs: object; readonly nodes: readonly object[] };

  it.each([
    ["a renamed slot", { ...recipe, inputs: { memo_text: "text", expected: "text" } }],
    ["an added slot", { ...recipe, inputs: { ...recipe.inputs, more: "integer" } }],
    ["a slot of another type", { ...recipe, inputs: { memo: { enum: ["a"] }, expected: "text" } }],
  ])("%s: the error names the plan (B069)", async (name, changed) => {
    const memory = await created();
    await climb(memory, kindProcedure());
    await memory.qualify(kindProcedure(), { environment });
    const text = JSON.stringify(changed);
    const fitting =
      name === "a renamed slot" ? text.replace('{"input":"memo"}', '{"input":"memo_text"}') : text;
    const error = await named(memory, fitting);
    expect(error).toMatchObject({ code: "not_qualified", data: { outcome: "no_evidence" } });
    expect(String(error)).toMatch(
      /does not apply here: plan was sha256:[0-9a-f]{12}… and is sha256:/,
    );
  });

  it("a changed verifier, named", async () => {
    const memory = await created();
    await climb(memory, kindProcedure());
    expect(String(await named(memory, KIND, true))).toMatch(/: verifier was sha256:/);
  });

  it("a changed environment, with the parts that differ", async () => {
    const memory = await created();
    await climb(memory, kindProcedure());
    const changed = { ...environment, tools: "9".repeat(64), evidence: "8".repeat(64) };
    const error = await named(memory, { ...recipe, environment: changed });
    expect(String(error)).toMatch(/environment \(tools, evidence\) was sha256:/);
  });

  it("order of keys, whitespace and sharing change nothing, in this process or another (B069, B072)", async () => {
    const memory = await created();
    await climb(memory, kindProcedure());
    const { id } = await memory.qualify(kindProcedure(), { environment });
    const shuffled = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(shuffled);
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, member]) => [key, shuffled(member)]),
      );
    };
    const once = readJson(JSON.stringify(KIND));
    if (!once.ok) throw new Error(once.error.message);
    const texts = [
      JSON.stringify(shuffled(KIND)),
      JSON.stringify(KIND, null, 4),
      shuffled(shuffled(KIND)),
      once.value,
      new TextEncoder().encode(JSON.stringify(KIND)),
    ];
    for (const text of texts) {
      const procedure = new Procedure(text, { verifier: AS_EXPECTED });
      expect((await memory.qualify(procedure, { environment })).id).toBe(id);
    }
    const [summary] = await memory.list();
    await memory.close();
    const child = spawnSync(process.execPath, [childProgram("digest")], {
      input: JSON.stringify({ recipe: shuffled(KIND), verifier: AS_EXPECTED, directory: place() }),
      encoding: "utf8",
    });
    expect(JSON.parse(child.stdout)).toEqual({
      plan: summary?.plan,
      verifier: summary?.verifier,
      environment: summary?.environment,
      qualification: id,
    });
  });
});
