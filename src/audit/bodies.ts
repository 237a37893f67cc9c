/**
 * The closed forms of everything that stands in a journal, written a second time: an auditor that asked the host's own
 * code what an entry is would believe whatever that code writes.
 */
import type { Digest } from "../base/digest.ts";
import { isJsonObject, type JsonValue } from "../base/json.ts";
import { AGENT_TERMINAL_STATES, type AgentTerminalState } from "../model/agent-states.ts";
import type { EntryType } from "../model/journal.ts";
import { GATE_CODES, type Operation, OUTCOMES, type Outcome } from "../model/operation.ts";
import { RUN_MODES } from "../model/run.ts";
import { STOP_REASONS, TERMINAL_STATES } from "../model/stop.ts";
import { TOOL_CATEGORIES } from "../model/trust.ts";
import { AGENT_SHAPES, type AgentBodies } from "./agent-bodies.ts";
import {
  count,
  dictionary,
  digest,
  flag,
  hex64,
  integer,
  json,
  kept,
  listOf,
  matching,
  oneOf,
  orNull,
  record,
  type Shape,
  text,
} from "./shape.ts";

const nonce = matching(/^[A-Za-z0-9_-]{22}$/, "a nonce");
const envelope: Shape = json;
const code = oneOf(Object.keys(GATE_CODES));
const category = oneOf(TOOL_CATEGORIES);

const identity = record({ provider: text, name: text });
const usage = record({ input_tokens: orNull(count), output_tokens: orNull(count) });
const limits = record({
  max_steps: count,
  max_runtime_ms: count,
  max_tokens: count,
  max_tokens_per_answer: count,
});
const reason = oneOf(Object.values(STOP_REASONS).flat());
const failure = record(
  { reason, node: orNull(text), message: text },
  { code: text, pointer: text },
);
const stopped = record(
  { type: oneOf(["stopped"]), reason, message: text, evaluations: count },
  { code: text },
);

export const operationShape: Shape = record({
  type: oneOf(["rote-operation/v1"]),
  audience: text,
  run: text,
  node: text,
  index: orNull(count),
  call: orNull(count),
  attempt: count,
  recipe: orNull(digest),
  tool: record({ name: text, category, definition: digest }),
  arguments: json,
  key: json,
  identity: text,
  intent: orNull(digest),
  warrant: orNull(digest),
  policy: digest,
  trust: digest,
  environment: orNull(digest),
  verifiers: listOf(digest),
  budget: digest,
  requested_at: count,
});

export function isOperation(value: JsonValue): value is JsonValue & Operation {
  return operationShape(value) === null;
}

const operationBlob = record({ blob: hex64 });
const inlineOrBlob: Shape = (value) =>
  isJsonObject(value) && Object.keys(value).length === 1 && Object.hasOwn(value, "blob")
    ? operationBlob(value)
    : operationShape(value);

const receiptBody = {
  operation: digest,
  admission: orNull(count),
  outcome: oneOf(OUTCOMES),
  envelope,
  final: flag,
};
const withResult = kept("result", json, receiptBody);
const withoutResult = record(receiptBody);

/** The form of each type's body. */
export const BODY_SHAPES: { readonly [type in EntryType]: Shape } = {
  run_started: kept("inputs", dictionary(json), {
    plan: digest,
    verifier: digest,
    semantics: count,
    mode: oneOf(RUN_MODES),
    limits,
    recipe: text,
    environment: digest,
    models: dictionary(identity),
    identity: text,
    intent: orNull(digest),
    qualification: orNull(text),
    recipe_blob: hex64,
    verifier_blob: hex64,
  }),
  run_resumed: record({ owner: text, from_seq: count }),
  model_answered: kept("answer", json, {
    node: text,
    index: orNull(count),
    usage: orNull(usage),
    model: identity,
    source: oneOf(["supplied", "learned"]),
    ms: count,
  }),
  approval_requested: record({
    node: text,
    nonce,
    count,
    display: digest,
    expires: orNull(count),
    host_seq: count,
    shown: hex64,
    replaces: orNull(record({ nonce, code })),
  }),
  approved: record({ node: text, approvals: listOf(digest) }),
  admitted: record({
    digest,
    operation: inlineOrBlob,
    review: digest,
    permissions: listOf(text),
    approvals: listOf(record({ envelope: digest, approver: text, key: digest })),
    rules: listOf(text),
    reserved: listOf(record({ counter: text, add: integer })),
    ms: count,
  }),
  receipt: (value) =>
    isJsonObject(value) && (Object.hasOwn(value, "result") || Object.hasOwn(value, "result_blob"))
      ? withResult(value)
      : withoutResult(value),
  checkpointed: record({ node: text, ms: count }),
  run_ended: record({
    state: oneOf([...new Set<string>([...TERMINAL_STATES, ...AGENT_TERMINAL_STATES])]),
    reason,
    failure: orNull(failure),
    stopped: orNull(stopped),
    result: orNull(digest),
    ms: count,
  }),
  ...AGENT_SHAPES,
  host_opened: record({ audience: text }),
  trust: kept("envelope", envelope, { version: count, digest, before: orNull(count) }),
  approval_received: kept("envelope", envelope, {
    run: text,
    nonce,
    approver: text,
    decision: oneOf(["approve", "reject"]),
  }),
  reconciled: record({ envelope, digest }),
};

/** Bodies as their forms admit them, for those that the auditor looks into. */
export interface Bodies extends AgentBodies {
  readonly run_started: {
    readonly plan: Digest;
    readonly verifier: Digest;
    readonly environment: Digest;
    readonly mode: string;
    readonly identity: string;
    readonly qualification: string | null;
    readonly recipe_blob: string;
    readonly verifier_blob: string;
  };
  readonly run_resumed: { readonly from_seq: number };
  readonly approval_requested: {
    readonly node: string;
    readonly nonce: string;
    readonly count: number;
    readonly display: Digest;
    readonly expires: number | null;
    readonly shown: string;
  };
  readonly approved: { readonly node: string; readonly approvals: readonly Digest[] };
  readonly admitted: {
    readonly digest: Digest;
    readonly operation: JsonValue;
    readonly review: Digest;
    readonly permissions: readonly string[];
    readonly approvals: readonly {
      readonly envelope: Digest;
      readonly approver: string;
      readonly key: string;
    }[];
    readonly rules: readonly string[];
    readonly reserved: readonly { readonly counter: string; readonly add: string }[];
    readonly ms: number;
  };
  readonly receipt: {
    readonly operation: Digest;
    readonly admission: number | null;
    readonly outcome: Outcome;
    readonly envelope: JsonValue;
    readonly final: boolean;
    readonly result?: JsonValue;
    readonly result_blob?: string;
  };
  readonly run_ended: {
    readonly state: keyof typeof STOP_REASONS | AgentTerminalState;
    readonly reason: string;
    readonly failure: { readonly reason: string } | null;
    readonly result: Digest | null;
    readonly ms: number;
  };
  readonly host_opened: { readonly audience: string };
  readonly trust: {
    readonly version: number;
    readonly digest: Digest;
    readonly envelope?: JsonValue;
    readonly envelope_blob?: string;
  };
  readonly approval_received: {
    readonly run: string;
    readonly nonce: string;
    readonly approver: string;
    readonly decision: "approve" | "reject";
    readonly envelope?: JsonValue;
    readonly envelope_blob?: string;
  };
  readonly reconciled: { readonly envelope: JsonValue; readonly digest: Digest };
}

const sha256 = record({ sha256: hex64 });

export const statementShape: Shape = record({
  _type: oneOf(["https://in-toto.io/Statement/v1"]),
  subject: listOf(record({ name: oneOf(["operation", "result"]), digest: sha256 })),
  predicateType: oneOf(["urn:rote:receipt/v1"]),
  predicate: record({
    audience: text,
    run: text,
    node: text,
    index: orNull(count),
    call: orNull(count),
    attempt: count,
    admission: orNull(record({ seq: count, entry: hex64 })),
    outcome: oneOf(OUTCOMES),
    refusal: orNull(record({ code: text, message: text })),
    approvals: listOf(digest),
    warrant: orNull(digest),
    policy: record({ digest, rules: listOf(text) }),
    verifiers: listOf(record({ digest, verdict: oneOf(["passed", "refused", "not_asked"]) })),
    target: record({ name: text }),
    started: orNull(count),
    finished: orNull(count),
  }),
});

/** What a receipt states, as its form admits it. */
export interface Statement {
  readonly subject: readonly {
    readonly name: "operation" | "result";
    readonly digest: { readonly sha256: string };
  }[];
  readonly predicate: {
    readonly audience: string;
    readonly run: string;
    readonly node: string;
    readonly index: number | null;
    readonly call: number | null;
    readonly attempt: number;
    readonly admission: { readonly seq: number; readonly entry: string } | null;
    readonly outcome: Outcome;
    readonly refusal: { readonly code: string; readonly message: string } | null;
    readonly approvals: readonly Digest[];
    readonly warrant: Digest | null;
    readonly policy: { readonly digest: Digest; readonly rules: readonly string[] };
    readonly verifiers: readonly {
      readonly digest: Digest;
      readonly verdict: "passed" | "refused" | "not_asked";
    }[];
    readonly target: { readonly name: string };
    readonly started: number | null;
    readonly finished: number | null;
  };
}

export function isStatement(value: JsonValue): value is JsonValue & Statement {
  return statementShape(value) === null;
}
