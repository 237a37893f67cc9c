import { decide } from "./approvals-decide.ts";
import type { Call, Outcome } from "./spec.ts";

/** Signs a decision about a request and files it. */
export function run(call: Call): Promise<Outcome> {
  return decide(call, "approve");
}
