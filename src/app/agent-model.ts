/** The model behind an agent, from a script. */
import { RoteError } from "../base/error.ts";
import { scriptedChat } from "../llm/scripted-chat.ts";
import type { ChatModel } from "../ports/chat-model.ts";

const TOLD = 20;

/**
 * A model that reads its replies off, one a turn (docs/agent.md); `name` is what the record knows it by.
 *
 * @throws RoteError `bad_script` with the lines that cannot be read
 */
export function scriptedAgent(script: string, name: string): ChatModel {
  const read = scriptedChat(script, name);
  if (read.ok) return read.value;
  const lines = read.error
    .slice(0, TOLD)
    .map(({ line, message }) => `  ${name}:${line}: ${message}`);
  if (read.error.length > TOLD) lines.push(`  and ${read.error.length - TOLD} more`);
  throw new RoteError("bad_script", `The script ${name} cannot be used.`, {
    details: lines.join("\n"),
    problems: read.error.slice(0, TOLD).map((problem) => ({ ...problem })),
    hint: 'a line is {"say"?: .., "calls"?: [{"name": .., "arguments": ..}], "usage"?: .., "stop"?: ..}',
  });
}

/** For what calls no model: looking, replaying, cancelling. */
export const NO_MODEL: ChatModel = {
  identity: { provider: "none", name: "none" },
  reply: () => Promise.reject(new RoteError("internal_error", "No model is to be asked here.")),
};
