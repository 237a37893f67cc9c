/** Plays seeded cases until enough processes were killed, and adds up what became of them. */
import type { Played } from "./play.ts";
import { play } from "./play.ts";
import { openPool } from "./processes.ts";
import { seededCase } from "./seeded.ts";

export interface Tally {
  readonly cases: number;
  readonly kills: number;
  readonly repeated: number;
  readonly lost: number;
  readonly faults: number;
  /** How often runs ended in each state. */
  readonly states: { readonly [state: string]: number };
  /** Outcomes of effects in the journal. */
  readonly outcomes: { readonly [outcome: string]: number };
}

export const NOTHING: Tally = {
  cases: 0,
  kills: 0,
  repeated: 0,
  lost: 0,
  faults: 0,
  states: {},
  outcomes: {},
};

export interface TallyOptions {
  /** Kills to be reached, together with those of `from`. */
  readonly kills: number;
  readonly seed: number;
  readonly from?: Tally;
  /** Told after each case, with what was wrong in it. */
  progress(tally: Tally, seed: number, wrong: readonly string[]): void;
  stop?(): boolean;
}

/** Case n has the seed `seed + n`, so a count can be taken up where it was left. */
export async function tallyOf(options: TallyOptions): Promise<Tally> {
  const pool = openPool(1);
  let tally = options.from ?? NOTHING;
  try {
    while (tally.kills < options.kills && options.stop?.() !== true) {
      const seed = options.seed + tally.cases;
      const { added, wrong } = await outcomeOf(pool, seed);
      tally = added(tally);
      options.progress(tally, seed, wrong);
    }
    return tally;
  } finally {
    pool.close();
  }
}

async function outcomeOf(pool: Parameters<typeof play>[0], seed: number) {
  try {
    const played = await play(pool, seededCase(seed));
    return { added: (tally: Tally) => plus(tally, played), wrong: played.faults };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const added = (tally: Tally): Tally => ({
      ...tally,
      cases: tally.cases + 1,
      faults: tally.faults + 1,
    });
    return { added, wrong: [message] };
  }
}

function plus(tally: Tally, played: Played): Tally {
  const outcomes = { ...tally.outcomes };
  for (const outcome of played.outcomes) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  const state = played.state ?? "none";
  return {
    cases: tally.cases + 1,
    kills: tally.kills + played.kills,
    repeated: tally.repeated + played.repeated,
    lost: tally.lost + played.lost,
    faults: tally.faults + (played.faults.length > 0 ? 1 : 0),
    states: { ...tally.states, [state]: (tally.states[state] ?? 0) + 1 },
    outcomes,
  };
}
