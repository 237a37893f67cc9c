import type { Random } from "../../src/ports/random.ts";

/** Bytes that count up, so that ids differ and are the same in every test run. */
export function countingRandom(): Random {
  let next = 0;
  return {
    bytes: (count) => {
      next += 1;
      const bytes = new Uint8Array(count);
      new DataView(bytes.buffer).setUint32(0, next);
      return bytes;
    },
  };
}
