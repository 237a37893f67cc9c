import { RoteError } from "../base/error.ts";
import { LEAST_REQUIREMENT, MAX_OBSERVATIONS, PHASES, type Requirement } from "../model/memory.ts";

/**
 * The requirement in force: `base` (the least one, or what a memory was opened with), raised where more is asked for.
 *
 * @throws RoteError `bad_requirement` for fewer runs than the base, or more than are ever kept.
 */
export function requirement(
  asked: Partial<Requirement> = {},
  base: Requirement = LEAST_REQUIREMENT,
): Requirement {
  const runs = { ...base };
  for (const phase of PHASES) {
    const count = asked[phase];
    if (count === undefined) continue;
    const least = base[phase];
    if (!Number.isSafeInteger(count) || count < least) {
      throw new RoteError(
        "bad_requirement",
        `${count} ${phase} runs were asked for; ${least} or more can be asked for, never fewer`,
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
