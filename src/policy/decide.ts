/**
 * What the policy says about an operation. Pure: facts in, decision out.
 *
 * P1 Nothing that is not granted is allowed.
 * P2 Deny wins over everything, need of approval over grants that are not more specific than a profile's.
 * P3 A permission that cannot be read, or an operation that names none, is denied.
 */

import type { PolicyDocument } from "../model/policy.ts";
import { PROFILE_PERMISSIONS } from "../model/policy.ts";
import { covers, overlaps, type Permission, parsePermission } from "./permission.ts";

export type PolicyDecision = {
  readonly verdict: "allow" | "need_approval" | "deny";
  /** Rules that decided, as written, with the list they stand in: `deny:tool:effect:pay`. */
  readonly rules: readonly string[];
  readonly message: string;
  /** True when nothing could be decided, and therefore is denied. */
  readonly error: boolean;
};

/** Judges an operation by the permissions its tool needs; each must be held. */
export function decide(policy: PolicyDocument, needed: readonly string[]): PolicyDecision {
  if (needed.length === 0) return undecided("the operation names no permission");
  const rules: string[] = [];
  let approval = false;
  for (const text of needed) {
    const permission = parsePermission(text);
    if (permission === undefined) return undecided(`${text} is not a permission`);
    const decision = decideOne(policy, permission, text);
    if (decision.verdict === "deny") return decision;
    if (decision.verdict === "need_approval") approval = true;
    rules.push(...decision.rules);
  }
  return approval
    ? { verdict: "need_approval", rules, message: "the policy wants an approval", error: false }
    : { verdict: "allow", rules, message: "granted", error: false };
}

function decideOne(policy: PolicyDocument, needed: Permission, text: string): PolicyDecision {
  const profile = PROFILE_PERMISSIONS[policy.profile];
  const deny = find(policy.deny, needed, overlaps) ?? find(profile.deny, needed, overlaps);
  if (deny !== undefined) return denied([`deny:${deny}`], `${text} is denied by ${deny}`);
  // The document's own words are more specific than its profile's, and asking is stronger than granting: also where a
  // part only of what is needed wants to be asked about.
  let partly: string | undefined;
  for (const { grants, approvable } of [policy, profile]) {
    const ask = find(approvable, needed, covers);
    if (ask !== undefined) return asking(ask);
    partly ??= find(approvable, needed, overlaps);
    const grant = find(grants, needed, covers);
    if (grant === undefined) continue;
    if (partly !== undefined) return asking(partly);
    return { verdict: "allow", rules: [`grant:${grant}`], message: grant, error: false };
  }
  return denied([], `nothing grants ${text}`);
}

function find(
  rules: readonly string[],
  needed: Permission,
  relation: (rule: Permission, needed: Permission) => boolean,
): string | undefined {
  return rules.find((rule) => {
    const parsed = parsePermission(rule);
    // A rule that cannot be read is taken to be about everything where that denies, and about nothing where it grants.
    return parsed === undefined ? relation === overlaps : relation(parsed, needed);
  });
}

function asking(rule: string): PolicyDecision {
  return { verdict: "need_approval", rules: [`approvable:${rule}`], message: rule, error: false };
}

function denied(rules: readonly string[], message: string): PolicyDecision {
  return { verdict: "deny", rules, message, error: false };
}

function undecided(message: string): PolicyDecision {
  return { verdict: "deny", rules: [], message, error: true };
}
