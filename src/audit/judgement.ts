/**
 * The gate's judgement of an admitted operation, made again from the documents that the record keeps: who asked for it,
 * by what warrant, with which reviewed tool, under which policy. What needs the host's own presence (whether the acting
 * identity holds its key, what operation security and the verifier saw) cannot be made again and is not.
 */
import type { Digest } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import type { Operation } from "../model/operation.ts";
import type { PolicyDocument } from "../model/policy.ts";
import type { ToolReview } from "../model/trust.ts";
import { decide } from "../policy/decide.ts";
import { checkToolReview } from "../trust/tool-review.ts";
import {
  type CheckedWarrant,
  checkWarrant,
  MAX_WARRANT_DEPTH,
  warrantRefusal,
} from "../trust/warrant.ts";
import type { Bodies } from "./bodies.ts";
import { type Context, type Placed, placeOf, report } from "./context.ts";
import { parentOf } from "./warrant-chain.ts";

type Admitted = Bodies["admitted"];

export interface Judged {
  readonly review: ToolReview | undefined;
  readonly warrant: CheckedWarrant | undefined;
  readonly policy: PolicyDocument | undefined;
}

export interface Judge {
  judge(placed: Placed, operation: Operation, body: Admitted): Promise<Judged>;
}

interface Checked<T> {
  readonly value: T;
  /** Seconds since 1970 UTC: until then it need not be verified again under the same trust store. */
  readonly until: number;
}

/** Verified documents remembered at most. */
const MOST_KEPT = 256;

export function createJudge(context: Context): Judge {
  const { documents, keys } = context;
  const verified = new Map<string, Checked<unknown>>();

  /** Verifies once for each document, trust store and state of revocations, as long as the answer holds. */
  async function once<T>(
    name: string,
    { index, seconds }: Placed,
    check: () => Promise<Checked<T> | undefined>,
  ): Promise<T | undefined> {
    const key = `${name} ${keys.inForce()?.digest ?? ""} ${keys.revokedBy(index, seconds)}`;
    const known = verified.get(key);
    // A name has one type: it begins with what is verified.
    if (known !== undefined && seconds < known.until) return known.value as T;
    const checked = await check();
    if (verified.size >= MOST_KEPT) verified.clear();
    if (checked === undefined) return undefined;
    verified.set(key, checked);
    return checked.value;
  }

  async function reviewOf(
    placed: Placed,
    { tool }: Operation,
    digest: Digest,
  ): Promise<ToolReview | undefined> {
    const place = placeOf(placed);
    await documents.definition(tool.definition, place);
    const review = await once(`review ${digest}`, placed, async () => {
      const envelope = await documents.envelope(digest, "tool review", place);
      const trust = keys.at(placed.index);
      if (envelope === undefined || trust === undefined) return undefined;
      const checked = checkToolReview(envelope, keys.origin, trust, placed.seconds);
      if (!checked.ok) {
        report(context, placed, "tool_refused", `the review ${digest}: ${checked.error}`);
        return undefined;
      }
      context.counts.signatures += 1;
      const { review: value, until } = checked.value;
      return { value, until };
    });
    if (review === undefined) return undefined;
    const { name, category, definition } = review;
    if (name !== tool.name || category !== tool.category || definition !== tool.definition) {
      const message = `reviewed was ${name} (${category}) as ${definition}, used ${tool.name} (${tool.category}) as ${tool.definition}`;
      report(context, placed, "tool_refused", message);
    }
    return review;
  }

  async function warrantOf(
    placed: Placed,
    { warrant: leaf, tool, arguments: given }: Operation,
  ): Promise<CheckedWarrant | undefined> {
    if (leaf === null) return undefined;
    const warrant = await once(`warrant ${leaf}`, placed, async () => {
      const chain = await chainOf(placed, leaf);
      const trust = keys.at(placed.index);
      if (chain === undefined || trust === undefined) return undefined;
      const checked = checkWarrant(chain, keys.origin, trust, placed.seconds);
      if (!checked.ok) {
        const { fault, link } = checked.error;
        report(context, placed, "warrant_refused", `warrant ${link} of the chain: ${fault}`);
        return undefined;
      }
      context.counts.signatures += chain.length;
      return { value: checked.value, until: checked.value.until };
    });
    const refusal = warrant === undefined ? undefined : warrantRefusal(warrant, tool.name, given);
    if (refusal !== undefined) report(context, placed, "warrant_refused", refusal);
    return warrant;
  }

  /** The chain that ends in this envelope, root first, by the digests that children name. */
  async function chainOf(placed: Placed, leaf: Digest): Promise<readonly JsonValue[] | undefined> {
    const chain: JsonValue[] = [];
    let next: string | null = leaf;
    while (next !== null && chain.length <= MAX_WARRANT_DEPTH) {
      const envelope: JsonValue | undefined = await documents.envelope(
        next as Digest,
        "warrant",
        placeOf(placed),
      );
      if (envelope === undefined) return undefined;
      chain.unshift(envelope);
      next = parentOf(envelope);
    }
    return chain;
  }

  async function intentOf(placed: Placed, { intent, tool }: Operation): Promise<void> {
    if (intent === null) return;
    const document = await documents.intent(intent, placeOf(placed));
    if (document === undefined) return;
    const { statement, tools } = document;
    if (statement !== "" && (tools.includes("*") || tools.includes(tool.name))) return;
    const message = `what was asked for needs ${tools.join(", ") || "no tool"} and not ${tool.name}`;
    report(context, placed, "intent_refused", message);
  }

  async function policyOf(
    placed: Placed,
    operation: Operation,
    body: Admitted,
  ): Promise<PolicyDocument | undefined> {
    const { permissions, rules, approvals } = body;
    const policy = await documents.policy(operation.policy, placeOf(placed));
    const refuse = (message: string) => report(context, placed, "policy_refused", message);
    const security = rules.at(-1) ?? "";
    if (!security.startsWith("security:")) refuse("no rule of operation security is on record");
    if (policy === undefined) return undefined;
    const { verdict, rules: found, message } = decide(policy, permissions);
    const { category, name } = operation.tool;
    const named = permissions.some((text) => text.split(":")[1] === category);
    if (!named) refuse(`no permission for a ${category} was asked for ${name}`);
    if (verdict === "deny") refuse(message);
    else if (found.join("\n") !== rules.slice(0, -1).join("\n")) {
      refuse(`it decided by ${rules.join(", ")}, and the policy decides by ${found.join(", ")}`);
    }
    const { requires = [] } = policy;
    if (requires.includes("intent") && operation.intent === null)
      refuse("the policy wants an intent");
    if (requires.includes("warrant") && operation.warrant === null) {
      refuse("the policy wants a warrant");
    }
    const { required, requester_may_approve: own } = policy.approvals;
    if (!own && approvals.some(({ approver }) => approver === operation.identity)) {
      report(
        context,
        placed,
        "approval_invalid",
        `${operation.identity} asked for it and approved it`,
      );
    }
    const wanted = verdict === "need_approval" || approvals.length > 0 ? required : 0;
    if (approvals.length < wanted) {
      const message = `${approvals.length} approvals of the ${wanted} that the policy wants`;
      report(context, placed, "approval_missing", message);
    }
    return policy;
  }

  return {
    async judge(placed, operation, body) {
      await intentOf(placed, operation);
      const warrant = await warrantOf(placed, operation);
      const review = await reviewOf(placed, operation, body.review);
      const policy = await policyOf(placed, operation, body);
      return { review, warrant, policy };
    },
  };
}
