/** Cases that a number decides: the same number, the same deaths at the same places. */
import type { Case, Death } from "./play.ts";
import { KINDS, SHAPES } from "./story.ts";

/** Places that a process reaches at most, and a little more: some deaths come after its end, and are none. */
const PLACES = 70;
/** A process lives about this long. */
const LIFE_MS = 400;
const DEATHS = 4;

export function seededCase(seed: number): Case {
  const draw = drawing(seed);
  const kind = KINDS[draw(KINDS.length)] ?? "plain";
  const shape = SHAPES[draw(SHAPES.length)] ?? "two";
  const deaths = Array.from({ length: 1 + draw(DEATHS) }, (): Death => {
    const how = draw(5);
    if (how === 0) return null;
    return how <= 3 ? { at: 1 + draw(PLACES) } : { afterMs: draw(LIFE_MS) };
  });
  return { kind, shape, deaths, approver: draw(2) === 0 ? "process" : "parent" };
}

/** Numbers below a bound, from a 32-bit state (mulberry32). */
function drawing(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}
