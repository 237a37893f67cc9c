/**
 * The people around the host of `gate.ts`. In life each of them has a key of their own on a machine of their own, and
 * what they sign comes in files; keys out of fixed numbers are for an example only.
 */
import type { HostOptions, ToolRegistration } from "../../src/app/create-host.ts";
import { publicKeyText } from "../../src/app/keys.ts";
import { type PrivateKey, privateKey } from "../../src/base/sign.ts";
import type { PendingRequest, Tool } from "../../src/index.ts";
import type { Role } from "../../src/model/trust.ts";
import {
  definitionDigest,
  signApproval,
  signToolReview,
  signTrust,
} from "../../src/trust/index.ts";

const audience = "ledger.example/payments";
const expires = 4_000_000_000;
const key = (n: number) => privateKey(new Uint8Array(32).fill(n));
const [root, journal, receipt, alice, rita] = [key(1), key(2), key(3), key(4), key(5)];

const trusted = (name: string, role: Role, of: PrivateKey) => {
  return { public: publicKeyText(of), name, role, valid_from: 0, valid_to: expires };
};

/** What the owner of the host decides: whose signatures count, what is allowed, what it may cost. */
export function ownersPart(directory: string): Omit<HostOptions, "tools"> {
  return {
    directory,
    origin: audience,
    identity: { name: "agent" },
    intent: { statement: "Pay both suppliers", tools: ["ledger.payments", "ledger.pay"] },
    warrant: null,
    trust: signTrust(
      {
        type: "rote-trust/v1",
        audience,
        version: 1,
        issued: 0,
        expires,
        root: { threshold: 1, keys: [publicKeyText(root)] },
        keys: [
          trusted("journal", "journal", journal),
          trusted("host", "receipt", receipt),
          trusted("alice", "approver", alice),
          trusted("rita", "tool_reviewer", rita),
        ],
      },
      [root],
    ),
    keys: { journal, receipt },
    policy: {
      version: 1,
      id: "payments",
      profile: "standard",
      grants: [],
      approvable: [],
      deny: [],
      approvals: { required: 1, requester_may_approve: false },
    },
    budget: { run: { effects: 2 }, host: {} },
  };
}

/** Rita has read the tool: what it is, and that its operations can be fenced off. */
export function reviewed(tool: Tool, category: "read" | "effect"): ToolRegistration {
  const { name } = tool.definition;
  const definition = definitionDigest(tool.definition);
  const says = { category, repeatable: true, fenced: true, reviewer: "rita" };
  const review = { type: "rote-tool-review/v1", audience, name, definition } as const;
  return { tool, review: signToolReview({ ...review, ...says, not_before: 0, expires }, rita) };
}

/** Alice has read the text of the request, and signs exactly that. */
export function approved({ run, nonce, display, operations }: PendingRequest) {
  const now = Math.floor(Date.now() / 1000);
  return signApproval(
    {
      type: "rote-approval/v1",
      decision: "approve",
      operations: [...operations],
      run,
      audience,
      nonce,
      display,
      approver: "alice",
      role: "approver",
      not_before: now,
      expires: now + 600,
    },
    alice,
  );
}
