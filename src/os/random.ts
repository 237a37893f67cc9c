import { randomBytes } from "node:crypto";
import type { Random } from "../ports/random.ts";

/** The operating system's source of unpredictable bytes. */
export const systemRandom: Random = {
  bytes: (count) => randomBytes(count),
};
