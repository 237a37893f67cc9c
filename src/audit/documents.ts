/**
 * The documents that operations were judged by. Operations name them by digest; the record keeps each as the blob of the
 * bytes that its digest is made of (tag, line feed, canonical text), so that name and digest are one.
 */
import { sameBytes } from "../base/bytes.ts";
import type { Digest } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import { TAGS } from "../base/tags.ts";
import { type Budget, budgetSchema, type PolicyDocument, policySchema } from "../model/policy.ts";
import type { Blobs } from "./blobs.ts";
import { readCanonical } from "./canonical.ts";
import type { Findings, Place } from "./finding.ts";
import { listOf, record, text } from "./shape.ts";

export interface IntentDocument {
  readonly statement: string;
  readonly tools: readonly string[];
}

export interface Documents {
  policy(digest: Digest, place: Place): Promise<PolicyDocument | undefined>;
  budget(digest: Digest, place: Place): Promise<Budget | undefined>;
  intent(digest: Digest, place: Place): Promise<IntentDocument | undefined>;
  /** A signed document's envelope, not verified yet. */
  envelope(digest: Digest, what: string, place: Place): Promise<JsonValue | undefined>;
  /** Only that it is there and is what its digest says. */
  definition(digest: Digest, place: Place): Promise<void>;
}

interface Kind<T> {
  readonly tag: string;
  readonly what: string;
  readonly parse: (json: JsonValue) => T | undefined;
}

const POLICY: Kind<PolicyDocument> = {
  tag: TAGS.policy,
  what: "policy",
  parse: (json) => policySchema.safeParse(json).data,
};
const BUDGET: Kind<Budget> = {
  tag: TAGS.budget,
  what: "budget",
  parse: (json) => budgetSchema.safeParse(json).data,
};
const intentShape = record({ statement: text, tools: listOf(text) });
const INTENT: Kind<IntentDocument> = {
  tag: TAGS.intent,
  what: "intent",
  parse: (json) => (isIntent(json) ? json : undefined),
};
const DEFINITION: Kind<true> = { tag: TAGS.tool, what: "tool definition", parse: () => true };

function isIntent(json: JsonValue): json is JsonValue & IntentDocument {
  return intentShape(json) === null;
}

/** Documents in memory at most: a host has few, and changes them rarely. */
const MOST_KEPT = 256;

export function createDocuments(blobs: Blobs, findings: Findings): Documents {
  const kept = new Map<string, { readonly document: unknown }>();

  async function load<T>(kind: Kind<T>, digest: Digest, place: Place): Promise<T | undefined> {
    const name = `${kind.tag} ${digest}`;
    const known = kept.get(name);
    // Only this function puts something under a kind's tag, and always what that kind's `parse` returned.
    if (known !== undefined) return known.document as T | undefined;
    const document = await read(kind, digest, place);
    if (kept.size >= MOST_KEPT) kept.clear();
    kept.set(name, { document });
    return document;
  }

  async function read<T>(kind: Kind<T>, digest: Digest, place: Place): Promise<T | undefined> {
    const { tag, what, parse } = kind;
    const bytes = await blobs.find(digest.slice("sha256:".length), place, what);
    if (bytes === null)
      findings.add("document_missing", place, `the ${what} ${digest} is not kept`);
    if (bytes === null || bytes === undefined) return undefined;
    const head = Buffer.from(`${tag}\n`);
    const tagged = sameBytes(bytes.subarray(0, head.byteLength), head);
    const json = tagged ? readCanonical(bytes.subarray(head.byteLength)) : undefined;
    const document = json?.ok === true ? parse(json.value) : undefined;
    if (document === undefined) {
      findings.add("document_malformed", place, `the document ${digest} is not a ${what}`);
    }
    return document;
  }

  return {
    policy: (digest, place) => load(POLICY, digest, place),
    budget: (digest, place) => load(BUDGET, digest, place),
    intent: (digest, place) => load(INTENT, digest, place),
    envelope: (digest, what, place) =>
      load({ tag: TAGS.envelope, what, parse: (json) => json }, digest, place),
    async definition(digest, place) {
      await load(DEFINITION, digest, place);
    },
  };
}
