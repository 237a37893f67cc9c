/**
 * Events of a run as entries of its chain, and back.
 *
 * What the gate writes itself (admissions, receipts, requests) is not written again: a settled read or effect is its
 * receipt. So the record holds each fact once, and the fold reads it from where it was signed.
 */
import { canonicalText } from "../base/canonical.ts";
import { sha256Hex } from "../base/digest.ts";
import { readEnvelope } from "../base/dsse.ts";
import { RoteError } from "../base/error.ts";
import { type JsonValue, readJson } from "../base/json.ts";
import type { Appended } from "../model/journal.ts";
import { GATE_CODES } from "../model/operation.ts";
import type { StopReason } from "../model/stop.ts";
import type { Journal } from "../ports/journal.ts";
import type { RunEvent, StoppedEvent } from "./event.ts";
import { nodeNamed, type Program } from "./program.ts";

export type Body = { readonly [member: string]: JsonValue };

/** Values above this size are kept as blobs, so that entries stay small. */
const INLINE_BYTES = 16_384;
const LIMITS = { numbers: "finite", maxDepth: 600, maxNodes: 100_000_000 } as const;

export interface Kept {
  readonly body: Body;
  readonly blobs: readonly Uint8Array[];
}

/** A member that may be large: inline, or under `<name>_blob` with its bytes beside it. */
export function keep(body: Body, name: string, value: JsonValue): Kept {
  const text = canonicalText(value);
  const bytes = Buffer.byteLength(text);
  if (bytes <= INLINE_BYTES) return { body: { ...body, [name]: value }, blobs: [] };
  const blob = Buffer.from(text);
  return { body: { ...body, [`${name}_blob`]: sha256Hex(blob) }, blobs: [blob] };
}

/** @throws RoteError `journal_damaged` */
export function kept(journal: Journal, body: Body, name: string): JsonValue | undefined {
  if (Object.hasOwn(body, name)) return body[name];
  const hash = body[`${name}_blob`];
  if (typeof hash !== "string") return undefined;
  const bytes = journal.blob(hash);
  const read =
    bytes === undefined ? undefined : readJson(bytes, { ...LIMITS, maxBytes: bytes.byteLength });
  if (read?.ok === true) return read.value;
  throw new RoteError("journal_damaged", `The blob ${hash} (${name}) is missing or unreadable.`);
}

/**
 * The events in a run's entries. Receipts behind the end of the run belong to operations that were in flight when it
 * ended; they say nothing new to the fold, which stops at its end.
 */
export function eventsIn(
  program: Program,
  journal: Journal,
  entries: readonly Appended[],
): readonly RunEvent[] {
  return entries.flatMap((appended) => eventIn(program, journal, appended) ?? []);
}

function eventIn(program: Program, journal: Journal, appended: Appended): RunEvent | undefined {
  const { entry, hash } = appended;
  const body = entry.body as Body;
  switch (entry.type) {
    case "run_started":
      return {
        type: "started",
        plan: body["plan"] as never,
        verifier: body["verifier"] as never,
        semantics: body["semantics"] as number,
        mode: body["mode"] as never,
        limits: body["limits"] as never,
        inputs: kept(journal, body, "inputs") as never,
      };
    case "model_answered":
      return {
        type: "model_answered",
        node: body["node"] as string,
        index: body["index"] as number | null,
        answer: kept(journal, body, "answer") ?? null,
        usage: body["usage"] as never,
        model: body["model"] as never,
        source: body["source"] as never,
      };
    case "approved":
      return { type: "approved", node: body["node"] as string };
    case "checkpointed":
      return {
        type: "checkpointed",
        node: body["node"] as string,
        position: { run: entry.chain, seq: entry.seq, entry: `sha256:${hash}` as never },
      };
    case "receipt":
      return body["final"] === false ? undefined : settledBy(program, journal, body);
    case "run_ended":
      return body["stopped"] === null ? undefined : (body["stopped"] as unknown as StoppedEvent);
    default:
      return undefined;
  }
}

/** What the signed statement in a receipt's entry says. @throws RoteError `journal_damaged` */
export function predicateOf(body: Body): Body {
  const envelope = readEnvelope(body["envelope"] ?? null);
  const payload = envelope.ok ? readJson(envelope.value.payload, LIMITS) : envelope;
  if (!payload.ok) throw new RoteError("journal_damaged", "A receipt is not readable.");
  return (payload.value as Body)["predicate"] as Body;
}

function settledBy(program: Program, journal: Journal, body: Body): RunEvent {
  const predicate = predicateOf(body);
  const refusal = predicate["refusal"] as Body | null;
  return settledEvent(program, {
    node: String(predicate["node"]),
    index: predicate["index"] as number | null,
    outcome: predicate["outcome"] as Settled["outcome"],
    result: kept(journal, body, "result"),
    admitted: predicate["admission"] !== null,
    refusal:
      refusal === null
        ? null
        : { code: String(refusal["code"]), message: String(refusal["message"]) },
  });
}

/** What became of an operation, as the gate says it. */
export interface Settled {
  readonly node: string;
  readonly index: number | null;
  readonly outcome: "done" | "failed_before_effect" | "refused" | "uncertain";
  readonly result: JsonValue | undefined;
  /** False when the gate refused it: then the code is the gate's. */
  readonly admitted: boolean;
  readonly refusal: { readonly code: string; readonly message: string } | null;
}

export function settledEvent(program: Program, settled: Settled): RunEvent {
  const { node, index, outcome, result } = settled;
  const { code, message } = settled.refusal ?? { code: "", message: "" };
  const reason = settled.admitted ? "tool_error" : gateReason(code);
  const read = nodeNamed(program, node).step.kind === "read";
  const done = { kind: "done", result: result ?? null } as const;
  if (read) {
    const refused = { kind: "refused", reason, code, message } as const;
    return { type: "read_settled", node, index, outcome: outcome === "done" ? done : refused };
  }
  const type = "effect_settled";
  switch (outcome) {
    case "done":
      return { type, node, index, outcome: done };
    case "uncertain":
      return { type, node, index, outcome: { kind: "uncertain", message } };
    case "failed_before_effect":
    case "refused":
      return { type, node, index, outcome: { kind: outcome, reason, code, message } };
  }
}

function gateReason(code: string): StopReason {
  return Object.hasOwn(GATE_CODES, code)
    ? GATE_CODES[code as keyof typeof GATE_CODES]
    : "internal_error";
}
