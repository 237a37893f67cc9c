/** Trust stores and signed documents for tests that need no host: real keys, real signatures, a fixed time. */
import { toBase64Url } from "../../src/base/bytes.ts";
import { canonicalBytes } from "../../src/base/canonical.ts";
import type { Digest } from "../../src/base/digest.ts";
import { envelopeToJson, signEnvelope } from "../../src/base/dsse.ts";
import type { JsonValue } from "../../src/base/json.ts";
import { type PrivateKey, privateKey } from "../../src/base/sign.ts";
import type {
  Approval,
  Reconciliation,
  Role,
  ToolReview,
  TrustDocument,
  TrustedKey,
  Warrant,
} from "../../src/model/trust.ts";
import type { ApprovalRequest } from "../../src/trust/approval.ts";
import { openTrust, signTrust, type TrustStore } from "../../src/trust/trust-store.ts";
import { KEYS, ORIGIN, trustDocument, trustedKey } from "./host.ts";

/** Seconds. */
export const NOW = 1_767_225_600;
const YEAR = 365 * 24 * 3600;

export const seeded = (n: number): PrivateKey => privateKey(new Uint8Array(32).fill(n));
export const textOf = (key: PrivateKey): string => toBase64Url(key.publicKey.raw);
export const someDigest = (digit: string): Digest => `sha256:${digit.repeat(64)}` as Digest;
export const someNonce = (byte: number): string => toBase64Url(new Uint8Array(16).fill(byte));

/** Signs whatever it is given, as an attacker with a key would. */
export function signRaw(
  type: string,
  document: unknown,
  ...keys: readonly PrivateKey[]
): JsonValue {
  return envelopeToJson(signEnvelope(type, canonicalBytes(document as JsonValue), keys));
}

export function listed(
  key: PrivateKey,
  name: string,
  role: Role,
  change: Partial<TrustedKey> = {},
): TrustedKey {
  return trustedKey(key, name, role, { valid_from: NOW - YEAR, valid_to: NOW + YEAR, ...change });
}

export const LISTED: readonly TrustedKey[] = trustDocument().keys.map((one) => ({
  ...one,
  valid_from: NOW - YEAR,
  valid_to: NOW + YEAR,
}));

export function trustOf(change: Partial<TrustDocument> = {}): TrustDocument {
  return trustDocument({ issued: NOW - 60, expires: NOW + YEAR, keys: [...LISTED], ...change });
}

export function store(change: Partial<TrustDocument> = {}): TrustStore {
  const opened = openTrust(signTrust(trustOf(change), [KEYS.root]));
  if (!opened.ok) throw new Error(opened.error);
  return opened.value;
}

/** The same key with other words about it. */
export function relisted(key: PrivateKey, change: Partial<TrustedKey>): TrustedKey[] {
  return LISTED.map((entry) => (entry.public === textOf(key) ? { ...entry, ...change } : entry));
}

export const REQUEST: ApprovalRequest = {
  audience: ORIGIN,
  run: "run-1",
  nonce: someNonce(1),
  operations: [someDigest("1"), someDigest("2")],
  display: someDigest("d"),
};

export function approvalOf(change: Partial<Approval> = {}): Approval {
  return {
    type: "rote-approval/v1",
    decision: "approve",
    operations: [...REQUEST.operations],
    run: REQUEST.run,
    audience: REQUEST.audience,
    nonce: REQUEST.nonce,
    display: REQUEST.display,
    approver: "alice",
    role: "approver",
    not_before: NOW - 10,
    expires: NOW + 600,
    ...change,
  };
}

export function warrantOf(change: Partial<Warrant> = {}): Warrant {
  return {
    type: "rote-warrant/v1",
    parent: null,
    issuer: "ida",
    holder_key: textOf(seeded(20)),
    audience: ORIGIN,
    tools: ["bank.pay", "bank.balance"],
    constraints: [],
    max_effects: 10,
    max_reads: 10,
    not_before: NOW - 100,
    expires: NOW + 1000,
    nonce: someNonce(9),
    ...change,
  };
}

export function reviewOf(change: Partial<ToolReview> = {}): ToolReview {
  return {
    type: "rote-tool-review/v1",
    audience: ORIGIN,
    name: "bank.pay",
    definition: someDigest("a"),
    category: "effect",
    repeatable: false,
    fenced: false,
    reviewer: "rita",
    not_before: NOW - 100,
    expires: NOW + 1000,
    ...change,
  };
}

export function reconciliationOf(change: Partial<Reconciliation> = {}): Reconciliation {
  return {
    type: "rote-reconciliation/v1",
    audience: ORIGIN,
    run: "run-1",
    operation: someDigest("1"),
    found: "not_done",
    evidence: "looked at the account",
    reconciler: "carl",
    at: NOW,
    ...change,
  };
}
