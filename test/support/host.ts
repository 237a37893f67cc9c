/** Hosts for tests: real keys, real envelopes, real gate. Only the tools are made up, and say so. */

import type { HostOptions, ToolRegistration } from "../../src/app/create-host.ts";
import { toBase64Url } from "../../src/base/bytes.ts";
import { deepFreeze } from "../../src/base/freeze.ts";
import type { JsonValue } from "../../src/base/json.ts";
import { type PrivateKey, privateKey } from "../../src/base/sign.ts";
import type { PolicyDocument } from "../../src/model/policy.ts";
import type { Role, TrustDocument, TrustedKey } from "../../src/model/trust.ts";
import type { Tool, ToolCall, ToolOutcome } from "../../src/ports/tool.ts";
import type { PendingRequest } from "../../src/run/index.ts";
import { signApproval } from "../../src/trust/approval.ts";
import { definitionDigest, signToolReview } from "../../src/trust/tool-review.ts";
import { signTrust } from "../../src/trust/trust-store.ts";

export const ORIGIN = "tests.example/journal";

const seed = (n: number) => privateKey(new Uint8Array(32).fill(n));

export const KEYS = {
  root: seed(1),
  journal: seed(2),
  receipt: seed(3),
  alice: seed(4),
  bob: seed(5),
  reviewer: seed(6),
  issuer: seed(7),
  reconciler: seed(8),
  stranger: seed(9),
} as const;

const YEAR = 365 * 24 * 3600;

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** The same for all documents of a test, in child processes too: a trust store that differs by a second is another. */
const STARTED = Number(process.env["ROTE_TEST_STARTED"] ?? nowSeconds());

/** For the environment of child processes. */
export const CHILD_ENV = { ROTE_TEST_STARTED: String(STARTED) };

export function trustedKey(
  key: PrivateKey,
  name: string,
  role: Role,
  change: Partial<TrustedKey> = {},
): TrustedKey {
  return {
    public: toBase64Url(key.publicKey.raw),
    name,
    role,
    valid_from: STARTED - YEAR,
    valid_to: STARTED + YEAR,
    ...change,
  };
}

export function trustDocument(change: Partial<TrustDocument> = {}): TrustDocument {
  return {
    type: "rote-trust/v1",
    audience: ORIGIN,
    version: 1,
    issued: STARTED - 60,
    expires: STARTED + YEAR,
    root: { threshold: 1, keys: [toBase64Url(KEYS.root.publicKey.raw)] },
    keys: [
      trustedKey(KEYS.journal, "journal", "journal"),
      trustedKey(KEYS.receipt, "receipts", "receipt"),
      trustedKey(KEYS.alice, "alice", "approver"),
      trustedKey(KEYS.bob, "bob", "approver"),
      trustedKey(KEYS.reviewer, "rita", "tool_reviewer"),
      trustedKey(KEYS.issuer, "ida", "warrant_issuer"),
      trustedKey(KEYS.reconciler, "carl", "reconciler"),
    ],
    ...change,
  };
}

export function trust(change: Partial<TrustDocument> = {}): JsonValue {
  return signTrust(trustDocument(change), [KEYS.root]);
}

export interface MadeTool {
  readonly tool: Tool;
  readonly calls: ToolCall[];
}

/** A made-up tool that counts its calls. */
export function madeTool(
  name: string,
  answer: (call: ToolCall, count: number) => ToolOutcome | Promise<ToolOutcome>,
  change: Partial<Tool> = {},
): MadeTool {
  const calls: ToolCall[] = [];
  const tool: Tool = {
    // Frozen, as the definitions of real tools are.
    definition: deepFreeze({
      server: "function",
      name,
      title: null,
      description: `the made-up tool ${name}`,
      input_schema: {},
      output_schema: {},
      annotations: {},
      implementation: null,
    }),
    call: async (call) => {
      calls.push(call);
      return answer(call, calls.length);
    },
    ...change,
  };
  return { tool, calls };
}

export function registration(
  { tool }: { readonly tool: Tool },
  category: "read" | "effect",
  change: Partial<Parameters<typeof signToolReview>[0]> = {},
): ToolRegistration {
  return {
    tool,
    review: signToolReview(
      {
        type: "rote-tool-review/v1",
        audience: ORIGIN,
        name: tool.definition.name,
        definition: definitionDigest(tool.definition as unknown as JsonValue),
        category,
        repeatable: false,
        fenced: false,
        reviewer: "rita",
        not_before: STARTED - 60,
        expires: STARTED + YEAR,
        ...change,
      },
      KEYS.reviewer,
    ),
  };
}

/** A policy that asks before effects. */
export const POLICY: PolicyDocument = deepFreeze({
  version: 1,
  id: "test",
  profile: "standard",
  grants: [],
  approvable: [],
  deny: [],
  approvals: { required: 1, requester_may_approve: false },
});

export function hostOptions(
  directory: string | null,
  tools: readonly ToolRegistration[],
  change: Partial<HostOptions> = {},
): HostOptions {
  return {
    directory,
    origin: ORIGIN,
    identity: { name: "agent" },
    intent: null,
    warrant: null,
    trust: trust(),
    keys: { journal: KEYS.journal, receipt: KEYS.receipt },
    tools,
    policy: POLICY,
    budget: { run: {}, host: {} },
    ...change,
  };
}

/** What a reviewer does with a request that was shown to them. */
export function decision(
  request: PendingRequest,
  key: PrivateKey,
  approver: string,
  change: Partial<Parameters<typeof signApproval>[0]> = {},
): JsonValue {
  return signApproval(
    {
      type: "rote-approval/v1",
      decision: "approve",
      operations: [...request.operations],
      run: request.run,
      audience: request.audience,
      nonce: request.nonce,
      display: request.display,
      approver,
      role: "approver",
      not_before: nowSeconds() - 1,
      expires: nowSeconds() + 600,
      ...change,
    },
    key,
  );
}
