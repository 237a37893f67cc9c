import type { Call, Outcome } from "../spec.ts";
import { decide } from "./decide.ts";

/** Signs a decision about a request and files it. */
export function run(call: Call): Promise<Outcome> {
  return decide(call, "reject");
}
