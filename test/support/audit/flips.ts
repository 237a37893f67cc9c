/** One bit of one byte of a record changed: nothing that an honest record has may go unseen. */
import { auditBundle } from "../../../src/audit/index.ts";
import { memorySource } from "./bundle.ts";
import type { Recorded } from "./record.ts";

export interface Flip {
  readonly file: string;
  readonly byte: number;
  readonly bit: number;
}

/** All bytes of all files, each with one bit of it. */
export function everyFlip({ files }: Recorded): readonly Flip[] {
  return [...files].flatMap(([file, { byteLength }]) =>
    Array.from({ length: byteLength }, (_, byte) => ({
      file,
      byte,
      bit: (byte * 5 + byteLength) % 8,
    })),
  );
}

/** `count` of them, one in each file and the rest anywhere, spread by a seed, the same for the same seed. */
export function someFlips(recorded: Recorded, count: number, seed: number): readonly Flip[] {
  const all = everyFlip(recorded);
  const byFile = [...recorded.files.keys()].map((name) => all.filter(({ file }) => file === name));
  let state = seed >>> 0;
  return Array.from({ length: count }, (_, at) => {
    // A step of a linear congruential generator: plain, and good enough to spread places.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const from = byFile[at] ?? all;
    const flip = from[state % from.length];
    if (flip === undefined) throw new Error("an empty record");
    return { ...flip, bit: (state >>> 16) % 8 };
  });
}

/** Those of the flips that the audit does not find. */
export async function unseen(
  recorded: Recorded,
  flips: readonly Flip[],
  progress: (tried: number, all: number) => void = () => undefined,
): Promise<readonly Flip[]> {
  const missed: Flip[] = [];
  for (const [at, flip] of flips.entries()) {
    const bytes = Uint8Array.from(recorded.files.get(flip.file) ?? []);
    bytes[flip.byte] = (bytes[flip.byte] ?? 0) ^ (1 << flip.bit);
    const files = new Map(recorded.files).set(flip.file, bytes);
    const { clean } = await auditBundle(memorySource(files), { trust: recorded.trust });
    if (clean) missed.push(flip);
    progress(at + 1, flips.length);
  }
  return missed;
}

/** Every byte of a record. Resolves to how many were tried and which went unseen. */
export async function flipEveryByte(
  recorded: Recorded,
  progress: (tried: number, all: number) => void,
): Promise<{ readonly tried: number; readonly unseen: readonly Flip[] }> {
  const flips = everyFlip(recorded);
  return { tried: flips.length, unseen: await unseen(recorded, flips, progress) };
}
