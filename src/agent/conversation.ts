/** What the model is shown: messages in order, and the request that is made of them. */
import { canonicalBytes } from "../base/canonical.ts";
import { type Digest, digestBytes, digestOf } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import { TAGS } from "../base/tags.ts";
import type { AgentStart } from "../model/agent.ts";
import type { ChatMessage } from "../model/chat.ts";
import type { ChatTool } from "../ports/chat-model.ts";
import { grow, grown } from "./grown.ts";
import type { Conversation } from "./state.ts";

export function begun({ instructions, recalled, goal }: AgentStart): Conversation {
  const system = [instructions, recalled].flatMap((content): readonly ChatMessage[] =>
    content === null ? [] : [{ role: "system", content }],
  );
  return [...system, { role: "user", content: goal } as const].reduce(said, {
    messages: grown<ChatMessage>(),
    digest: digestOf(TAGS.conversation, null),
  });
}

export function said({ messages, digest }: Conversation, message: ChatMessage): Conversation {
  return {
    messages: grow(messages, message),
    digest: digestBytes(TAGS.conversation, linked(digest, message)),
  };
}

function linked(before: Digest, message: ChatMessage): Uint8Array {
  return Buffer.concat([Buffer.from(`${before}\n`), canonicalBytes(message as JsonValue)]);
}

/**
 * Of everything that the model is asked with: a recorded reply answers this request and no other. `tools` is the digest
 * of what it is told of its tools.
 */
export function requestDigest(
  { digest }: Conversation,
  tools: Digest,
  maxOutputTokens: number | null,
): Digest {
  return digestOf(TAGS.request, {
    conversation: digest,
    tools,
    max_output_tokens: maxOutputTokens,
  });
}

export function toolsDigest(tools: readonly ChatTool[]): Digest {
  return digestOf(
    TAGS.offered,
    tools.map(({ name, description, inputSchema }) => ({ name, description, schema: inputSchema })),
  );
}
