/** What the model is told of its tools: from the definitions that the journal keeps, so that it is the same later on. */
import type { Digest } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import { type JsonValue, readJson } from "../base/json.ts";
import { TAGS } from "../base/tags.ts";
import type { AgentTool } from "../model/agent.ts";
import type { ChatTool } from "../ports/chat-model.ts";
import type { Journal } from "../ports/journal.ts";
import { toolsDigest } from "./conversation.ts";

const TAG = `${TAGS.tool}\n`;

export interface Offered {
  readonly tools: readonly ChatTool[];
  readonly offered: Digest;
}

/** @throws RoteError `journal_damaged` */
export function offeredTools(journal: Journal, tools: readonly AgentTool[]): Offered {
  const told = tools.map((tool) => toldOf(journal, tool));
  return { tools: told, offered: toolsDigest(told) };
}

function toldOf(journal: Journal, { name, definition }: AgentTool): ChatTool {
  const bytes = journal.blob(definition.slice("sha256:".length));
  const text = bytes === undefined ? "" : Buffer.from(bytes).toString();
  const read = text.startsWith(TAG)
    ? readJson(text.slice(TAG.length), { numbers: "finite", maxDepth: 600 })
    : undefined;
  if (read?.ok !== true) {
    throw new RoteError("journal_damaged", `The definition of the tool ${name} is not kept.`, {
      tool: name,
      definition,
    });
  }
  const { description, input_schema: inputSchema } = read.value as {
    readonly [member: string]: JsonValue;
  };
  return { name, description: String(description), inputSchema: inputSchema ?? {} };
}
