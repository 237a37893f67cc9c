import { readFileSync } from "node:fs";
import { sharedPath } from "./shared.ts";

/** One block of a BoringSSL vector file: names in upper and lower case as there, values as integers. */
export type BigintVector = ReadonlyMap<string, bigint>;

/** The blocks of a file: `Name = hex` lines separated by blank lines, `#` comments. */
export function bigintVectors(name: string): readonly BigintVector[] {
  const text = readFileSync(sharedPath(`vectors/bigint-boringssl/${name}`), "utf8");
  const vectors: BigintVector[] = [];
  for (const block of text.split(/\n\s*\n/)) {
    const vector = new Map<string, bigint>();
    for (const line of block.split("\n")) {
      const match = /^(\w+)\s*=\s*(-?)([0-9a-fA-F]+)$/.exec(line.trim());
      if (match === null) continue;
      const magnitude = BigInt(`0x${match[3]}`);
      vector.set(match[1] ?? "", match[2] === "-" ? -magnitude : magnitude);
    }
    if (vector.size > 0) vectors.push(vector);
  }
  return vectors;
}

/** The named values of a block, all of which must be there. */
export function take<Names extends readonly string[]>(
  vector: BigintVector,
  ...names: Names
): { [K in keyof Names]: bigint } {
  return names.map((name) => {
    const value = vector.get(name);
    if (value === undefined) throw new Error(`the vector has no ${name}`);
    return value;
  }) as { [K in keyof Names]: bigint };
}
