/** The same scenarios with Rote, at a real host with a journal on disk. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentResult, AgentRuntime } from "../../src/app/agent-runtime.ts";
import { createHost } from "../../src/app/create-host.ts";
import { auditBundle, sourceOf } from "../../src/audit/index.ts";
import type { JsonValue } from "../../src/base/json.ts";
import { type Host, hostOf, partsOf } from "../../src/host/index.ts";
import type { ChatModel } from "../../src/ports/chat-model.ts";
import { providerError } from "../../src/ports/chat-model.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { Journal } from "../../src/ports/journal.ts";
import {
  decision,
  hostOptions,
  KEYS,
  madeTool,
  registration,
  trust,
} from "../../test/support/host.ts";
import { duplicatesIn, type Scenario, type Score, type World, world } from "./scenario.ts";
import { replyOf } from "./scenarios.ts";

const own = trust();

function modelOf(scenario: Scenario, at: World): ChatModel {
  return {
    identity: { provider: "scripted", name: scenario.name },
    async reply({ messages }) {
      at.asked += 1;
      const replies = messages.filter(({ role }) => role === "assistant").length;
      const turn = scenario.turn(replies);
      if ("fault" in turn) throw providerError(turn.fault, "as scripted");
      return replyOf(turn);
    },
  };
}

function optionsFor(scenario: Scenario, at: World, directory: string, clock?: Clock) {
  const tools = scenario.tools.map((tool) => {
    const made = madeTool(tool.name, async ({ arguments: args, signal }) =>
      tool.call(at, args, signal),
    );
    return registration(made, tool.category, { repeatable: tool.repeatable ?? false });
  });
  const asks = scenario.drama === "approval" || scenario.drama === "reject";
  const profile = asks ? ("standard" as const) : ("privileged" as const);
  const { policy } = hostOptions(null, []);
  return hostOptions(directory, tools, {
    trust: own,
    policy: { ...policy, profile },
    ...(clock === undefined ? {} : { clock, leaseMs: 1_000 }),
  });
}

const runtimeOf = (host: Host, model: ChatModel, { limits }: Scenario) =>
  new AgentRuntime({ host, model, defaults: { limits: { retry_delay_ms: 1, ...limits } } });

/** The n-th append that writes something fails, as when the process goes away before it. */
function dying(host: Host, n: number): Host {
  const parts = partsOf(host);
  let seen = 0;
  const journal: Journal = {
    ...parts.journal,
    append(request) {
      if (request.entries.length > 0) seen += 1;
      if (seen >= n && request.entries.length > 0) return Promise.reject(new Error("gone"));
      return parts.journal.append(request);
    },
  };
  return hostOf({ ...parts, journal });
}

interface Ended {
  readonly result: AgentResult;
  readonly audited: boolean;
}

async function audited(host: Host): Promise<boolean> {
  const { journal } = partsOf(host);
  await journal.seal();
  const { findings } = await auditBundle(sourceOf(journal), { trust: own });
  return findings.length === 0;
}

async function withHost<T>(
  scenario: Scenario,
  at: World,
  work: (host: Host, directory: string) => Promise<T>,
  clock?: Clock,
): Promise<T> {
  const root = mkdtempSync(join(tmpdir(), "rote-bench-agent-"));
  const directory = join(root, "store");
  const host = await createHost(optionsFor(scenario, at, directory, clock));
  try {
    return await work(host, directory);
  } finally {
    await host.close();
    rmSync(root, { recursive: true, force: true });
  }
}

export async function ourScore(scenario: Scenario): Promise<Score> {
  const at = world();
  if (scenario.drama === "boundaries") return boundaries(scenario);
  const { result, audited: whole } = await play(scenario, at);
  const reason = result.reason ?? result.state;
  const right = scenario.ends.includes(reason);
  const resumes = ["interrupt", "twice", "stale"].includes(scenario.drama ?? "");
  const duplicates = duplicatesIn(at, scenario);
  return {
    contained: scenario.runaway ? right && duplicates === 0 : null,
    resumed: resumes ? right : null,
    terminal: right,
    trace: whole,
    duplicates,
    steps: at.asked,
    reason,
  };
}

async function play(scenario: Scenario, at: World): Promise<Ended> {
  switch (scenario.drama) {
    case "interrupt":
    case "twice":
      return taken(scenario, at, scenario.drama === "twice");
    case "stale":
      return stale(scenario, at);
    default:
      return withHost(scenario, at, async (host) => {
        const runtime = runtimeOf(host, modelOf(scenario, at), scenario);
        let result = await runtime.run("do it");
        if (scenario.drama === "reject") {
          const approval = rejection(result);
          result = await runtime.resume(result.run, { approval });
        }
        return { result, audited: await audited(host) };
      });
  }
}

function rejection({ requests }: AgentResult): JsonValue {
  const [request] = requests;
  if (request === undefined) throw new Error("nothing was asked");
  return decision(request, KEYS.alice, "alice", { decision: "reject" });
}

/** Goes away behind the receipt of the first effect, and is taken up by one or two others. */
function taken(scenario: Scenario, at: World, twice: boolean): Promise<Ended> {
  return withHost(scenario, at, async (host, directory) => {
    const model = modelOf(scenario, at);
    let run = "";
    // Start, question, reply, admission, receipt: the next write does not happen.
    await runtimeOf(dying(host, 6), model, scenario)
      .run("do it", { onStart: (id) => (run = id) })
      .catch(() => undefined);
    const other = await createHost(optionsFor(scenario, at, directory));
    try {
      const hosts = twice ? [host, other] : [other];
      const turns = await Promise.allSettled(
        hosts.map((one) => runtimeOf(one, model, scenario).resume(run)),
      );
      const ends = turns.flatMap((turn) => (turn.status === "fulfilled" ? [turn.value] : []));
      const [result] = ends;
      if (result === undefined) throw new Error("nobody could take it up");
      return { result, audited: await audited(other) };
    } finally {
      await other.close();
    }
  });
}

/** The first one sleeps in a model call past its lease; another finishes; then the first one wakes up. */
function stale(scenario: Scenario, at: World): Promise<Ended> {
  let passed = 0;
  const from = Date.now();
  const clock: Clock = { wallMs: () => from + passed, monotonicMs: () => passed };
  return withHost(
    scenario,
    at,
    async (host) => {
      let wake = (): void => undefined;
      let asleep = (): void => undefined;
      const sleeping = new Promise<void>((resolve) => {
        asleep = resolve;
      });
      const model = modelOf(scenario, at);
      const sleepy: ChatModel = {
        ...model,
        async reply(request, signal) {
          await new Promise<void>((resolve) => {
            wake = resolve;
            asleep();
          });
          return model.reply(request, signal);
        },
      };
      let run = "";
      const first = runtimeOf(host, sleepy, scenario)
        .run("do it", { onStart: (id) => (run = id) })
        .then(
          () => "went on",
          () => "lost its lease",
        );
      await sleeping;
      // Past the time that its model has, and the lease behind it.
      passed += 130_000;
      const result = await runtimeOf(host, model, scenario).resume(run);
      wake();
      if ((await first) !== "lost its lease") throw new Error("two were at work");
      return { result, audited: await audited(host) };
    },
    clock,
  );
}

/** At every write in turn; the worst of all counts. */
async function boundaries(scenario: Scenario): Promise<Score> {
  let [duplicates, steps, runs] = [0, 0, 0];
  let [terminal, trace] = [true, true];
  for (let n = 2; ; n += 1) {
    const at = world();
    const ended = await withHost(scenario, at, async (host) => {
      const model = modelOf(scenario, at);
      let run = "";
      const whole = await runtimeOf(dying(host, n), model, scenario)
        .run("do it", { onStart: (id) => (run = id) })
        .catch(() => null);
      if (whole !== null) return null;
      const result = await runtimeOf(host, model, scenario).resume(run);
      return { result, audited: await audited(host) };
    });
    if (ended === null) break;
    runs += 1;
    steps += at.asked;
    duplicates += duplicatesIn(at, scenario);
    terminal &&= scenario.ends.includes(ended.result.reason ?? "");
    trace &&= ended.audited;
  }
  const reason = `${runs} boundaries`;
  return {
    contained: null,
    resumed: terminal,
    terminal,
    trace,
    duplicates,
    steps: steps / runs,
    reason,
  };
}
