/** Every place at which a process of a case can die, once each, over all kinds and shapes in turn. */
import { rmSync } from "node:fs";
import { type Case, type Half, play, playedHalf } from "./play.ts";
import type { Pool } from "./processes.ts";
import { KINDS, type Kind, SHAPES, type Shape } from "./story.ts";

export async function* everyPlace(pool: Pool): AsyncGenerator<Case> {
  const variants = KINDS.flatMap((kind) => SHAPES.map((shape) => ({ kind, shape })));
  const halves = new Map<string, Variant>();
  try {
    for (const { kind, shape } of variants) {
      halves.set(`${kind} ${shape}`, await variantOf(pool, kind, shape));
    }
    yield* inTurn([...halves.values()], ({ before }) => before, placeBefore);
    yield* inTurn([...halves.values()], ({ behind }) => behind, placeBehind);
  } finally {
    for (const { half } of halves.values()) rmSync(half.root, { recursive: true, force: true });
  }
}

interface Variant {
  readonly kind: Kind;
  readonly shape: Shape;
  /** A case up to where the decision is filed, and places before and behind that. */
  readonly half: Half;
  readonly before: number;
  readonly behind: number;
}

async function variantOf(pool: Pool, kind: Kind, shape: Shape): Promise<Variant> {
  const half = await playedHalf(kind, shape);
  const whole = { kind, shape, deaths: [], approver: "process", here: true, from: half } as const;
  const rest = await play(pool, whole);
  return { kind, shape, half, before: half.places, behind: rest.reached[0]?.length ?? 0 };
}

function* inTurn(
  variants: readonly Variant[],
  places: (variant: Variant) => number,
  make: (variant: Variant, place: number) => Case,
): Generator<Case> {
  const most = Math.max(...variants.map(places));
  for (let place = 1; place <= most; place += 1) {
    const possible = variants.filter((variant) => places(variant) >= place);
    const variant = possible[place % possible.length];
    if (variant !== undefined) yield make(variant, place);
  }
}

function placeBefore({ kind, shape }: Variant, at: number): Case {
  return { kind, shape, deaths: [{ at }], approver: "parent", here: true };
}

function placeBehind({ kind, shape, half }: Variant, at: number): Case {
  return { kind, shape, deaths: [{ at }], approver: "process", here: true, from: half };
}
