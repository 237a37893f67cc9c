/**
 * Events of a run as entries of its chain, and back.
 *
 * What the gate writes itself (admissions, receipts, requests) is not written again: a settled read or effect is its
 * receipt. So the record holds each fact once, and the fold reads it from where it was signed.
 */
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import { type Body, CANCELLED, type HostParts, kept, receiptIn } from "../host/index.ts";
import { type Appended, FIRST_PREV } from "../model/journal.ts";
import { GATE_CODES } from "../model/operation.ts";
import type { StopReason } from "../model/stop.ts";
import type { RunEvent, StoppedEvent } from "./event.ts";
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
): readonly RunEvent[] {
  return entries.flatMap((appended) => eventIn(program, parts, appended) ?? []);
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

function eventIn(program: Program, parts: HostParts, appended: Appended): RunEvent | undefined {
  const { journal } = parts;
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
    case "receipt": {
      const says = receiptIn(parts, entry);
      return says.final ? settledEvent(program, says) : undefined;
    }
    case "run_ended":
      return body["stopped"] === null ? undefined : (body["stopped"] as unknown as StoppedEvent);
    default:
      return undefined;
  }
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

function toolReason(code: string, outcome: Settled["outcome"]): StopReason {
  if (outcome === "uncertain") return "uncertain_operation";
  return code === CANCELLED ? "user_cancelled" : "tool_error";
}

function gateReason(code: string): StopReason {
  return Object.hasOwn(GATE_CODES, code)
    ? GATE_CODES[code as keyof typeof GATE_CODES]
    : "internal_error";
}
