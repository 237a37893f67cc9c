/** What is asked for where a turn's cost is measured, and the clock beside it. */
import { type ChatReply, UNKNOWN_CHAT_USAGE } from "../../src/model/chat.ts";
import type { CostScript, Spent } from "./job.ts";

export interface TimedScript extends CostScript {
  /** From now on it is a run that may take so many milliseconds of processor time; the answer tells how many turns it had. */
  begin(limitMs: number): () => number;
}

export function costScript(turns: number): TimedScript {
  let [until, had] = [Number.POSITIVE_INFINITY, 0];
  return {
    turns,
    begin(limitMs) {
      until = cpuMs() + limitMs;
      return () => had;
    },
    reply(replies) {
      had = replies + 1;
      // A look at the clock costs more than a turn of a minimal loop.
      const late = had % 8 === 0 && cpuMs() > until;
      return replyAt(replies, had >= turns || late);
    },
  };
}

function replyAt(turn: number, last: boolean): ChatReply {
  return {
    content: last ? "done" : "",
    calls: last ? [] : [{ id: "a", name: "look.up", arguments: `{"n":${turn}}` }],
    stop: last ? "end" : "calls",
    usage: { ...UNKNOWN_CHAT_USAGE, input_tokens: 10, output_tokens: 1 },
    response: { id: null, model: null },
  };
}

export async function spentBy(begin: () => () => number, run: () => Promise<void>): Promise<Spent> {
  const turns = begin();
  const [from, cpu] = [performance.now(), cpuMs()];
  await run();
  return { turns: turns(), ms: performance.now() - from, cpuMs: cpuMs() - cpu };
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
