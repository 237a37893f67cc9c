import type { Operation } from "../model/operation.ts";

/**
 * Judges the concrete operation: which path, which command. Synchronous and pure over facts; an exception denies.
 */
export interface OperationSecurity {
  evaluate(operation: Operation): SecurityDecision;
}

export interface SecurityDecision {
  readonly verdict: "allow" | "deny" | "need_approval";
  readonly rule: string;
  readonly message: string;
}
