/** The model behind an agent's command: a script. */
import { basename } from "node:path";
import { scriptedAgent } from "../app/agent-model.ts";
import type { ChatModel } from "../ports/chat-model.ts";
import { fault, usageFault } from "./fault.ts";
import { readDocument } from "./files.ts";
import { type Call, textOption } from "./spec.ts";

const MAX_SCRIPT_BYTES = 67_108_864;

/** @throws RoteError `bad_usage` `bad_script` `bad_encoding` */
export async function agentModel({ options, terminal, command }: Call): Promise<ChatModel> {
  const file = textOption(options, "script");
  if (file === undefined) {
    throw usageFault(`rote ${command} needs a model`, "give its replies with --script FILE.jsonl");
  }
  const bytes = await readDocument(file, "script", MAX_SCRIPT_BYTES, terminal);
  return scriptedAgent(textOf(bytes, file), basename(file));
}

function textOf(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw fault("bad_encoding", `script ${file} is not UTF-8`, "save the file as UTF-8", { file });
  }
}
