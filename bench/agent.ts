import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { AgentRuntime } from "../src/app/agent-runtime.ts";
import { createHost } from "../src/app/create-host.ts";
import { type ChatReply, UNKNOWN_CHAT_USAGE } from "../src/model/chat.ts";
import { hostOptions, madeTool, registration } from "../test/support/host.ts";
import { ourScore } from "./agent/ours.ts";
import { rawScore } from "./agent/raw.ts";
import type { Scenario, Score } from "./agent/scenario.ts";
import { SCENARIOS } from "./agent/scenarios.ts";
import { growthExponent, median, rounded } from "./measure.ts";
import type { Row } from "./row.ts";

export const name = "agent";

/**
 * An agent loop in trouble: the eight scenarios of the seed and harder ones, a minimal loop beside Rote. The minimal loop
 * is ended after six turns by a harness outside of it, which is not counted as containment. Then what a turn costs beside
 * the model: with a journal on disk, in memory, in the minimal loop, and four synced inserts, as many as a turn commits.
 */
export async function rows(): Promise<readonly Row[]> {
  const found: Row[] = [];
  const scores: { readonly method: string; readonly scenario: Scenario; readonly score: Score }[] =
    [];
  for (const scenario of SCENARIOS) {
    process.stderr.write(`${scenario.name} ..\n`);
    for (const [method, play] of [
      ["minimal loop", rawScore],
      ["rote", ourScore],
    ] as const) {
      const score = await play(scenario);
      scores.push({ method, scenario, score });
      found.push(scoreRow(method, scenario, score));
    }
  }
  for (const set of ["seed", "harder"]) {
    for (const method of ["minimal loop", "rote"]) {
      const of = scores.filter((one) => one.method === method && one.scenario.set === set);
      found.push(
        totalRow(
          method,
          set,
          of.map(({ score }) => score),
        ),
      );
    }
  }
  return [...found, ...(await costs())];
}

function scoreRow(method: string, { name: scenario, set }: Scenario, score: Score): Row {
  return {
    method,
    case: scenario,
    set,
    contained: yes(score.contained),
    resumed: yes(score.resumed),
    terminal: yes(score.terminal),
    trace: yes(score.trace),
    duplicate_side_effects: score.duplicates,
    steps: rounded(score.steps),
    reason: score.reason,
  };
}

/** Shares of those scenarios in which it can be told. */
function totalRow(method: string, set: string, scores: readonly Score[]): Row {
  return {
    method,
    case: `all of ${set}`,
    set,
    contained: share(scores.map(({ contained }) => contained)),
    resumed: share(scores.map(({ resumed }) => resumed)),
    terminal: share(scores.map(({ terminal }) => terminal)),
    trace: share(scores.map(({ trace }) => trace)),
    duplicate_side_effects: scores.reduce((sum, { duplicates }) => sum + duplicates, 0),
    steps: rounded(scores.reduce((sum, { steps }) => sum + steps, 0) / scores.length),
    reason: null,
  };
}

function yes(value: boolean | null): string | null {
  if (value === null) return null;
  return value ? "yes" : "no";
}

function share(values: readonly (boolean | null)[]): string | null {
  const told = values.filter((value) => value !== null);
  if (told.length === 0) return null;
  return `${Math.round((100 * told.filter(Boolean).length) / told.length)} %`;
}

const SIZES = [10, 100, 1_000];
/** Turns measured per size: enough whole runs for a median. */
const TURNS = 1_000;

async function costs(): Promise<readonly Row[]> {
  const root = mkdtempSync(join(tmpdir(), "rote-bench-agent-"));
  const methods = ["rote", "rote, in memory", "minimal loop", "four synced inserts"] as const;
  const times = new Map<string, [number, number][]>(methods.map((method) => [method, []]));
  const found: Row[] = [];
  for (const size of SIZES) {
    process.stderr.write(`${size} turns ..\n`);
    const stored = await turnsAt(join(root, `store-${size}`), size);
    const kept = await turnsAt(null, size);
    const insert = inserts(join(root, `floor-${size}.sqlite`), size);
    const work: readonly (() => Promise<void>)[] = [
      stored.run,
      kept.run,
      () => minimal(size),
      insert.run,
    ];
    const taken = methods.map((): number[] => []);
    // The first round warms up.
    for (let round = 0; round <= Math.max(3, TURNS / size); round += 1) {
      for (const [at, one] of work.entries()) {
        const start = performance.now();
        await one();
        if (round > 0) taken[at]?.push((performance.now() - start) / size);
      }
    }
    await stored.close();
    await kept.close();
    insert.close();
    const floor = median(taken[3] ?? []);
    methods.forEach((method, at) => {
      const ms = median(taken[at] ?? []);
      times.get(method)?.push([size, ms]);
      found.push({
        method,
        case: "a turn with one call",
        turns: size,
        ms_per_turn: rounded(ms),
        of_floor: rounded(floor / ms),
        growth_exponent:
          size === SIZES.at(-1) ? rounded(growthExponent(times.get(method) ?? [])) : null,
      });
    });
  }
  rmSync(root, { recursive: true, force: true });
  return found;
}

/** Replies by the length of the conversation alone, so that the model costs the same in every turn. */
function replyAt(turn: number, size: number): ChatReply {
  const last = turn >= size - 1;
  return {
    content: last ? "done" : "",
    calls: last ? [] : [{ id: "a", name: "look.up", arguments: `{"n":${turn}}` }],
    stop: last ? "end" : "calls",
    usage: { ...UNKNOWN_CHAT_USAGE, input_tokens: 10, output_tokens: 1 },
    response: { id: null, model: null },
  };
}

async function turnsAt(directory: string | null, size: number) {
  const tool = madeTool("look.up", (_, count) => ({ kind: "done", result: count }));
  const host = await createHost(hostOptions(directory, [registration(tool, "read")]));
  const limits = { max_steps: size + 1, max_tool_calls: size + 1 };
  const model = {
    identity: { provider: "scripted", name: "bench" },
    reply: ({ messages }: { readonly messages: readonly unknown[] }) =>
      Promise.resolve(replyAt((messages.length - 1) / 2, size)),
  };
  const runtime = new AgentRuntime({ host, model, defaults: { limits } });
  return {
    async run() {
      const { reason, steps } = await runtime.run("look everything up");
      tool.calls.length = 0;
      if (reason !== "completed" || steps !== size) throw new Error(`it ended by ${reason}`);
    },
    close: () => host.close(),
  };
}

async function minimal(size: number): Promise<void> {
  const messages: unknown[] = ["look everything up"];
  for (;;) {
    const reply = await Promise.resolve(replyAt((messages.length - 1) / 2, size));
    messages.push(reply);
    const [call] = reply.calls;
    if (call === undefined) return;
    messages.push(await Promise.resolve(JSON.parse(call.arguments)));
  }
}

/** As many commits as a turn of Rote makes: question, reply, admission, receipt. */
function inserts(file: string, size: number) {
  const db = new Sqlite(file);
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.exec("CREATE TABLE entries (id INTEGER PRIMARY KEY, body TEXT)");
  const insert = db.prepare("INSERT INTO entries (body) VALUES (?)");
  const body = "x".repeat(600);
  return {
    run: async () => {
      for (let at = 0; at < size * 4; at += 1) insert.run(body);
    },
    close: () => db.close(),
  };
}
