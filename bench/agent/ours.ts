/** The scenarios with Rote, at a real host with a journal on disk. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AgentRuntime } from "../../src/app/agent-runtime.ts";
import { createHost } from "../../src/app/create-host.ts";
import { auditBundle, sourceOf } from "../../src/audit/index.ts";
import { RoteError } from "../../src/base/error.ts";
import type { JsonValue } from "../../src/base/json.ts";
import { type Host, hostOf, partsOf } from "../../src/host/index.ts";
import { type ChatModel, providerError } from "../../src/ports/chat-model.ts";
import type { Journal } from "../../src/ports/journal.ts";
import type { PendingRequest } from "../../src/run/index.ts";
import {
  decision,
  hostOptions,
  KEYS,
  madeTool,
  POLICY,
  registration,
  trust,
} from "../../test/support/host.ts";
import type { CostScript, Kept, Player, RecordedCall, Work } from "./job.ts";
import type { Scenario, World } from "./scenario.ts";
import { replyOf } from "./scenarios.ts";

const own = trust();
const LEASE_MS = 1_000;

/** A world that nothing is done to, for whoever only reads. */
const NOTHING: World = { effect: () => 0, ask: () => undefined };

function modelOf(scenario: Scenario, world: World): ChatModel {
  return {
    identity: { provider: "scripted", name: scenario.name },
    async reply({ messages }) {
      await world.ask();
      const replies = messages.filter(({ role }) => role === "assistant").length;
      const turn = scenario.turn(replies);
      if ("fault" in turn) throw providerError(turn.fault, "as scripted");
      return replyOf(turn);
    },
  };
}

function hostFor(scenario: Scenario, directory: string, world: World): Promise<Host> {
  const tools = scenario.tools.map((tool) => {
    const made = madeTool(tool.name, async ({ arguments: args, signal }) =>
      tool.call(world, args, signal),
    );
    return registration(made, tool.category, { repeatable: tool.repeatable ?? false });
  });
  const asks = scenario.drama === "approval" || scenario.drama === "reject";
  const profile = asks ? ("standard" as const) : ("privileged" as const);
  return createHost(
    hostOptions(join(directory, "store"), tools, {
      trust: own,
      policy: { ...POLICY, profile },
      leaseMs: LEASE_MS,
    }),
  );
}

/** Passes a place before each write. */
function passing(host: Host, place: () => void): Host {
  const parts = partsOf(host);
  const journal: Journal = {
    ...parts.journal,
    append(request) {
      if (request.entries.length > 0) place();
      return parts.journal.append(request);
    },
  };
  return hostOf({ ...parts, journal });
}

const runFile = (directory: string) => join(directory, "run");

async function play({ scenario, directory, from, world, place }: Work): Promise<string> {
  const host = await hostFor(scenario, directory, world);
  const runtime = new AgentRuntime({
    host: passing(host, place),
    model: modelOf(scenario, world),
    defaults: { limits: { retry_delay_ms: 1, ...scenario.limits } },
  });
  const file = runFile(directory);
  try {
    if (from === "start" || !existsSync(file)) {
      const onStart = (run: string) => writeFileSync(file, run);
      const { reason, state } = await runtime.run("do it", { onStart });
      return reason ?? state;
    }
    const run = readFileSync(file, "utf8");
    const requests = from === "reject" ? runtime.result(run).requests : [];
    const approval = requests.map(rejection)[0];
    const { reason, state } = await runtime.resume(run, approval === undefined ? {} : { approval });
    return reason ?? state;
  } catch (error) {
    if (error instanceof RoteError && KEPT_OUT.includes(error.code)) return "kept_out";
    throw error;
  } finally {
    await host.close();
  }
}

/** What one of two at the same run is told. */
const KEPT_OUT: readonly string[] = ["lease_lost", "run_busy"];

function rejection(request: PendingRequest): JsonValue {
  return decision(request, KEYS.alice, "alice", { decision: "reject" });
}

async function look(scenario: Scenario, directory: string): Promise<Kept | null> {
  const file = runFile(directory);
  if (!existsSync(file)) return null;
  const host = await hostFor(scenario, directory, NOTHING);
  try {
    const runtime = new AgentRuntime({ host, model: modelOf(scenario, NOTHING) });
    const { calls } = runtime.inspect(readFileSync(file, "utf8"));
    const { journal } = partsOf(host);
    await journal.seal();
    const { findings } = await auditBundle(sourceOf(journal), { trust: own });
    return {
      whole: findings.length === 0,
      calls: calls.map(({ tool, arguments: args, outcome }) => ({
        tool,
        args,
        outcome: OUTCOMES[outcome] ?? "not_run",
      })),
    };
  } finally {
    await host.close();
  }
}

const OUTCOMES: { readonly [outcome: string]: RecordedCall["outcome"] } = {
  done: "done",
  uncertain: "open",
  in_flight: "open",
};

async function cost(directory: string | null, { turns, reply }: CostScript) {
  const tool = madeTool("look.up", (_, count) => ({ kind: "done", result: count }));
  const store = directory === null ? null : join(directory, String(turns));
  const host = await createHost(hostOptions(store, [registration(tool, "read")]));
  const limits = { max_steps: turns + 1, max_tool_calls: turns + 1 };
  const model = {
    identity: { provider: "scripted", name: "bench" },
    reply: ({ messages }: { readonly messages: readonly unknown[] }) =>
      Promise.resolve(reply((messages.length - 1) / 2)),
  };
  const runtime = new AgentRuntime({ host, model, defaults: { limits } });
  return async () => {
    const { reason } = await runtime.run("look everything up");
    tool.calls.length = 0;
    if (reason !== "completed") throw new Error(`it ended by ${reason}`);
  };
}

export const ROTE: Player = { play, look, cost };
