/** What bodies of all runs' entries are read back with. */
import * as z from "zod/mini";
import { type Digest, isDigest } from "../base/digest.ts";
import { STOP_REASONS, type StopReason, TERMINAL_STATES } from "./stop.ts";

export const digest = z.custom<Digest>((value) => typeof value === "string" && isDigest(value));
export const count = z.int().check(z.minimum(0));
/** As the application configured it. */
export const model = z.strictObject({ provider: z.string(), name: z.string() });

const REASONS: readonly StopReason[] = TERMINAL_STATES.flatMap((state) => [...STOP_REASONS[state]]);
export const reason = z.custom<StopReason>((value) => REASONS.some((known) => known === value));
