/**
 * Warrants: signed, attenuable, expiring grants.
 *
 * W1 The root is signed by a warrant issuer of the trust store; each child by its parent's holder key, naming the
 *    digest of the whole parent envelope.
 * W2 A child only restricts: tools are a subset, numbers are not larger, the window lies inside, every constraint of
 *    the parent still holds (constraints of the whole chain are checked together, so none can be removed).
 * W3 At most four warrants in a chain. There is nothing to evaluate but membership, equality, order and prefix.
 * W4 A warrant is no bearer token: the host checks that the acting identity holds the leaf's holder key.
 */

import { fromBase64Url } from "../base/bytes.ts";
import type { Digest } from "../base/digest.ts";
import { parseInteger } from "../base/integer.ts";
import type { JsonValue } from "../base/json.ts";
import { parsePointer, readPointer } from "../base/pointer.ts";
import { err, ok, type Result } from "../base/result.ts";
import { type PrivateKey, publicKey } from "../base/sign.ts";
import { type Constraint, PAYLOAD_TYPES, type Warrant, warrantSchema } from "../model/trust.ts";
import { openByRole } from "./role-document.ts";
import {
  type DocumentFault,
  openDocumentByOne,
  type SignedDocument,
  signDocument,
} from "./signed-document.ts";
import type { KeyFault, TrustStore } from "./trust-store.ts";

export const MAX_WARRANT_DEPTH = 4;

export type WarrantFault =
  | DocumentFault
  | KeyFault
  | "no_warrant"
  | "warrant_too_deep"
  | "wrong_issuer"
  | "wrong_audience"
  | "wrong_parent"
  | "warrant_widens"
  | "warrant_not_yet_valid"
  | "warrant_expired";

/** Why a chain is refused, and which link of it: 0 is the root. */
export interface WarrantRefusal {
  readonly fault: WarrantFault;
  readonly link: number;
}

/** What a chain of warrants leaves, after every restriction in it. */
export interface CheckedWarrant {
  readonly root: Digest;
  readonly leaf: Digest;
  readonly holderKey: string;
  readonly tools: readonly string[];
  readonly constraints: readonly Constraint[];
  readonly maxEffects: number;
  readonly maxReads: number;
  /** Seconds since 1970 UTC: from then on nothing of this holds. */
  readonly until: number;
}

export function signWarrant(warrant: Warrant, key: PrivateKey): JsonValue {
  return signDocument(PAYLOAD_TYPES.warrant, warrantSchema, warrant, [key]);
}

/** Checks a chain, root first. */
export function checkWarrant(
  chain: readonly JsonValue[],
  audience: string,
  trust: TrustStore,
  now: number,
): Result<CheckedWarrant, WarrantRefusal> {
  const [first, ...children] = chain;
  if (first === undefined) return refused("no_warrant", 0);
  if (chain.length > MAX_WARRANT_DEPTH) return refused("warrant_too_deep", MAX_WARRANT_DEPTH);
  const opened = openByRole(
    first,
    PAYLOAD_TYPES.warrant,
    warrantSchema,
    trust,
    "warrant_issuer",
    now,
  );
  if (!opened.ok) return refused(opened.error, 0);
  const root = opened.value;
  if (root.document.parent !== null) return refused("wrong_parent", 0);
  if (root.holder.name !== root.document.issuer) return refused("wrong_issuer", 0);
  const fault = faultNow(root.document, audience, now);
  if (fault !== undefined) return refused(fault, 0);
  let leaf: SignedDocument<Warrant> = root;
  const constraints = [...root.document.constraints];
  for (const [at, envelope] of children.entries()) {
    const child = openChild(envelope, leaf, audience, now);
    if (!child.ok) return refused(child.error, at + 1);
    leaf = child.value;
    constraints.push(...leaf.document.constraints);
  }
  const { holder_key, tools, max_effects, max_reads, expires } = leaf.document;
  return ok({
    root: root.digest,
    leaf: leaf.digest,
    holderKey: holder_key,
    tools,
    constraints,
    maxEffects: max_effects,
    maxReads: max_reads,
    until: Math.min(expires, root.holder.valid_to),
  });
}

/** Why a checked warrant does not cover a call; undefined when it does. */
export function warrantRefusal(
  warrant: CheckedWarrant,
  tool: string,
  args: JsonValue,
): string | undefined {
  if (!warrant.tools.includes(tool)) return `the warrant does not name the tool ${tool}`;
  const broken = warrant.constraints.find((constraint) => !holds(constraint, args));
  return broken === undefined
    ? undefined
    : `the warrant's constraint on ${broken.pointer || "the arguments"} (${broken.op}) does not hold`;
}

function openChild(
  envelope: JsonValue,
  parent: SignedDocument<Warrant>,
  audience: string,
  now: number,
): Result<SignedDocument<Warrant>, WarrantFault> {
  const raw = fromBase64Url(parent.document.holder_key);
  if (raw === undefined) return err("malformed_document");
  const child = openDocumentByOne(envelope, PAYLOAD_TYPES.warrant, warrantSchema, (id) => {
    try {
      const key = publicKey(raw);
      return key.id === id ? key : undefined;
    } catch {
      return undefined;
    }
  });
  if (!child.ok) return child;
  const { document } = child.value;
  if (document.parent !== parent.digest) return err("wrong_parent");
  if (widens(parent.document, document)) return err("warrant_widens");
  const fault = faultNow(document, audience, now);
  return fault === undefined ? child : err(fault);
}

function refused(fault: WarrantFault, link: number): Result<never, WarrantRefusal> {
  return err({ fault, link });
}

function faultNow(warrant: Warrant, audience: string, now: number): WarrantFault | undefined {
  if (warrant.audience !== audience) return "wrong_audience";
  if (now < warrant.not_before) return "warrant_not_yet_valid";
  if (now >= warrant.expires) return "warrant_expired";
  return undefined;
}

function widens(parent: Warrant, child: Warrant): boolean {
  return (
    !child.tools.every((tool) => parent.tools.includes(tool)) ||
    child.max_effects > parent.max_effects ||
    child.max_reads > parent.max_reads ||
    child.not_before < parent.not_before ||
    child.expires > parent.expires
  );
}

/** A value that is absent, of another type, or of an unknown kind satisfies nothing. */
function holds(constraint: Constraint, args: JsonValue): boolean {
  const tokens = parsePointer(constraint.pointer);
  const value = tokens === undefined ? undefined : readPointer(args, tokens);
  if (value === undefined) return false;
  switch (constraint.op) {
    case "eq":
      return value === constraint.value;
    case "in":
      return constraint.value.some((allowed) => allowed === value);
    case "le":
      return ordered(value, constraint.value, (left, right) => left <= right);
    case "ge":
      return ordered(value, constraint.value, (left, right) => left >= right);
    case "prefix":
      return typeof value === "string" && value.startsWith(constraint.value);
    default:
      return false;
  }
}

function ordered(
  value: JsonValue,
  bound: string,
  compare: (left: bigint, right: bigint) => boolean,
): boolean {
  const left = integerOf(value);
  const right = parseInteger(bound);
  return left !== undefined && right !== undefined && compare(left, right);
}

function integerOf(value: JsonValue): bigint | undefined {
  if (typeof value === "string") return parseInteger(value);
  return typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : undefined;
}
