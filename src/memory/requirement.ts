import { RoteError } from "../base/error.ts";
import { LEAST_REQUIREMENT, MAX_OBSERVATIONS, PHASES, type Requirement } from "../model/memory.ts";

/**
 * The requirement in force: the least one, raised where the host asks for more.
 *
 * @throws RoteError `bad_requirement` for fewer runs than the least, or more than are ever kept.
 */
export function requirement(asked: Partial<Requirement> = {}): Requirement {
  const runs = { ...LEAST_REQUIREMENT };
  for (const phase of PHASES) {
    const count = asked[phase];
    if (count === undefined) continue;
    const least = LEAST_REQUIREMENT[phase];
    if (!Number.isSafeInteger(count) || count < least) {
      throw new RoteError(
        "bad_requirement",
        `${count} ${phase} runs were asked for; a host may ask for more than ${least}, never for less`,
        { phase, least },
      );
    }
    runs[phase] = count;
  }
  const total = runs.training + runs.shadow + runs.canary;
  if (total > MAX_OBSERVATIONS) {
    throw new RoteError(
      "bad_requirement",
      `${total} runs were asked for; at most ${MAX_OBSERVATIONS} are kept for one procedure`,
      { total, most: MAX_OBSERVATIONS },
    );
  }
  return runs;
}
