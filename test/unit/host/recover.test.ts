/** What becomes of an operation that was admitted by a process that is gone. */
import { afterAll, describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { type Host, hostOf, partsOf } from "../../../src/host/index.ts";
import type { Append, Journal } from "../../../src/ports/journal.ts";
import type { ProbeOutcome, Tool } from "../../../src/ports/tool.ts";
import type { Run } from "../../../src/run/index.ts";
import { directories } from "../../support/directories.ts";
import {
  begin,
  CHECK,
  hostAt,
  INPUTS,
  OPEN,
  type Options,
  pay,
  procedureOf,
  READ,
  recipeOf,
  refusal,
  said,
} from "../../support/gate.ts";
import { type MadeTool, madeTool, registration } from "../../support/host.ts";

const places = directories();
afterAll(() => places.remove());

const KEYED = recipeOf([CHECK, pay("pay", ["check"], {}, { key: { input: "account" } })]);

/** The host of a process that dies before it can write a receipt. */
function dying(host: Host): Host {
  const parts = partsOf(host);
  const receipt = (request: Append) => request.entries.some(({ type }) => type === "receipt");
  const journal: Journal = {
    ...parts.journal,
    append: (request) =>
      receipt(request) ? Promise.reject(new Error("dead")) : parts.journal.append(request),
  };
  return hostOf({ ...parts, journal });
}

interface Story {
  readonly recipe?: object;
  readonly review?: object;
  readonly category?: "read" | "effect";
  readonly probe?: Tool["probe"];
  /** The tool as it is registered when the run is resumed; default: as before. */
  readonly later?: (made: MadeTool) => Parameters<typeof hostAt>[1]["tools"];
  readonly options?: Options;
}

/** A run whose process died with an operation in flight, resumed by another. */
async function resumed(
  story: Story,
): Promise<{ run: Run; host: Host; calls: number; made: MadeTool }> {
  const { recipe = KEYED, review = {}, category = "effect", probe, options = {} } = story;
  const directory = places.fresh();
  const name = category === "effect" ? "bank.pay" : "bank.balance";
  const change = probe === undefined ? {} : { probe };
  const made = madeTool(name, () => ({ kind: "done", result: "fresh" }), change);
  const tools = [registration(made, category, review)];
  const all = { ...OPEN, ...options };
  const first = await hostAt(directory, { tools }, all);
  const broken = dying(first);
  const procedure = procedureOf(broken, recipe);
  const dead = procedure.start(INPUTS, { environment: broken.environment(procedure.plan) });
  await expect(dead.advanceAsync(broken)).rejects.toThrow("dead");
  await dead.closeAsync();
  await first.close();
  const calls = made.calls.length;
  const host = await hostAt(directory, { tools: story.later?.(made) ?? tools }, all);
  const run = await procedure.resume(host, dead.id);
  return { run, host, calls, made };
}

const answers = (found: unknown) => async () => found as ProbeOutcome;

async function outcome(story: Story): Promise<readonly (string | null)[]> {
  const { run, host, calls, made } = await resumed(story);
  expect(made.calls.length).toBe(calls);
  await host.close();
  return said(run);
}

describe("an effect in flight when its process died", () => {
  it("is uncertain where nobody can tell, and is not done again", async () => {
    expect(await outcome({})).toEqual(["uncertain", "uncertain_operation"]);
  });

  it("is done when its target says so, with the result that it gives", async () => {
    const { run, host } = await resumed({
      probe: answers({ kind: "done", result: "paid before" }),
    });
    expect(await run.advanceAsync(host)).toBe("verified");
    expect(run.result).toBe("paid before");
    await host.close();
  });

  it("is undone when the target never saw it and refuses it from now on", async () => {
    const probe = answers({ kind: "absent" });
    const { run, host } = await resumed({ probe, review: { fenced: true } });
    expect(said(run)).toEqual(["failed", "absent"]);
    // Certain: so its key is free.
    expect((await begin(host, KEYED)).run.state).toBe("verified");
    await host.close();
  });

  it("is uncertain when its target only has not seen it yet: the first process may be paused", async () => {
    const { run, host } = await resumed({ probe: answers({ kind: "absent" }) });
    expect(run.state).toBe("uncertain");
    expect(said((await begin(host, KEYED)).run)).toEqual(["denied", "duplicate_key"]);
    await host.close();
  });

  it("is uncertain when the probe cannot tell, breaks, answers nonsense or never", async () => {
    const probes: readonly Tool["probe"][] = [
      answers({ kind: "unknown" }),
      answers(undefined),
      answers(null),
      answers("done"),
      answers({ kind: "DONE", result: 1 }),
      answers({ kind: "done", result: undefined }),
      answers({ kind: "done", result: Number.NaN }),
      () => Promise.reject(new Error("down")),
      () => {
        throw new Error("down");
      },
      () => new Promise(() => {}),
    ];
    for (const probe of probes) {
      const story = { probe, review: { fenced: true }, options: { callMs: 20 } };
      expect(await outcome(story as Story)).toEqual(["uncertain", "uncertain_operation"]);
    }
  });

  it("is not asked about at a tool that changed since, whatever it answers", async () => {
    const probe = answers({ kind: "done", result: "believe me" });
    const changed: Story["later"] = (made) => {
      const definition = { ...made.tool.definition, description: "another tool" };
      const tool = { ...made, tool: { ...made.tool, definition } };
      return [registration(tool, "effect", { fenced: true })];
    };
    expect(await outcome({ probe, later: changed })).toEqual(["uncertain", "uncertain_operation"]);
    const unreviewed: Story["later"] = (made) => [{ tool: made.tool, review: null }];
    expect(await outcome({ probe, later: unreviewed })).toEqual([
      "uncertain",
      "uncertain_operation",
    ]);
    const swapped: Story["later"] = (made) => {
      const { review } = registration(made, "effect");
      const definition = { ...made.tool.definition, description: "another tool" };
      return [{ tool: { ...made.tool, definition }, review }];
    };
    expect(await outcome({ probe, later: swapped })).toEqual(["uncertain", "uncertain_operation"]);
  });

  it("waits where the host lacks its tool: nothing is written, and later it is found out about (B047)", async () => {
    const directory = places.fresh();
    const made = madeTool("bank.pay", () => ({ kind: "done", result: "paid" }), {
      probe: answers({ kind: "done", result: "paid" }),
    });
    const tools = [registration(made, "effect")];
    const first = await hostAt(directory, { tools }, OPEN);
    const broken = dying(first);
    const procedure = procedureOf(broken, KEYED);
    const dead = procedure.start(INPUTS, { environment: broken.environment(procedure.plan) });
    await expect(dead.advanceAsync(broken)).rejects.toThrow("dead");
    await dead.closeAsync();
    await first.close();
    const without = await hostAt(directory, { tools: [] }, OPEN);
    const before = partsOf(without).journal.length(dead.id);
    expect(await refusal(procedure.resume(without, dead.id))).toBe("tool_missing");
    expect(partsOf(without).journal.length(dead.id)).toBe(before);
    await without.close();
    const again = await hostAt(directory, { tools }, OPEN);
    const run = await procedure.resume(again, dead.id);
    expect(await run.advanceAsync(again)).toBe("verified");
    expect(made.calls).toHaveLength(1);
    await again.close();
  });
});

describe("a read in flight when its process died", () => {
  const read = { category: "read", recipe: recipeOf([READ]) } as const;

  it("is read again where the reviewer said that it may be, as a new attempt (B045)", async () => {
    const { run, host, made } = await resumed({ ...read, review: { repeatable: true } });
    expect(await run.advanceAsync(host)).toBe("verified");
    expect(made.calls).toHaveLength(2);
    const ids = made.calls.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(2);
    await host.close();
  });

  it("is read again as often as the host allows, over all processes together", async () => {
    const story = { ...read, review: { repeatable: true }, options: { readAttempts: 1 } };
    expect(await outcome(story)).toEqual(["failed", "interrupted"]);
  });

  it("is uncertain where reading again may not be the same: what it took away, nobody has", async () => {
    expect(await outcome(read)).toEqual(["uncertain", "no_outcome"]);
  });
});

describe("the record of a run that goes on", () => {
  it("is refused when an entry of it was changed since, and nothing is done (B041)", async () => {
    const directory = places.fresh();
    const balance = madeTool("bank.balance", () => ({ kind: "done", result: { amount: "1200" } }));
    const paying = madeTool("bank.pay", () => ({ kind: "done", result: "paid" }));
    const tools = [registration(balance, "read"), registration(paying, "effect")];
    const recipe = recipeOf([READ, CHECK, pay("pay", ["check", "balance"])]);
    const host = await hostAt(directory, { tools });
    const { run, procedure } = await begin(host, recipe);
    await run.closeAsync();
    const parts = partsOf(host);
    const entries = parts.journal.read(run.id);
    const tamper = (change: (body: { [member: string]: JsonValue }) => void) => {
      const changed = structuredClone(entries) as typeof entries;
      const receipt = changed.find(({ entry }) => entry.type === "receipt");
      change(receipt?.entry.body as { [member: string]: JsonValue });
      const journal: Journal = {
        ...parts.journal,
        read: (_, from = 0) => changed.slice(from),
      };
      return hostOf({ ...parts, journal });
    };
    const changes: readonly ((body: { [member: string]: JsonValue }) => void)[] = [
      (body) => {
        body["result"] = { amount: "9" };
      },
      (body) => {
        body["outcome"] = "refused";
      },
      (body) => {
        body["operation"] = `sha256:${"0".repeat(64)}`;
      },
      (body) => {
        body["envelope"] = null;
      },
      (body) => {
        delete body["result"];
      },
    ];
    for (const change of changes) {
      expect(await refusal(procedure.resume(tamper(change), run.id))).toBe("journal_damaged");
    }
    // An entry left out, or two in another order.
    for (const order of [
      entries.slice(1),
      [...entries.slice(0, -1)].reverse(),
      entries.toSpliced(1, 1),
    ]) {
      const journal: Journal = { ...parts.journal, read: (_, from = 0) => order.slice(from) };
      expect(await refusal(procedure.resume(hostOf({ ...parts, journal }), run.id))).toBe(
        "journal_damaged",
      );
    }
    expect(paying.calls).toHaveLength(0);
    const resumed = await procedure.resume(host, run.id);
    expect(resumed.state).toBe("awaiting_approval");
    await host.close();
  });

  it("holds values as deep and as large as tools may give and take", async () => {
    let deep: JsonValue = "core";
    for (let level = 0; level < 60; level += 1) deep = level % 2 === 0 ? [deep] : { a: deep };
    const wide = {
      rows: Array.from({ length: 20_000 }, (_, at) => ({ id: at, name: `row ${at}` })),
    };
    for (const result of [deep, wide]) {
      const directory = places.fresh();
      const balance = madeTool("bank.balance", () => ({ kind: "done", result }));
      const copying = madeTool("bank.pay", () => ({ kind: "done", result }));
      const tools = [registration(balance, "read"), registration(copying, "effect")];
      const step = { arguments: { op: "record", fields: { all: { node: "balance" } } } };
      const recipe = recipeOf([
        READ,
        CHECK,
        pay("pay", ["check", "balance"], { output: "json" }, step),
      ]);
      const host = await hostAt(directory, { tools }, OPEN);
      const { run, procedure } = await begin(host, recipe);
      expect(run.state).toBe("verified");
      await host.close();
      const later = await hostAt(directory, { tools }, OPEN);
      const again = await procedure.resume(later, run.id);
      expect(again.result).toEqual(JSON.parse(JSON.stringify(result)));
      await later.close();
    }
  });
});
