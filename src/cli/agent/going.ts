/** Going on with an agent's run until it ends, waits, or is left. */
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentResult, AgentRuntime } from "../../app/agent-runtime.ts";
import { undecidedRequests } from "../../app/run-record.ts";
import type { OpenHost } from "../host.ts";
import type { Terminal } from "../terminal.ts";
import { requestHead } from "../waiting.ts";

/** Milliseconds between two looks at the journal. */
const POLL_MS = 500;

const LEAVING = "leaving the run as soon as no tool is at work; Ctrl-C again stops at once\n";

export interface Going {
  readonly terminal: Terminal;
  /** Wait until whoever is asked has decided. */
  readonly wait: boolean;
  /** Tell people what they are asked; in JSON nobody reads along. */
  readonly tell: boolean;
}

export async function going(
  runtime: AgentRuntime,
  at: OpenHost,
  { terminal, wait, tell }: Going,
  begin: () => Promise<AgentResult>,
): Promise<AgentResult> {
  const { interrupted } = terminal;
  const leaving = (): void => terminal.note(LEAVING);
  interrupted.addEventListener("abort", leaving, { once: true });
  try {
    let result = await begin();
    const shown = new Set<string>();
    while (wait && result.state === "approval_pending" && !interrupted.aborted) {
      const asked = undecidedRequests(at.host, result.run);
      for (const request of asked.filter(({ nonce }) => !shown.has(nonce))) {
        shown.add(request.nonce);
        if (tell) terminal.print(`${requestHead(request).join("\n")}\n\n`);
        terminal.note(`waiting for a decision about request ${request.nonce} at ${at.file} ..\n`);
      }
      await sleep(POLL_MS, undefined, { signal: interrupted }).catch(() => undefined);
      result = await runtime.resume(result.run, { signal: interrupted });
    }
    return result;
  } finally {
    interrupted.removeEventListener("abort", leaving);
  }
}
