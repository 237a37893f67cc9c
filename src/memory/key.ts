import type { Digest } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import { environmentDigest } from "../compile/environment.ts";
import { ENVIRONMENT_FIELDS, type Environment } from "../model/environment.ts";
import { KEY_PARTS, type KeyPart, type ProcedureKey } from "../model/memory.ts";
import type { Plan, Verifier } from "../model/plan.ts";

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

function boundDigest(plan: Plan): Digest {
  if (plan.digest !== null) return plan.digest;
  throw new RoteError(
    "unbound_plan",
    `the recipe ${plan.id} names no environment, so nothing can be remembered about it; bind it first`,
    { recipe: plan.id },
  );
}

export function changedParts(left: ProcedureKey, right: ProcedureKey): readonly KeyPart[] {
  return KEY_PARTS.filter((part) => left[part] !== right[part]);
}

export function changedFields(
  left: Environment,
  right: Environment,
): readonly (keyof Environment)[] {
  return ENVIRONMENT_FIELDS.filter((field) => left[field] !== right[field]);
}
