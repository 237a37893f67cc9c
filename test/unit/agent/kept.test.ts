/** An agent goes on with what was recorded, one process at a time, and with nothing that only looks like it. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterEach, describe, expect, it } from "vitest";
import { costOf, readPrices } from "../../../src/app/llm.ts";
import { type Host, hostOf, partsOf } from "../../../src/host/index.ts";
import type { Journal } from "../../../src/ports/journal.ts";
import type { Random } from "../../../src/ports/random.ts";
import { FILE } from "../../../src/store/sqlite/schema.ts";
import {
  ASKS,
  agentHosts,
  balance,
  call,
  calls,
  entryTypes,
  FREE,
  pay,
  runtimeOf,
  say,
  script,
  TRUST,
} from "../../support/agent.ts";
import { directories } from "../../support/directories.ts";
import { bank, hostAt, movedClock, refusal } from "../../support/gate.ts";
import { decision, KEYS } from "../../support/host.ts";

const hosts = agentHosts("tail_uncovered");
const folders = directories();
const { made } = hosts;
afterEach(async () => {
  expect(await hosts.close()).toEqual([]);
  folders.remove();
});

/** The host, whose journal reads otherwise. */
function reading(host: Host, change: Partial<Journal>): Host {
  const parts = partsOf(host);
  return hostOf({ ...parts, journal: { ...parts.journal, ...change } });
}

/** Does it to the file of a store that nobody has open. */
function inStore(directory: string, change: (database: Sqlite.Database) => void): void {
  const database = new Sqlite(join(directory, FILE));
  change(database);
  database.close();
}

describe("a run that waits for an approval", () => {
  it("does not go on with an answer, a result or a request that was changed in the store (B041)", async () => {
    const directory = folders.fresh();
    const of = bank();
    const host = await made(of, { policy: ASKS }, {}, directory);
    const lines = [calls(balance(7)), pay(1200), say("Paid.")];
    const { run, requests } = await runtimeOf(host, script(...lines)).run("pay");
    const [request] = requests;
    if (request === undefined) throw new Error("nothing was asked");
    const approval = decision(request, KEYS.alice, "alice");
    expect(await hosts.closed(host)).toEqual([]);
    const changes = [
      ["agent_replied", "1200", "9"],
      ["receipt", '"1000"', '"9"'],
      ["agent_asked", '"attempt":1', '"attempt":2'],
      ["approval_requested", '"shown":"', '"shown":"0'],
    ] as const;
    for (const [type, from, to] of changes) {
      const copy = folders.fresh();
      cpSync(directory, copy, { recursive: true });
      inStore(copy, (database) => {
        const rows = database.prepare("SELECT position, bytes FROM entries ORDER BY position DESC");
        const all = rows.all() as { position: number; bytes: Buffer }[];
        const found = all.find(({ bytes }) => bytes.includes(`"type":"${type}"`));
        const text = String(found?.bytes).replace(from, to);
        expect(text).not.toBe(String(found?.bytes));
        const change = database.prepare("UPDATE entries SET bytes = ? WHERE position = ?");
        change.run(Buffer.from(text), found?.position);
      });
      const changed = await hostAt(copy, of, { policy: ASKS, trust: TRUST });
      const resumed = runtimeOf(changed, script(...lines)).resume(run, { approval });
      expect([type, await refusal(resumed)]).toEqual([type, "journal_damaged"]);
      await changed.close();
    }
    expect(of.pay.calls).toHaveLength(0);
    const same = await made(of, { policy: ASKS }, {}, directory);
    const done = await runtimeOf(same, script(...lines)).resume(run, { approval });
    expect(done).toMatchObject({ output: "Paid." });
    expect(of.pay.calls.map(({ arguments: args }) => args)).toMatchObject([{ amount: "1200" }]);
  });

  it("is told by the record when its decision is over, whatever this process's clock says, and does not spin (B056)", async () => {
    const clock = movedClock();
    const of = bank();
    const host = await made(of, { policy: ASKS, clock });
    const runtime = runtimeOf(host, script(pay(1), say("Paid.")));
    const { run, requests } = await runtime.run("pay");
    const [request] = requests;
    if (request === undefined) throw new Error("nothing was asked");
    const now = Math.floor(clock.wallMs() / 1000);
    const short = decision(request, KEYS.alice, "alice", { expires: now + 30 });
    await host.fileDecision(short);
    // As a process whose clock is ahead would leave it.
    clock.move(50_000);
    await runtimeOf(host, script(say("Hello."))).run("greet");
    clock.move(-49_000);
    const length = partsOf(host).journal.length(run);
    expect(await runtime.resume(run)).toMatchObject({ state: "approval_pending" });
    expect([of.pay.calls.length, partsOf(host).journal.length(run)]).toEqual([0, length]);
    const approval = decision(request, KEYS.alice, "alice");
    expect(await runtime.resume(run, { approval })).toMatchObject({ output: "Paid." });
    expect(of.pay.calls).toHaveLength(1);
  });
});

describe("a run that somebody else holds", () => {
  it("is tried for once, and the refusal says until when it is held (B056)", async () => {
    const host = await made(bank());
    let answer = (): void => undefined;
    const slow = script(say("Done."));
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    let run = "";
    const first = runtimeOf(host, {
      ...slow,
      reply: async (request, signal) => {
        await held;
        return slow.reply(request, signal);
      },
    }).run("go", { onStart: (id) => (run = id) });
    while (partsOf(host).journal.length(run) < 2) await new Promise((next) => setImmediate(next));
    let claims = 0;
    const { journal } = partsOf(host);
    const counted = reading(host, {
      claim: (chain) => {
        claims += 1;
        return journal.claim(chain);
      },
    });
    const second = runtimeOf(counted, script(say("Done."))).resume(run);
    await expect(second).rejects.toMatchObject({
      code: "run_busy",
      data: { run, expires_ms: expect.any(Number) as number },
    });
    expect(claims).toBe(1);
    answer();
    expect(await first).toMatchObject({ output: "Done." });
  });

  it("has each reply once, from whoever was told that it is written, in every round (B053)", async () => {
    const directory = folders.fresh();
    const of = bank();
    const lines = [calls(balance(1)), pay(1), say("Paid.")];
    const both = [await made(of, {}, {}, directory), await made(of, {}, {}, directory)];
    const stopped = AbortSignal.abort();
    for (let round = 1; round <= 12; round += 1) {
      const { run } = await runtimeOf(both[0] as Host, script()).run("pay", { signal: stopped });
      const models = both.map(() => script(...lines));
      const outcomes = await Promise.allSettled(
        both.map((host, at) => runtimeOf(host, models[at] ?? script()).resume(run)),
      );
      const codes = outcomes.map((one) =>
        one.status === "fulfilled" ? one.value.state : (one.reason as { code: string }).code,
      );
      expect(["completed", "run_busy"]).toEqual(expect.arrayContaining(codes));
      expect(codes).toContain("completed");
      const asked = models.reduce((sum, { requests }) => sum + requests.length, 0);
      const types = entryTypes(both[1] as Host, run);
      expect([asked, types.filter((type) => type === "agent_replied").length]).toEqual([3, 3]);
      expect(of.pay.calls).toHaveLength(round);
    }
  });
});

describe("what an earlier run left", () => {
  /** Never a second id. */
  const stuck: Random = { bytes: (count) => new Uint8Array(count).fill(7) };

  it("never answers for a new one, not even when half of it is gone (B050)", async () => {
    const of = bank();
    const directory = folders.fresh();
    const host = await made(of, { random: stuck }, {}, directory);
    const first = await runtimeOf(host, script(calls(balance(1)), say("Old."))).run("old");
    expect(first.output).toBe("Old.");
    const another = async (at: Host) => {
      const model = script(calls(balance(2)), say("New."));
      const code = await refusal(runtimeOf(at, model).run("new"));
      return [code, model.requests.length];
    };
    expect(await another(host)).toEqual(["journal_damaged", 0]);
    expect(await another(host)).toEqual(["journal_damaged", 0]);
    expect(runtimeOf(host, script()).result(first.run)).toMatchObject({ output: "Old." });
    expect(await hosts.closed(host)).toEqual([]);
    for (const left of [3, 1, 0]) {
      const copy = folders.fresh();
      cpSync(directory, copy, { recursive: true });
      inStore(copy, (database) => {
        const gone = database.prepare(
          "DELETE FROM entries WHERE seq >= ? AND chain = (SELECT id FROM chains WHERE name = ?)",
        );
        expect(gone.run(left, first.run).changes).toBeGreaterThan(0);
      });
      const half = await hostAt(copy, of, { trust: TRUST, random: stuck, policy: FREE });
      expect(await another(half)).toEqual(["journal_damaged", 0]);
      await half.close();
    }
    expect(of.balance.calls).toHaveLength(1);
  });
});

describe("what a model costs", () => {
  const SPENT = { input_tokens: 16_000, output_tokens: 200 };
  const PRICES = JSON.stringify({
    version: 1,
    currency: "USD",
    models: { "scripted:test": { input: "3", output: "15" } },
  });

  it("is counted by its tokens, whatever price a provider names; without them the limit ends the run (B064)", async () => {
    const host = await made(bank());
    const free = { ...SPENT, cost: 0 };
    const paid = script({ ...(call("bank.balance", { account: "1" }) as object) }, say("Done."));
    const reporting = (usage: object) => ({
      ...paid,
      reply: async (...given: Parameters<typeof paid.reply>) => ({
        ...(await paid.reply(...given)),
        usage: usage as never,
      }),
    });
    const limits = { max_total_tokens: 16_200, reserve_tokens: 0 };
    const over = await runtimeOf(host, reporting(free), { defaults: { limits } }).run("look");
    expect(over).toMatchObject({ reason: "token_budget_exceeded", steps: 1 });
    expect(over.tokens).toMatchObject({ input: 16_000, output: 200 });
    const used = runtimeOf(host, paid).used(over.run);
    expect(costOf(readPrices(PRICES), used)).toMatchObject({ amount: "0.051", unknown: [] });

    const unsure = { max_total_tokens: 16_200, reserve_tokens: 9_000 };
    const silent = reporting({ cost: 0 });
    const ended = await runtimeOf(host, silent, { defaults: { limits: unsure } }).run("look");
    expect(ended).toMatchObject({ reason: "token_budget_exceeded", steps: 1 });
    expect(ended.tokens).toMatchObject({ input: "unknown", output: "unknown" });
    const unknown = costOf(readPrices(PRICES), runtimeOf(host, paid).used(ended.run));
    expect(unknown.amount).toBeNull();
    expect(unknown.unknown).not.toEqual([]);
  });
});

describe("a step of a long run", () => {
  it("reads no more of the record than one of a short run, and writes no more", async () => {
    const perStep = async (steps: number) => {
      const of = bank();
      const host = await made(of);
      const { journal } = partsOf(host);
      const counts = { read: 0, total: 0, written: 0 };
      const counting = reading(host, {
        read: (...given) => {
          const entries = journal.read(...given);
          counts.read += entries.length;
          return entries;
        },
        total: (counter) => {
          counts.total += 1;
          return journal.total(counter);
        },
        append: (request) => {
          counts.written += JSON.stringify(request.entries).length;
          return journal.append(request);
        },
      });
      const lines = Array.from({ length: steps }, (_, at) => calls(balance(1_000 + at)));
      const limits = { max_steps: 500, no_progress: 500, max_tool_calls: 500 };
      const runtime = runtimeOf(counting, script(...lines), { defaults: { limits } });
      const { run } = await runtime.run("look", { limits: { ...limits, max_steps: steps } });
      expect(entryTypes(host, run).filter((type) => type === "agent_replied")).toHaveLength(steps);
      return counts;
    };
    const [few, some, many] = [await perStep(10), await perStep(20), await perStep(200)];
    const more = (name: keyof typeof few) => [
      some[name] - few[name],
      (many[name] - some[name]) / 18,
    ];
    for (const name of ["read", "total"] as const) {
      const [short, long] = more(name);
      expect(long).toBe(short);
    }
    const [short = 0, long = 0] = more("written");
    // Numbers in entries have more digits.
    expect(long / short).toBeLessThan(1.05);
  });
});
