/** What is put beside Rote, and what of it cannot be done. */
import { join } from "node:path";
import { installed } from "../install.ts";
import { ROOT } from "../paths.ts";
import type { Method } from "./dramas.ts";

const PEERS = "bench/agent-peers";

export const ROTE: Method = {
  method: "rote",
  program: join(ROOT, "bench/.build/bench/agent-child.js"),
  lacks: [],
};

const LANGGRAPH: Method = {
  method: "LangGraph.js agent",
  program: join(ROOT, PEERS, "langgraph.mjs"),
  lacks: ["no_token_budget"],
};

const OPENAI: Method = {
  method: "OpenAI Agents SDK",
  program: join(ROOT, PEERS, "openai.mjs"),
  lacks: ["no_token_budget"],
};

/** Those that are there; what cannot be installed is left out, and the reason is on standard error. */
export function peers(): readonly Method[] {
  const problem = installed(PEERS);
  if (problem === null) return [LANGGRAPH, OPENAI];
  process.stderr.write(`left out ${LANGGRAPH.method} and ${OPENAI.method}: ${problem}\n`);
  return [];
}
