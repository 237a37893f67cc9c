import { canonicalBytes } from "../base/canonical.ts";
import { type Digest, digestedBytes, taggedBytes } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import { deepFreeze } from "../base/freeze.ts";
import { copyJson, isJsonArray, isJsonObject, type JsonValue, readJson } from "../base/json.ts";
import { TAGS } from "../base/tags.ts";
import type { GateCode, Operation } from "../model/operation.ts";

/** An operation that can no longer change: bytes, their digest, and what was parsed back from those bytes. */
export interface FrozenOperation {
  /** Frozen throughout: checks look at it, and none can change it for the next. */
  readonly operation: Operation;
  readonly bytes: Uint8Array;
  readonly digest: Digest;
}

/** Canonical text nests deeper than what people write. */
const LIMITS = { numbers: "finite", maxDepth: 600, maxNodes: 10_000_000 } as const;

/** @throws RoteError `not_canonical` when the arguments have no canonical form */
export function freezeOperation(draft: Operation): FrozenOperation {
  const { bytes, digest } = digestedBytes(TAGS.operation, draft);
  return { operation: deepFreeze(thaw(bytes)), bytes, digest };
}

/** The operation in bytes that were frozen before, as from the journal. */
export function refreeze(json: JsonValue): FrozenOperation {
  return freezeOperation(asOperation(json));
}

/** The operation as content whose SHA-256 is its digest. */
export function operationBlob({ bytes }: FrozenOperation): Uint8Array {
  return taggedBytes(TAGS.operation, bytes);
}

/**
 * What the tool gets: a copy, for this one call, of what was parsed from the frozen bytes. It never sees the object that
 * the operation was built from, and what it does to its own changes nothing.
 */
export function argumentsOf({ operation }: FrozenOperation): JsonValue {
  return copyJson(operation.arguments);
}

function thaw(bytes: Uint8Array): Operation {
  const read = readJson(bytes, { ...LIMITS, maxBytes: bytes.byteLength });
  if (!read.ok) throw new TypeError(`frozen bytes cannot be read back: ${read.error.message}`);
  return asOperation(read.value);
}

/** @throws RoteError `journal_damaged` for what no gate of ours has frozen */
function asOperation(json: JsonValue): Operation {
  if (isOperation(json)) return json;
  throw new RoteError("journal_damaged", "What should be an operation is not one.");
}

function isOperation(json: JsonValue): json is Operation {
  return (
    isJsonObject(json) &&
    json["type"] === "rote-operation/v1" &&
    isJsonObject(json["tool"]) &&
    Number.isSafeInteger(json["attempt"]) &&
    Number.isSafeInteger(json["requested_at"]) &&
    isJsonArray(json["verifiers"]) &&
    TEXTS.every((member) => typeof json[member] === "string") &&
    PRESENT.every((member) => Object.hasOwn(json, member))
  );
}

const TEXTS = ["audience", "run", "node", "identity", "policy", "trust", "budget"];
const PRESENT = ["index", "call", "recipe", "arguments", "key", "intent", "warrant", "environment"];

/** Where an operation stands; taken once, so that nothing that was started is ever started again. */
export function placeOf({ run, node, index, call, attempt }: Operation): string {
  return `${run}/${node}/${index ?? call ?? ""}/${attempt}`;
}

/** What differs between what was shown and what would be done now, as the code to refuse with. */
export function changeBetween(shown: Operation, now: Operation): GateCode | undefined {
  if (shown.identity !== now.identity) return "identity_changed";
  if (shown.intent !== now.intent) return "intent_changed";
  if (shown.warrant !== now.warrant) return "warrant_changed";
  if (shown.trust !== now.trust) return "trust_changed";
  if (!sameJson(shown.tool, now.tool)) return "tool_definition_changed";
  if (shown.policy !== now.policy) return "policy_changed";
  if (shown.budget !== now.budget) return "budget_changed";
  if (shown.environment !== now.environment) return "environment_changed";
  if (!sameJson(shown.verifiers, now.verifiers)) return "verifier_changed";
  const frozen = { ...now, requested_at: shown.requested_at };
  return sameJson(shown, frozen) ? undefined : "arguments_changed";
}

function sameJson(left: unknown, right: unknown): boolean {
  const bytes = (value: unknown) => canonicalBytes(value as JsonValue);
  return Buffer.compare(bytes(left), bytes(right)) === 0;
}
