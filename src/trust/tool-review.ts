/**
 * Checks a reviewer's statement about a tool. The category comes from here and from nowhere else: what a server says of
 * its own tools is data.
 */

import { type Digest, digestOf } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import { err, ok, type Result } from "../base/result.ts";
import type { PrivateKey } from "../base/sign.ts";
import { TAGS } from "../base/tags.ts";
import { PAYLOAD_TYPES, type ToolReview, toolReviewSchema } from "../model/trust.ts";
import { openByRole } from "./role-document.ts";
import { type DocumentFault, signDocument } from "./signed-document.ts";
import type { KeyFault, TrustStore } from "./trust-store.ts";

export type ToolReviewFault =
  | DocumentFault
  | KeyFault
  | "wrong_reviewer"
  | "wrong_audience"
  | "review_not_yet_valid"
  | "review_expired";

export interface CheckedReview {
  readonly review: ToolReview;
  readonly digest: Digest;
  /** Seconds since 1970 UTC: from then on the review counts no more. */
  readonly until: number;
}

/** Digest of a tool's complete definition, which every change of name, description, schema or annotation changes. */
export function definitionDigest(definition: JsonValue): Digest {
  return digestOf(TAGS.tool, definition);
}

export function signToolReview(review: ToolReview, key: PrivateKey): JsonValue {
  return signDocument(PAYLOAD_TYPES.toolReview, toolReviewSchema, review, [key]);
}

export function checkToolReview(
  envelope: JsonValue,
  audience: string,
  trust: TrustStore,
  now: number,
): Result<CheckedReview, ToolReviewFault> {
  const opened = openByRole(
    envelope,
    PAYLOAD_TYPES.toolReview,
    toolReviewSchema,
    trust,
    "tool_reviewer",
    now,
  );
  if (!opened.ok) return opened;
  const { document: review, digest, holder } = opened.value;
  if (holder.name !== review.reviewer) return err("wrong_reviewer");
  if (review.audience !== audience) return err("wrong_audience");
  if (now < review.not_before) return err("review_not_yet_valid");
  if (now >= review.expires) return err("review_expired");
  return ok({ review, digest, until: Math.min(review.expires, holder.valid_to) });
}
