/**
 * What happens in an agent run: the closed list. Each is one entry of the run's chain; what the gate writes (requests,
 * admissions, receipts) is read from there and not written again.
 */
import type { Digest } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import type { AgentStart } from "../model/agent.ts";
import type { Unanswered } from "../model/agent-entry.ts";
import type { ChatReply } from "../model/chat.ts";
import type { Outcome } from "../model/operation.ts";
import type { StopReason } from "../model/stop.ts";

export type AgentEvent =
  | { readonly type: "started"; readonly start: AgentStart }
  | { readonly type: "resumed" }
  | (Turn & { readonly type: "asked"; readonly request: Digest })
  | (Turn & { readonly type: "replied"; readonly reply: ChatReply })
  | (Turn & {
      readonly type: "unanswered";
      readonly kind: Unanswered;
      readonly message: string;
      readonly retry: boolean;
      readonly retryAfterMs: number | null;
    })
  | { readonly type: "requested"; readonly calls: readonly number[] }
  | {
      readonly type: "admitted";
      readonly call: number;
      readonly attempt: number;
      readonly tool: string;
      /** Active time of the run so far. */
      readonly ms: number;
    }
  | SettledEvent
  | { readonly type: "marked"; readonly step: number; readonly marker: Digest; readonly ms: number }
  | { readonly type: "paused"; readonly ms: number }
  | EndedEvent;

/** The types of all events. */
export const AGENT_EVENTS = [
  "started",
  "resumed",
  "asked",
  "replied",
  "unanswered",
  "requested",
  "admitted",
  "settled",
  "marked",
  "paused",
  "ended",
] as const satisfies readonly AgentEvent["type"][];
export type AgentEventType = (typeof AGENT_EVENTS)[number];

interface Turn {
  /** From 1. */
  readonly step: number;
  /** From 1 in its step. */
  readonly attempt: number;
  /** Active time of the run so far. */
  readonly ms: number;
}

export interface SettledEvent {
  readonly type: "settled";
  readonly call: number;
  /** False when the gate refused it: then the code is the gate's. */
  readonly admitted: boolean;
  readonly outcome: Outcome;
  readonly result: JsonValue | undefined;
  readonly refusal: { readonly code: string; readonly message: string } | null;
  /** False for an attempt that another may follow. */
  readonly final: boolean;
}

export interface EndedEvent {
  readonly type: "ended";
  readonly reason: StopReason;
  readonly message: string | null;
  readonly code: string | null;
  readonly ms: number;
}
