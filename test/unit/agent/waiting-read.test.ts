/** Reads of one turn, one of which waits for a person while the others go on. */
import { afterEach, describe, expect, it } from "vitest";
import { fileDecision, partsOf } from "../../../src/host/index.ts";
import { agentHosts, balance, calls, FREE, runtimeOf, say, script } from "../../support/agent.ts";
import { bank } from "../../support/gate.ts";
import { decision, KEYS, madeTool, registration } from "../../support/host.ts";

const hosts = agentHosts("tail_uncovered");
afterEach(async () => {
  expect(await hosts.close()).toEqual([]);
});

describe("a read that waits for a person beside reads that do not", () => {
  it.each(["approve", "reject"] as const)(
    "leaves a clean record when they %s it meanwhile",
    async (verdict) => {
      const of = bank();
      const vault = madeTool("vault.read", () => ({ kind: "done", result: "gold" }));
      const policy = { ...FREE, approvable: ["tool:read:vault.read"] };
      const tools = [...of.tools, registration(vault, "read")];
      const host = await hosts.made({ tools }, { policy });
      const turn = calls(["vault.read", {}], balance(1), balance(2), balance(3));
      const defaults = { limits: { parallel_calls: 2 } };
      const runtime = runtimeOf(host, script(turn, say("Seen.")), { defaults });
      let run = "";
      const answer = of.balance.tool.call;
      Object.assign(of.balance.tool, {
        call: async (given: Parameters<typeof answer>[0]) => {
          if ((given.arguments as { account: string }).account === "2") {
            const [request] = runtime.result(run).requests;
            if (request === undefined) throw new Error("nothing was asked");
            const envelope = decision(request, KEYS.alice, "alice", { decision: verdict });
            await fileDecision(partsOf(host), envelope);
          }
          return answer(given);
        },
      });
      const ended = await runtime.run("look", {
        onStart: (id) => {
          run = id;
        },
      });
      expect(ended.reason).toBe(verdict === "approve" ? "completed" : "approval_rejected");
    },
  );
});
