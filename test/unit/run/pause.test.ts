import { expect, it } from "vitest";
import { advanceAtHost } from "../../../src/app/answering.ts";
import { createHost } from "../../../src/app/create-host.ts";
import { Procedure } from "../../../src/app/procedure.ts";
import { bindRecipe } from "../../../src/compile/index.ts";
import { hostOptions, madeTool, registration } from "../../support/host.ts";

const read = (id: string, after: readonly string[]) => ({
  id,
  after,
  output: "text",
  step: { kind: "read", tool: "look", arguments: { op: "record", fields: {} } },
});

it("a run that is paused stops when nothing is in flight, without an end, and goes on from there", async () => {
  const pause = new AbortController();
  const look = madeTool("look", (_, count) => {
    if (count === 2) pause.abort();
    return { kind: "done", result: `seen ${count}` };
  });
  const host = await createHost(hostOptions(null, [registration(look, "read")]));
  const recipe = {
    version: 1,
    id: "three",
    inputs: {},
    terminal: "c",
    nodes: [read("a", []), read("b", ["a"]), read("c", ["b"])],
  };
  const unbound = new Procedure(recipe, { verifier: true });
  const procedure = new Procedure(bindRecipe(recipe, host.environment(unbound.plan)), {
    verifier: true,
  });
  const run = procedure.start({}, { environment: host.environment(procedure.plan) });
  const { signal } = pause;
  expect(await advanceAtHost(run, host, { model: null, signal })).toBe("running");
  expect(look.calls).toHaveLength(2);
  expect(run.receipts).toHaveLength(2);
  expect(await advanceAtHost(run, host, { model: null, signal })).toBe("running");
  expect(look.calls).toHaveLength(2);
  await run.closeAsync();
  const resumed = await procedure.resume(host, run.id);
  expect(await resumed.advanceAsync(host)).toBe("verified");
  expect(resumed.result).toBe("seen 3");
  expect(look.calls).toHaveLength(3);
  await host.close();
});
