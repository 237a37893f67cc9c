/** "Did you mean": the nearest of many names, within a bound on the work. */
import { nearest } from "../base/text.ts";

/** Comparisons of two names; enough for any document that people write, a fraction of a second at worst. */
const COMPARISONS = 50_000;

export interface Hints {
  /** Taken by whoever compares: the names, or none once the work is used up, so that later problems go without a hint. */
  readonly names: readonly string[];
  nearest(word: string): string | undefined;
}

export function hintsFrom(all: readonly string[]): Hints {
  let left = COMPARISONS;
  const take = (): readonly string[] => {
    left -= all.length;
    return left < 0 ? [] : all;
  };
  return {
    get names() {
      return take();
    },
    nearest: (word) => nearest(word, take(), Number.POSITIVE_INFINITY),
  };
}
