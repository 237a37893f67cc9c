import { environmentDigest } from "../compile/environment.ts";
import type { Environment } from "../model/environment.ts";
import { KEY_PARTS, type KeyPart, type ProcedureKey } from "../model/memory.ts";
import type { Plan, Verifier } from "../model/plan.ts";
import { boundDigest } from "../run/index.ts";

/** A plan together with its verifier. */
export interface PlanAndVerifier {
  readonly plan: Plan;
  readonly verifier: Verifier;
}

/**
 * What evidence about this procedure is kept under.
 *
 * @throws RoteError `unbound_plan` when the recipe names no environment: such a plan has no digest, and no run of it
 * can exist.
 */
export function keyOf({ plan, verifier }: PlanAndVerifier, environment: Environment): ProcedureKey {
  return {
    plan: boundDigest(plan),
    verifier: verifier.digest,
    environment: environmentDigest(environment),
    semantics: plan.semantics,
  };
}

export function changedParts(left: ProcedureKey, right: ProcedureKey): readonly KeyPart[] {
  return KEY_PARTS.filter((part) => left[part] !== right[part]);
}
