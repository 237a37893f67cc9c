/** A model on the chat completions wire, with a server of the tests behind it. */
import { RoteError } from "../../src/base/error.ts";
import { type NamedOptions, namedChat } from "../../src/llm/providers.ts";
import type { ChatReply } from "../../src/model/chat.ts";
import type { ChatModel, ChatRequest } from "../../src/ports/chat-model.ts";
import { manualClock } from "./manual-clock.ts";
import { type Answering, type ProviderServer, providerServer } from "./provider-server.ts";

export const KEY = "sk-test-0123456789abcdef";
export const clock = manualClock();

export function ask(more: Partial<ChatRequest> = {}): ChatRequest {
  return {
    messages: [{ role: "user", content: "hello" }],
    tools: [],
    maxOutputTokens: null,
    answerSchema: null,
    ...more,
  };
}

export interface ChatWire {
  readonly server: ProviderServer;
  readonly model: ChatModel;
  open(this: void, options?: NamedOptions): Promise<ChatModel>;
  replyTo(this: void, answering: Answering, request?: ChatRequest): Promise<ChatReply>;
  /** The data of the `provider_error` that comes of it; anything else is thrown. */
  faultOf(
    this: void,
    answering: Answering,
    asked?: Promise<ChatModel> | ChatModel,
  ): Promise<
    Readonly<Record<string, unknown>> & {
      readonly retryAfterMs?: unknown;
      readonly message: string;
    }
  >;
}

export async function chatWire(): Promise<ChatWire> {
  const server = await providerServer();
  const variables = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${server.url}/v1` };
  const open = (options: NamedOptions = {}) =>
    namedChat("openai:gpt-test", variables, options, { clock, fetch });
  const model = await open();
  return {
    server,
    model,
    open,
    replyTo(answering, request = ask()) {
      server.answers(answering);
      return model.reply(request);
    },
    async faultOf(answering, asked = model) {
      server.answers(answering);
      const error: unknown = await (await asked).reply(ask()).catch((thrown: unknown) => thrown);
      if (!(error instanceof RoteError) || error.code !== "provider_error") throw error;
      const { data, message } = error;
      return { ...data, retryAfterMs: data["retry_after_ms"], message };
    },
  };
}
