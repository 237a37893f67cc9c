/**
 * Every place at which a process can die, each once, and deaths that a seed decides. `npm run soak` goes on for
 * thousands of them.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { everyPlace } from "../support/kills/places.ts";
import { type Case, type Played, play } from "../support/kills/play.ts";
import { openPool, type Pool } from "../support/kills/processes.ts";
import { seededCase } from "../support/kills/seeded.ts";

/** Each of these has one to four deaths. */
const SEEDS = Array.from({ length: 14 }, (_, index) => 1_000 + index);

let pool: Pool;
const kills = { recipe: 0, agent: 0 };

beforeAll(() => {
  pool = openPool(1);
});

afterAll(() => {
  pool.close();
  process.stderr.write(`kills tried: ${kills.recipe} of recipes, ${kills.agent} of agents\n`);
});

function expectSound({ shape }: Case, played: Played): void {
  kills[shape === "agent" ? "agent" : "recipe"] += played.kills;
  const { repeated, lost, faults } = played;
  expect({ repeated, lost, faults }).toEqual({ repeated: 0, lost: 0, faults: [] });
}

describe("a process that dies, and another that goes on", () => {
  it("at every place, before, inside and after each commit and around each dispatch (B001, B002, B042, B045)", async () => {
    const ends = { recipe: new Set<string | null>(), agent: new Set<string | null>() };
    let places = 0;
    for await (const one of everyPlace(pool)) {
      places += 1;
      const played = await play(pool, one);
      expectSound(one, played);
      expect(played.kills, `${one.kind} ${one.shape} ${JSON.stringify(one.deaths)}`).toBe(1);
      ends[one.shape === "agent" ? "agent" : "recipe"].add(played.state);
    }
    expect(places).toBeGreaterThan(60);
    // Kills that change nothing, that leave an effect open, and that come before it was sent.
    expect([...ends.recipe].sort()).toEqual(["failed", "uncertain", "verified"]);
    expect([...ends.agent].sort()).toEqual(["completed", "stopped"]);
  });

  it.each(SEEDS)("one to four times, as seed %i decides", async (seed) => {
    const one = seededCase(seed);
    expectSound(one, await play(pool, one));
  });
});
