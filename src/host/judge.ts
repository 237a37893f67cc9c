/**
 * The gate's judgement: may this operation be done here, now, by this identity? Every read and every effect of
 * procedures and of agents is judged here and nowhere else.
 *
 * G1 The order is fixed, each check has its own code, and what cannot be decided is refused.
 * G2 A judgement changes nothing: it may be made again, and after every wait it is.
 * G3 The operation it speaks about is frozen first; all checks look at the frozen one.
 */

import type { Digest } from "../base/digest.ts";
import { isDeepFrozen } from "../base/freeze.ts";
import type { JsonValue } from "../base/json.ts";
import type { GateCode, Operation } from "../model/operation.ts";
import type { ToolCategory, ToolReview } from "../model/trust.ts";
import { type Amount, amountOf, countsOf } from "../policy/budget.ts";
import { decide } from "../policy/decide.ts";
import { parsePermission } from "../policy/permission.ts";
import type { Count } from "../ports/journal.ts";
import type { SecurityDecision } from "../ports/security.ts";
import { checkToolReview, definitionDigest } from "../trust/tool-review.ts";
import type { TrustStore } from "../trust/trust-store.ts";
import { type CheckedWarrant, checkWarrant, warrantRefusal } from "../trust/warrant.ts";
import { keyTaken, naturalKey } from "./natural-key.ts";
import { type FrozenOperation, freezeOperation } from "./operation.ts";
import { type HostParts, type RegisteredTool, TRUST_COUNTER } from "./parts.ts";
import { judgedNow, type Moment } from "./time.ts";
import { bounded, CODE_LENGTH } from "./words.ts";

/** What a run or an agent wants done, and what it was made for. */
export interface GateRequest {
  readonly run: string;
  readonly node: string;
  readonly index: number | null;
  readonly call: number | null;
  readonly attempt: number;
  readonly category: ToolCategory;
  readonly tool: string;
  readonly arguments: JsonValue;
  readonly key: JsonValue;
  readonly recipe: Digest | null;
  readonly environment: Digest | null;
  readonly verifiers: readonly Digest[];
  /** Milliseconds since 1970 UTC; of the request for approval, when one was waited for. */
  readonly requestedAt: number;
  /** What `environment` would be of the host as it is at the moment of the judgement. */
  readonly environmentNow: (moment: Moment) => Digest | null;
  /** The verifier's rule before an effect: null when it passed, else why not. Absent for reads. */
  readonly beforeEffect?: (operation: Operation) => string | null;
}

export interface Refusal {
  readonly kind: "refused";
  readonly code: GateCode;
  readonly message: string;
  /** Null when it could not even be written down. */
  readonly frozen: FrozenOperation | null;
  readonly rules: readonly string[];
}

export interface Judgement {
  readonly kind: "judged";
  readonly frozen: FrozenOperation;
  readonly registered: RegisteredTool;
  readonly review: ToolReview;
  /** Digest of the review's envelope. */
  readonly reviewed: Digest;
  /** All that the call needed to be permitted. */
  readonly permissions: readonly string[];
  readonly needsApproval: boolean;
  readonly rules: readonly string[];
  readonly counts: readonly Count[];
  readonly amount: Amount | undefined;
  /** Version of the trust store that all signatures were judged by. */
  readonly trustVersion: number;
  /** Seconds since 1970 UTC: from then on something in this judgement does not hold any more. */
  readonly until: number;
}

export function judge(parts: HostParts, request: GateRequest): Judgement | Refusal {
  const now = judgedNow(parts);
  const trust = parts.trust();
  const registered = parts.tools.get(request.tool);
  const warrant = warrantOf(parts, trust, now);
  const frozen = freeze(parts, request, trust, registered, warrant);
  if (frozen === undefined) {
    return refusalOf(null, "tool_arguments_invalid", "the operation has no canonical form");
  }
  const refuse = (code: GateCode, message: string, rules: readonly string[] = []) =>
    refusalOf(frozen, code, message, rules);

  if (parts.identity.name === "") return refuse("identity_missing", "nobody is acting");
  if (trust.expired(now)) return refuse("trust_expired", "the trust store is past its date");
  const { version } = trust.document;
  if (parts.journal.total(TRUST_COUNTER) > BigInt(version)) {
    return refuse("trust_changed", `the journal has a later trust store than version ${version}`);
  }

  const { requires = [] } = parts.policy.document;
  if (parts.intent === null) {
    if (requires.includes("intent")) return refuse("intent_missing", "the policy wants an intent");
  } else if (parts.intent.statement === "") {
    return refuse("intent_missing", "the intent says nothing");
  } else if (!coversTool(parts.intent.tools, request.tool)) {
    const message = `what was asked for does not need the tool ${request.tool}`;
    return refuse("intent_not_covered", message);
  }

  if (warrant === null) {
    if (requires.includes("warrant")) {
      return refuse("warrant_missing", "the policy wants a warrant");
    }
  } else if (!warrant.ok) {
    const { fault, link } = warrant.error;
    if (fault === "no_warrant") return refuse("warrant_missing", "the chain of warrants is empty");
    return refuse("warrant_invalid", `warrant ${link} of the chain is refused: ${fault}`);
  } else {
    if (parts.identity.key === null || parts.identity.key !== warrant.value.holderKey) {
      return refuse("identity_not_holder", "the acting identity does not hold the warrant's key");
    }
    const uncovered = warrantRefusal(warrant.value, request.tool, frozen.operation.arguments);
    if (uncovered !== undefined) return refuse("warrant_not_covered", uncovered);
  }

  if (registered === undefined) return refuse("tool_unknown", `there is no tool ${request.tool}`);
  if (registered.review === null) {
    return refuse("tool_not_reviewed", `the tool ${request.tool} was not reviewed`);
  }
  const checked = checkToolReview(registered.review, parts.journal.origin, trust, now);
  if (!checked.ok) {
    return refuse("tool_review_invalid", `the review of ${request.tool}: ${checked.error}`);
  }
  const { review } = checked.value;
  if (review.name !== request.tool) {
    return refuse("tool_review_invalid", `the review is of another tool, ${review.name}`);
  }
  if (review.definition !== frozen.operation.tool.definition) {
    return refuse("tool_definition_changed", `${request.tool} is not what was reviewed`);
  }
  if (review.category !== request.category) {
    const wanted = `${request.tool} was reviewed as ${review.category}, not as ${request.category}`;
    return refuse("tool_wrong_category", wanted);
  }
  const fault = faultOf(registered, frozen.operation.arguments);
  if (fault !== null) return refuse("tool_arguments_invalid", fault);

  const permissions = neededFor(registered, review);
  const policy = decide(parts.policy.document, permissions);
  if (policy.error) return refuse("policy_error", policy.message, policy.rules);
  if (policy.verdict === "deny") return refuse("policy_denied", policy.message, policy.rules);

  const security = securityOf(parts, frozen.operation);
  const rules = [...policy.rules, `security:${security.rule}`];
  if (security.verdict === "error") return refuse("security_error", security.message, rules);
  if (security.verdict === "deny") return refuse("security_denied", security.message, rules);

  const amount = amountOf(review, frozen.operation.arguments);
  if (!amount.ok) return refuse("amount_unreadable", amount.error, rules);
  const counts = [
    ...countsOf(parts.budget.document, request.run, request.category, amount.value),
    ...warrantCounts(warrant, request.category),
  ];
  const over = overLimit(parts, counts);
  if (over !== undefined) return refuse(over.code, over.message, rules);

  if (request.category === "effect") {
    const why = request.beforeEffect?.(frozen.operation);
    if (typeof why === "string") return refuse("before_effect_refused", why, rules);
    if (why !== null) {
      return refuse("before_effect_refused", "there is no verifier for this effect", rules);
    }
  }

  if (request.environmentNow({ trust, now }) !== request.environment) {
    return refuse("environment_changed", "the environment is not the recipe's any more", rules);
  }

  // A first look, so that nobody is asked to approve what the journal would not admit.
  const key = naturalKey(frozen);
  const by = key && parts.journal.takenBy(key);
  if (key !== undefined && by !== undefined) {
    return refuse("duplicate_key", keyTaken(key, by), rules);
  }

  const ends = [trust.document.expires, checked.value.until];
  if (warrant?.ok === true) ends.push(warrant.value.until);
  return {
    kind: "judged",
    frozen,
    registered,
    review,
    reviewed: checked.value.digest,
    permissions,
    needsApproval: policy.verdict === "need_approval" || security.verdict === "need_approval",
    rules,
    counts,
    amount: amount.value,
    trustVersion: version,
    until: Math.min(...ends),
  };
}

type WarrantVerdict = ReturnType<typeof checkWarrant> | null;

function warrantOf(parts: HostParts, trust: TrustStore, now: number): WarrantVerdict {
  return parts.warrant === null
    ? null
    : checkWarrant(parts.warrant, parts.journal.origin, trust, now);
}

function freeze(
  parts: HostParts,
  request: GateRequest,
  trust: TrustStore,
  registered: RegisteredTool | undefined,
  warrant: WarrantVerdict,
): FrozenOperation | undefined {
  try {
    return freezeOperation({
      type: "rote-operation/v1",
      audience: parts.journal.origin,
      run: request.run,
      node: request.node,
      index: request.index,
      call: request.call,
      attempt: request.attempt,
      recipe: request.recipe,
      tool: {
        name: request.tool,
        category: request.category,
        definition: definitionOf(registered),
      },
      arguments: request.arguments,
      key: request.key,
      identity: parts.identity.name,
      intent: parts.intent?.digest ?? null,
      warrant: warrant?.ok === true ? warrant.value.leaf : null,
      policy: parts.policy.digest,
      trust: trust.digest,
      environment: request.environment,
      verifiers: request.verifiers,
      budget: parts.budget.digest,
      requested_at: request.requestedAt,
    });
  } catch {
    return undefined;
  }
}

/** A definition that cannot be read is not one that anybody reviewed. */
export function definitionOf(registered: RegisteredTool | undefined): Digest {
  try {
    const definition = registered?.tool.definition;
    if (definition == null) return definitionDigest(null);
    const known = fixedDefinitions.get(definition);
    if (known !== undefined) return known;
    const digest = definitionDigest(definition);
    if (isDeepFrozen(definition)) fixedDefinitions.set(definition, digest);
    return digest;
  } catch {
    return definitionDigest(null);
  }
}

/** Digests of definitions that cannot change. */
const fixedDefinitions = new WeakMap<object, Digest>();

/**
 * The permissions that a call needs. Where those that the host states say nothing of the reviewed category, the one of
 * the category itself is needed as well: how a tool is registered cannot make an effect pass for a read.
 */
function neededFor({ permissions }: RegisteredTool, { category, name }: ToolReview) {
  const own = `tool:${category}:${name}`;
  if (permissions === null) return [own];
  const named = permissions.some((text) => parsePermission(text)?.action === category);
  return named ? permissions : [...permissions, own];
}

function coversTool(tools: readonly string[], tool: string): boolean {
  return tools.includes("*") || tools.includes(tool);
}

/** Only a plain null says that they fit. */
function faultOf({ tool }: RegisteredTool, args: JsonValue): string | null {
  const unknown = "the tool cannot tell whether the arguments fit";
  if (tool.fault === undefined) return null;
  try {
    const fault: unknown = tool.fault(args);
    return fault === null ? null : typeof fault === "string" ? fault : unknown;
  } catch {
    return unknown;
  }
}

type SecurityVerdict = Omit<SecurityDecision, "verdict"> & {
  readonly verdict: SecurityDecision["verdict"] | "error";
};

/** What is not one of the three verdicts, a promise among them, is no verdict. */
function securityOf(parts: HostParts, operation: Operation): SecurityVerdict {
  const failed = { verdict: "error", rule: "error", message: "the security check failed" } as const;
  try {
    const { verdict, rule, message } = parts.security.evaluate(operation);
    switch (verdict) {
      case "allow":
      case "deny":
      case "need_approval":
        return { verdict, rule: bounded(rule, CODE_LENGTH), message: bounded(message) };
      default:
        return failed;
    }
  } catch {
    return failed;
  }
}

/** A warrant's spend is counted per root, so that handing it on does not multiply it. */
function warrantCounts(warrant: WarrantVerdict, category: ToolCategory): readonly Count[] {
  if (warrant?.ok !== true) return [];
  const { root, maxEffects, maxReads }: CheckedWarrant = warrant.value;
  const limit = BigInt(category === "effect" ? maxEffects : maxReads);
  return [{ counter: `warrant/${root}/${category}s`, add: 1n, limit }];
}

/** A first look; the journal looks again in the transaction that admits. */
export function overLimit(
  parts: HostParts,
  counts: readonly Count[],
): { readonly code: GateCode; readonly message: string } | undefined {
  const totals = new Map<string, bigint>();
  for (const { counter, add, limit } of counts) {
    if (limit === null) continue;
    const total = (totals.get(counter) ?? parts.journal.total(counter)) + add;
    totals.set(counter, total);
    if (total > limit) {
      return { code: limitCode(counter), message: `${counter} would be ${total} of ${limit}` };
    }
  }
  return undefined;
}

export function limitCode(counter: string): GateCode {
  if (counter === TRUST_COUNTER) return "trust_changed";
  return counter.startsWith("warrant/") ? "warrant_spent" : "budget_exceeded";
}

export function refusalOf(
  frozen: FrozenOperation | null,
  code: GateCode,
  message: string,
  rules: readonly string[] = [],
): Refusal {
  return { kind: "refused", code, message: bounded(message), frozen, rules };
}
