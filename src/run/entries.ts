/**
 * Events of a run as entries of its chain, and back.
 *
 * What the gate writes itself (admissions, receipts, requests) is not written again: a settled read or effect is its
 * receipt. So the record holds each fact once, and the fold reads it from where it was signed.
 */
import { digestFromHex } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import { isJsonObject, type JsonValue } from "../base/json.ts";
import { type Body, CANCELLED, type HostParts, kept, type ReceiptsRead } from "../host/index.ts";
import { type Appended, type Entry, FIRST_PREV } from "../model/journal.ts";
import { GATE_CODES } from "../model/operation.ts";
import { answeredBody, endedBody, nodeBody, startedBody } from "../model/run-entry.ts";
import type { StopReason } from "../model/stop.ts";
import type { Journal } from "../ports/journal.ts";
import type { RunEvent } from "./event.ts";
import type { InputValues } from "./inputs.ts";
import { nodeNamed, type Program } from "./program.ts";

/**
 * The events in a run's entries. Receipts behind the end of the run belong to operations that were in flight when it
 * ended; they say nothing new to the fold, which stops at its end.
 *
 * @throws RoteError `journal_damaged`
 */
export function eventsIn(
  program: Program,
  parts: HostParts,
  entries: readonly Appended[],
  receipts: ReceiptsRead,
): readonly RunEvent[] {
  return entries.flatMap((appended) => eventIn(program, parts, appended, receipts) ?? []);
}

/** Each entry names the one before it: what was taken out, put in or changed since shows. @throws RoteError `journal_damaged` */
export function refuseBrokenChain(entries: readonly Appended[]): void {
  let before = FIRST_PREV;
  for (const [at, { entry, hash }] of entries.entries()) {
    if (entry.seq !== at || entry.prev !== before) {
      const message = `Entry ${at} of ${entry.chain} does not follow from the one before it.`;
      throw new RoteError("journal_damaged", message, { run: entry.chain, seq: at });
    }
    before = hash;
  }
}

function eventIn(
  program: Program,
  parts: HostParts,
  appended: Appended,
  receipts: ReceiptsRead,
): RunEvent | undefined {
  const { journal } = parts;
  const { entry, hash } = appended;
  const body = entry.body as Body;
  switch (entry.type) {
    case "run_started": {
      const started = readBody(startedBody, entry);
      return {
        type: "started",
        plan: started.plan,
        verifier: started.verifier,
        semantics: started.semantics,
        mode: started.mode,
        limits: started.limits,
        inputs: inputsIn(kept(journal, body, "inputs"), entry),
      };
    }
    case "model_answered": {
      const answered = readBody(answeredBody, entry);
      return { type: "model_answered", ...answered, answer: answerIn(journal, entry) };
    }
    case "approved":
      return { type: "approved", ...readBody(nodeBody, entry) };
    case "checkpointed": {
      const position = { run: entry.chain, seq: entry.seq, entry: digestFromHex(hash) };
      return { type: "checkpointed", ...readBody(nodeBody, entry), position };
    }
    case "receipt": {
      const says = receipts.get(entry.seq);
      if (says === undefined) throw new TypeError("a receipt that nobody has checked");
      return says.final ? settledEvent(program, says) : undefined;
    }
    case "run_ended":
      return readBody(endedBody, entry).stopped ?? undefined;
    default:
      return undefined;
  }
}

interface BodySchema<T> {
  safeParse(
    body: unknown,
  ): { readonly success: true; readonly data: T } | { readonly success: false };
}

/** @throws RoteError `journal_damaged` naming the entry: nothing is guessed, and the entry stays as it is */
export function readBody<T>(schema: BodySchema<T>, entry: Entry): T {
  const read = schema.safeParse(entry.body);
  if (read.success) return read.data;
  throw unreadable(entry);
}

function answerIn(journal: Journal, entry: Entry): JsonValue {
  const answer = kept(journal, entry.body as Body, "answer");
  if (answer !== undefined) return answer;
  throw unreadable(entry);
}

function inputsIn(inputs: JsonValue | undefined, entry: Entry): InputValues {
  if (isJsonObject(inputs)) return inputs;
  throw unreadable(entry);
}

function unreadable({ chain, seq, type }: Entry): RoteError {
  const message = `Entry ${seq} of ${chain} (${type}) is not what this version writes.`;
  return new RoteError("journal_damaged", message, { run: chain, seq, type });
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
  const reason = settled.admitted ? toolReason(code, outcome) : gateReason(code);
  const read = nodeNamed(program, node).step.kind === "read";
  const done = { kind: "done", result: result ?? null } as const;
  if (read) {
    const kind = outcome === "failed_before_effect" ? outcome : "refused";
    const not = { kind, reason, code, message } as const;
    return { type: "read_settled", node, index, outcome: outcome === "done" ? done : not };
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

function toolReason(code: string, outcome: Settled["outcome"]): StopReason {
  if (outcome === "uncertain") return "uncertain_operation";
  return code === CANCELLED ? "user_cancelled" : "tool_error";
}

function gateReason(code: string): StopReason {
  return Object.hasOwn(GATE_CODES, code)
    ? GATE_CODES[code as keyof typeof GATE_CODES]
    : "internal_error";
}
