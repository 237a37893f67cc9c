import { buildChildren } from "../test/support/children.ts";
import { tallyOf } from "../test/support/kills/tally.ts";
import type { Row } from "./row.ts";

export const name = "kills";

const KILLS = 300;
/** Another range than that of the tests. */
const SEED = 20_000;

/**
 * Processes killed with SIGKILL at places and at times that seeds decide, each followed by another that goes on and may
 * be killed as well. Two of three stories are of recipes, one is of an agent. `repeated` counts effects that are more than once at the target, `lost` those that the journal and
 * the target do not agree about. The target is a database of its own that takes whatever it is told as often as it is
 * told.
 */
export async function rows(): Promise<readonly Row[]> {
  const remove = await buildChildren();
  const start = performance.now();
  const tally = await tallyOf({
    kills: KILLS,
    seed: SEED,
    progress({ kills, cases }, seed, wrong) {
      for (const one of wrong) process.stderr.write(`seed ${seed}: ${one}\n`);
      if (cases % 20 === 0) process.stderr.write(`${kills} of ${KILLS} kills\n`);
    },
  }).finally(remove);
  const { kills, repeated, lost, faults, cases, outcomes, states } = tally;
  const counted = (from: { readonly [name: string]: number }, prefix: string) =>
    Object.fromEntries(Object.entries(from).map(([key, count]) => [`${prefix}_${key}`, count]));
  return [
    {
      method: "rote",
      case: "SIGKILL at seeded places and times",
      kills,
      repeated,
      lost,
      faults,
      runs: cases,
      duplicate_side_effects: repeated,
      ...counted(outcomes, "effects"),
      ...counted(states, "runs"),
      seconds: Math.round((performance.now() - start) / 1000),
    },
  ];
}
