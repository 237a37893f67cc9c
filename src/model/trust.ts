/**
 * Documents that carry authority, all in DSSE envelopes. Their schemas are closed: an unknown member of a document
 * that restricts must refuse it, since it may be a restriction. Times are whole seconds since 1970 UTC.
 */

import * as z from "zod/mini";

export const ROLES = [
  "journal",
  "receipt",
  "approver",
  "warrant_issuer",
  "tool_reviewer",
  "reconciler",
  "witness",
] as const;
export type Role = (typeof ROLES)[number];

export const PAYLOAD_TYPES = {
  trust: "application/vnd.rote.trust.v1+json",
  approval: "application/vnd.rote.approval.v1+json",
  warrant: "application/vnd.rote.warrant.v1+json",
  toolReview: "application/vnd.rote.tool-review.v1+json",
  reconciliation: "application/vnd.rote.reconciliation.v1+json",
  receipt: "application/vnd.in-toto+json",
} as const;

const digest = z.string().check(z.regex(/^sha256:[0-9a-f]{64}$/));
const seconds = z.int().check(z.minimum(0));
/** What people and services are called, in one spelling each. */
export const holderName = z.string().check(z.regex(/^[a-z0-9][a-z0-9._-]{0,63}$/));
const name = holderName;
/** The 32 bytes of an Ed25519 public key, canonical unpadded base64url. */
const publicKey = z.string().check(z.regex(/^[A-Za-z0-9_-]{43}$/));
/** 16 bytes, canonical unpadded base64url. */
const nonce = z.string().check(z.regex(/^[A-Za-z0-9_-]{22}$/));
/** The journal's origin: which host a document is for. */
const audience = z.string().check(z.minLength(1), z.maxLength(255));
const toolName = z.string().check(z.minLength(1), z.maxLength(200));
const pointer = z.string().check(z.regex(/^(\/([^~/]|~[01])*)*$/));

export const trustedKeySchema = z.strictObject({
  public: publicKey,
  /** Who holds it: the person of an approver, the service of a receipt key. */
  name,
  role: z.enum(ROLES),
  valid_from: seconds,
  valid_to: seconds,
  revoked: z.exactOptional(
    z.strictObject({
      at: seconds,
      reason: z.string().check(z.maxLength(500)),
      /** From this log index on the key was not its holder's alone. */
      since_seq: z.exactOptional(z.int().check(z.minimum(0))),
    }),
  ),
});

export const trustSchema = z.strictObject({
  type: z.literal("rote-trust/v1"),
  audience,
  version: z.int().check(z.minimum(1)),
  issued: seconds,
  expires: seconds,
  root: z.strictObject({
    threshold: z.int().check(z.minimum(1), z.maximum(16)),
    keys: z.array(publicKey).check(z.minLength(1), z.maxLength(16)),
  }),
  keys: z.array(trustedKeySchema).check(z.maxLength(1000)),
});
export type TrustDocument = z.infer<typeof trustSchema>;
export type TrustedKey = z.infer<typeof trustedKeySchema>;

export const approvalSchema = z.strictObject({
  type: z.literal("rote-approval/v1"),
  decision: z.enum(["approve", "reject"]),
  /** Digests of exactly the operations that were shown, in the order shown. */
  operations: z.array(digest).check(z.minLength(1), z.maxLength(1000)),
  run: name,
  audience,
  nonce,
  /** Digest of the exact text that was shown. */
  display: digest,
  approver: name,
  role: z.literal("approver"),
  not_before: seconds,
  expires: seconds,
});
export type Approval = z.infer<typeof approvalSchema>;

const scalar = z.union([z.string(), z.boolean(), z.null(), z.int()]);

export const constraintSchema = z.discriminatedUnion("op", [
  z.strictObject({ pointer, op: z.literal("eq"), value: scalar }),
  z.strictObject({
    pointer,
    op: z.literal("in"),
    value: z.array(scalar).check(z.minLength(1), z.maxLength(1000)),
  }),
  z.strictObject({
    pointer,
    op: z.literal("le"),
    value: z.string().check(z.regex(/^(0|-?[1-9][0-9]*)$/)),
  }),
  z.strictObject({
    pointer,
    op: z.literal("ge"),
    value: z.string().check(z.regex(/^(0|-?[1-9][0-9]*)$/)),
  }),
  z.strictObject({ pointer, op: z.literal("prefix"), value: z.string().check(z.minLength(1)) }),
]);
export type Constraint = z.infer<typeof constraintSchema>;

export const warrantSchema = z.strictObject({
  type: z.literal("rote-warrant/v1"),
  /** Digest of the whole parent envelope, signature included; null for a root warrant. */
  parent: z.nullable(digest),
  issuer: name,
  /** The key that the acting identity must hold, and that signs children. */
  holder_key: publicKey,
  audience,
  tools: z.array(toolName).check(z.minLength(1), z.maxLength(1000)),
  constraints: z.array(constraintSchema).check(z.maxLength(100)),
  max_effects: z.int().check(z.minimum(0)),
  max_reads: z.int().check(z.minimum(0)),
  not_before: seconds,
  expires: seconds,
  nonce,
});
export type Warrant = z.infer<typeof warrantSchema>;

export const TOOL_CATEGORIES = ["read", "effect"] as const;
export type ToolCategory = (typeof TOOL_CATEGORIES)[number];

export const toolReviewSchema = z.strictObject({
  type: z.literal("rote-tool-review/v1"),
  audience,
  name: toolName,
  /** Digest of the complete definition that was reviewed. */
  definition: digest,
  category: z.enum(TOOL_CATEGORIES),
  /** A read that may be attempted again after a crash. */
  repeatable: z.boolean(),
  /** The target durably refuses a second dispatch under one operation id. */
  fenced: z.boolean(),
  /** Where the arguments name the amount (integer, minor units) and its currency, for budgets. */
  amount: z.exactOptional(z.strictObject({ value: pointer, currency: pointer })),
  reviewer: name,
  not_before: seconds,
  expires: seconds,
});
export type ToolReview = z.infer<typeof toolReviewSchema>;

export const reconciliationSchema = z.strictObject({
  type: z.literal("rote-reconciliation/v1"),
  audience,
  run: name,
  operation: digest,
  /** What somebody found out about an uncertain operation. It dispatches nothing and verifies nothing. */
  found: z.enum(["done", "not_done"]),
  evidence: z.string().check(z.minLength(1), z.maxLength(2000)),
  reconciler: name,
  at: seconds,
});
export type Reconciliation = z.infer<typeof reconciliationSchema>;
