/** Compiled runs at a host whose verification failed: the demotion is made, whatever happens on the way. */
import { afterAll, describe, expect, it } from "vitest";
import { resumeIn } from "../../../src/app/journalled.ts";
import type { Procedure } from "../../../src/app/procedure.ts";
import { ProcedureMemory } from "../../../src/app/procedure-memory.ts";
import { type Host, hostOf, partsOf } from "../../../src/host/index.ts";
import type { Phase } from "../../../src/model/memory.ts";
import type { ProcedureStore } from "../../../src/ports/procedures.ts";
import { directories, hostAt, procedureOf } from "../../support/gate.ts";

const places = directories();
afterAll(() => places.remove());

/** Fails its check from 10 on. */
const UNDER_TEN = {
  version: 1,
  id: "under-ten",
  inputs: { n: "integer" },
  terminal: "check",
  nodes: [
    {
      id: "check",
      step: {
        kind: "verify",
        condition: { op: "less", left: { input: "n" }, right: 10 },
        value: { input: "n" },
      },
    },
  ],
};
/** Fails the verifier's rule from 10 on instead. */
const ANY = {
  ...UNDER_TEN,
  nodes: [{ id: "check", step: { kind: "pure", value: { input: "n" } } }],
};
const RULE = { op: "less", left: { input: "context/result" }, right: 10 };

const PHASES: readonly Phase[] = ["training", "training", "training", "shadow", "canary"];

async function qualifiedAt(host: Host, procedure: Procedure) {
  const environment = host.environment(procedure.plan);
  const memory = ProcedureMemory.at(host);
  for (const [n, phase] of PHASES.entries()) {
    const run = procedure.start({ n: String(n) }, { environment });
    await run.advanceAsync(host);
    await memory.observe(run, { phase });
  }
  return { environment, qualified: await memory.qualify(procedure, { environment }) };
}

/** The host with a memory that cannot write a demotion, as in a process that ends before it could. */
function dyingBeforeDemotion(host: Host): Host {
  const parts = partsOf(host);
  const procedures: ProcedureStore = {
    ...parts.procedures,
    demote() {
      throw new Error("the process ends here");
    },
  };
  return hostOf({ ...parts, procedures });
}

const failing = [
  ["a check", UNDER_TEN, { version: 1, id: "v", result: true }, "verify_failed"],
  ["the verifier", ANY, RULE, "verifier_rejected"],
] as const;

describe("a compiled run that fails its verification at a host", () => {
  it.each(failing)(
    "by %s, demotes when it is resumed, where its process ended before it could",
    async (_, recipe, verifier, reason) => {
      const directory = places.fresh();
      const first = await hostAt(directory, { tools: [] });
      const procedure = procedureOf(first, recipe, verifier);
      const { environment } = await qualifiedAt(first, procedure);
      const dying = dyingBeforeDemotion(first);
      const recalled = await ProcedureMemory.at(dying).recall(procedure, { environment });
      const run = recalled?.start({ n: "10" }, { environment });
      await expect(run?.advanceAsync(dying)).rejects.toThrow("the process ends here");
      await run?.closeAsync();
      await first.close();

      const second = await hostAt(directory, { tools: [] });
      const memory = ProcedureMemory.at(second);
      // Nobody has judged the run yet, so it stands.
      expect(await memory.recall(procedure, { environment })).toBeDefined();
      const resumed = await resumeIn(second, String(run?.id));
      expect(resumed.report).toMatchObject({ state: "rejected", reason });
      expect(await memory.recall(procedure, { environment })).toBeUndefined();
      await second.close();

      const third = await hostAt(directory, { tools: [] });
      expect(await ProcedureMemory.at(third).recall(procedure, { environment })).toBeUndefined();
      await third.close();
    },
  );

  it("is not recorded as ended before its demotion is written", async () => {
    const whole = await hostAt(null, { tools: [] });
    const procedure = procedureOf(whole, UNDER_TEN);
    const { environment } = await qualifiedAt(whole, procedure);
    const host = dyingBeforeDemotion(whole);
    const recalled = await ProcedureMemory.at(host).recall(procedure, { environment });
    const run = recalled?.start({ n: "10" }, { environment });
    for (const _ of ["at once", "when it is advanced again"]) {
      await expect(run?.advanceAsync(host)).rejects.toThrow("the process ends here");
    }
    const types = partsOf(host).journal.read(String(run?.id));
    expect(types.map(({ entry }) => entry.type)).toEqual(["run_started"]);
    await whole.close();
  });
});
