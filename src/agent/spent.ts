/** What the attempts at a run's turns used, one by one, as far as anybody knows. */
import type { ReceiptParts } from "../host/index.ts";
import { type ChatUsage, UNKNOWN_CHAT_USAGE } from "../model/chat.ts";
import type { ModelIdentity } from "../model/run.ts";
import { agentEntries, agentEvents } from "./entries.ts";
import type { AgentEvent } from "./event.ts";
import { mayHaveWorked } from "./usage.ts";

export interface Spent {
  readonly model: ModelIdentity;
  readonly usage: ChatUsage;
}

/** @throws RoteError `unknown_run` `other_kind` `journal_damaged` `other_semantics` */
export function spentBy(parts: ReceiptParts, run: string): readonly Spent[] {
  const events = agentEvents(parts, agentEntries(parts, run));
  const [first] = events;
  if (first?.type !== "started") throw new TypeError("a record without its start");
  const { model } = first.start;
  const spent: Spent[] = [];
  let open = false;
  for (const event of events) {
    const usage = usageIn(event, open);
    if (usage !== null) spent.push({ model, usage });
    if (event.type === "asked") open = true;
    else if (event.type !== "marked") open = false;
  }
  return open ? [...spent, { model, usage: UNKNOWN_CHAT_USAGE }] : spent;
}

function usageIn(event: AgentEvent, open: boolean): ChatUsage | null {
  switch (event.type) {
    case "replied":
      return event.reply.usage;
    case "unanswered":
      return mayHaveWorked(event.kind) ? UNKNOWN_CHAT_USAGE : null;
    case "resumed":
    case "ended":
      return open ? UNKNOWN_CHAT_USAGE : null;
    default:
      return null;
  }
}
