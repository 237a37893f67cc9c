import { randomFillSync } from "node:crypto";
import type { Random } from "../ports/random.ts";

/** Ids are short and a call to the operating system is not: bytes are fetched ahead, and each is given out once. */
const POOL_BYTES = 4096;

/** The operating system's source of unpredictable bytes. */
export const systemRandom: Random = pooled();

function pooled(): Random {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  return {
    bytes(count) {
      if (count > POOL_BYTES) return randomFillSync(new Uint8Array(count));
      if (used + count > POOL_BYTES) {
        randomFillSync(pool);
        used = 0;
      }
      const bytes = pool.slice(used, used + count);
      // What was given out must not be found here later.
      pool.fill(0, used, used + count);
      used += count;
      return bytes;
    },
  };
}
