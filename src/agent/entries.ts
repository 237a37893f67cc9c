/** Events of an agent run as entries of its chain, and back. */
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import {
  type Body,
  type HostParts,
  type Kept,
  keep,
  kept,
  type ReceiptParts,
  receiptIn,
  storedJson,
} from "../host/index.ts";
import { AGENT_VERSION, type AgentStart } from "../model/agent.ts";
import {
  agentAskedBody,
  agentEndedBody,
  agentMarkedBody,
  agentPausedBody,
  agentRepliedBody,
  agentSaid,
  agentStartedBody,
  agentTask,
  agentUnansweredBody,
} from "../model/agent-entry.ts";
import type { ChatReply } from "../model/chat.ts";
import { type Appended, type Entry, HOST_CHAIN } from "../model/journal.ts";
import { readBody, refuseBrokenChain } from "../run/index.ts";
import type { AgentEvent } from "./event.ts";

/** What an agent run was begun with, and by whom. */
export interface Begun {
  readonly start: AgentStart;
  readonly identity: string;
}

/** @throws RoteError `unknown_run` `other_kind` `journal_damaged` */
export function agentEntries({ journal }: ReceiptParts, run: string): readonly Appended[] {
  const entries = run === HOST_CHAIN ? [] : journal.read(run);
  const [first] = entries;
  if (first === undefined) {
    throw new RoteError("unknown_run", `There is no run ${JSON.stringify(run)} in the journal.`, {
      run,
    });
  }
  if (first.entry.type !== "agent_started") {
    throw new RoteError("other_kind", `The run ${run} is not of an agent.`, { run });
  }
  refuseBrokenChain(entries);
  return entries;
}

/** @throws RoteError as `agentEntries`, and `other_semantics` */
export function startOf(parts: ReceiptParts, run: string): AgentStart {
  const [first] = agentEntries(parts, run);
  if (first === undefined) throw new TypeError("a run without its first entry");
  return startIn(parts.journal, first.entry);
}

/**
 * The events in an agent run's entries. @throws RoteError `journal_damaged` `other_semantics`
 */
export function agentEvents(
  parts: ReceiptParts,
  entries: readonly Appended[],
): readonly AgentEvent[] {
  return entries.map(({ entry }) => eventIn(parts, entry));
}

function eventIn(parts: ReceiptParts, entry: Entry): AgentEvent {
  const { journal } = parts;
  const body = entry.body as Body;
  switch (entry.type) {
    case "agent_started":
      return { type: "started", start: startIn(journal, entry) };
    case "run_resumed":
      return { type: "resumed" };
    case "agent_asked":
      return { type: "asked", ...readBody(agentAskedBody, entry) };
    case "agent_replied":
      return { type: "replied", ...repliedIn(journal, entry) };
    case "agent_unanswered": {
      const { retry_after_ms: retryAfterMs, ...rest } = readBody(agentUnansweredBody, entry);
      return { type: "unanswered", ...rest, retryAfterMs };
    }
    case "approval_requested": {
      const shown = storedJson(journal, String(body["shown"]), "request");
      const operations = Array.isArray(shown) ? (shown as readonly Body[]) : [];
      return { type: "requested", calls: operations.map((one) => Number(one["call"])) };
    }
    case "admitted": {
      const { call, attempt, tool } = operationIn(journal, body);
      return {
        type: "admitted",
        call: Number(call),
        attempt: Number(attempt),
        tool: String((tool as Body)["name"]),
        ms: Number(body["ms"]),
      };
    }
    case "receipt": {
      const { call, admitted, outcome, result, refusal, final } = receiptIn(parts, entry);
      const settled = { admitted, outcome, result, refusal, final };
      return { type: "settled", call: call ?? -1, ...settled };
    }
    case "agent_marked":
      return { type: "marked", ...readBody(agentMarkedBody, entry) };
    case "agent_paused":
      return { type: "paused", ...readBody(agentPausedBody, entry) };
    case "run_ended": {
      const { reason, failure, ms } = readBody(agentEndedBody, entry);
      return {
        type: "ended",
        reason,
        message: failure?.message ?? null,
        code: failure?.code ?? null,
        ms,
      };
    }
    default: {
      const message = `Entry ${entry.seq} of ${entry.chain} is a ${entry.type}, which no agent run has.`;
      throw new RoteError("journal_damaged", message, { run: entry.chain, seq: entry.seq });
    }
  }
}

/** @throws RoteError `journal_damaged` `other_semantics` */
export function startIn(journal: HostParts["journal"], entry: Entry): AgentStart {
  const { version } = entry.body as Body;
  if (version !== AGENT_VERSION) {
    throw new RoteError(
      "other_semantics",
      `The run ${entry.chain} was recorded by version ${String(version)} of the agent's rules; this is ${AGENT_VERSION}.`,
      { run: entry.chain, version: version ?? null },
    );
  }
  const { mode: _, identity: __, intent: ___, ...rest } = readBody(agentStartedBody, entry);
  return { ...rest, ...memberIn(journal, entry, "task", agentTask) };
}

function repliedIn(journal: HostParts["journal"], entry: Entry) {
  const { step, attempt, ms, stop, usage, response } = readBody(agentRepliedBody, entry);
  const said = memberIn(journal, entry, "said", agentSaid);
  return { step, attempt, ms, reply: { ...said, stop, usage, response } };
}

interface Schema<T> {
  safeParse(
    value: unknown,
  ): { readonly success: true; readonly data: T } | { readonly success: false };
}

function memberIn<T>(
  journal: HostParts["journal"],
  entry: Entry,
  name: string,
  schema: Schema<T>,
): T {
  const value = kept(journal, entry.body as Body, name);
  return readBody(schema, { ...entry, body: value ?? null });
}

function operationIn(journal: HostParts["journal"], body: Body): Body {
  const operation = body["operation"] as Body;
  const { blob } = operation;
  return typeof blob === "string" ? (storedJson(journal, blob, "operation") as Body) : operation;
}

export function startedBodyOf({ start, identity }: Begun, intent: string | null): Kept {
  const { goal, instructions, recalled, limits, tools, model, environment, root, ...rest } = start;
  const body = {
    ...rest,
    mode: "agent",
    limits: { ...limits },
    tools: tools.map((tool) => ({ ...tool })),
    model: { ...model },
    environment: { ...environment },
    root: root === null ? null : { run: root.run, limits: { ...root.limits } },
    identity,
    intent,
  };
  return keep(body, "task", { goal, instructions, recalled });
}

export function repliedBodyOf(
  turn: { readonly step: number; readonly attempt: number; readonly ms: number },
  { content, calls, stop, usage, response, carry }: ChatReply,
): Kept {
  return keep({ ...turn, stop, usage: { ...usage }, response: { ...response } }, "said", {
    content,
    calls: calls.map((call) => ({ ...call })),
    ...(carry === undefined ? {} : { carry }),
  } as JsonValue);
}
