/**
 * Models by name, `provider:model`, with what they need taken from environment variables. A key goes into requests and
 * nowhere else.
 */
import { RoteError } from "../base/error.ts";
import { nearest } from "../base/text.ts";
import type { ChatModel } from "../ports/chat-model.ts";
import type { Fetch } from "./exchange.ts";
import { type ChatPorts, type SdkChatOptions, sdkChat, type WireName } from "./sdk-chat.ts";
import { hiding } from "./shown.ts";

export type Variables = { readonly [name: string]: string | undefined };

export interface ProviderFacts {
  readonly wire: WireName;
  /** The optional package that speaks to it. */
  readonly package: "@ai-sdk/anthropic" | "@ai-sdk/openai-compatible";
  readonly key: { readonly variable: string; readonly required: boolean };
  readonly url: { readonly variable: string; readonly default: string | null };
  /** Whether its tokens are paid for, as far as one can tell by its name. */
  readonly paid: boolean;
}

export const PROVIDERS = {
  anthropic: {
    wire: "anthropic",
    package: "@ai-sdk/anthropic",
    key: { variable: "ANTHROPIC_API_KEY", required: true },
    url: { variable: "ANTHROPIC_BASE_URL", default: "https://api.anthropic.com/v1" },
    paid: true,
  },
  ollama: {
    wire: "openai",
    package: "@ai-sdk/openai-compatible",
    key: { variable: "OLLAMA_API_KEY", required: false },
    url: { variable: "OLLAMA_BASE_URL", default: "http://127.0.0.1:11434/v1" },
    paid: false,
  },
  openai: {
    wire: "openai",
    package: "@ai-sdk/openai-compatible",
    key: { variable: "OPENAI_API_KEY", required: true },
    url: { variable: "OPENAI_BASE_URL", default: "https://api.openai.com/v1" },
    paid: true,
  },
  "openai-compatible": {
    wire: "openai",
    package: "@ai-sdk/openai-compatible",
    key: { variable: "OPENAI_COMPATIBLE_API_KEY", required: false },
    url: { variable: "OPENAI_COMPATIBLE_BASE_URL", default: null },
    paid: true,
  },
} as const satisfies { readonly [name: string]: ProviderFacts };

export type ProviderName = keyof typeof PROVIDERS;

export function isProvider(name: string): name is ProviderName {
  return Object.hasOwn(PROVIDERS, name);
}

export type NamedOptions = Pick<SdkChatOptions, "timeoutMs" | "maxResponseBytes" | "fetch">;

/**
 * @throws RoteError `bad_model` `model_key_missing` `package_missing`: nothing was sent
 */
export async function namedChat(
  text: string,
  variables: Variables,
  options: NamedOptions,
  ports: ChatPorts,
): Promise<ChatModel> {
  const { provider, name } = readModelName(text, keysIn(variables));
  const facts: ProviderFacts = PROVIDERS[provider];
  const key = keyOf(provider, facts, variables);
  const url = urlOf(facts, variables, key !== undefined);
  const make = await MAKERS[facts.package](provider, facts, url, key);
  return sdkChat(
    {
      ...options,
      identity: { provider, name },
      model: (fetch) => make(name, fetch),
      wire: facts.wire,
      secrets: key === undefined ? [] : [key],
    },
    ports,
  );
}

/**
 * The provider is what stands before the first colon; the rest is the model's name, colons and all. One of the `keys`,
 * given in place of a name, is not repeated.
 */
export function readModelName(
  text: string,
  keys: readonly string[] = [],
): { readonly provider: ProviderName; readonly name: string } {
  const told = (part: string) => quoted(hiding(keys)(part));
  const split = text.indexOf(":");
  const provider = split < 0 ? text : text.slice(0, split);
  const name = split < 0 ? "" : text.slice(split + 1);
  if (!isProvider(provider)) {
    const close = nearest(provider, Object.keys(PROVIDERS));
    const hint = close === undefined ? "" : `; did you mean ${close}?`;
    throw bad(
      `${told(text)}: there is no provider ${told(provider)}; there are ${Object.keys(PROVIDERS).join(", ")}${hint}`,
    );
  }
  if (name.trim() === "" || name !== name.trim() || name.includes("${")) {
    throw bad(`${told(text)} names no model; write provider:model`);
  }
  return { provider, name };
}

/** Of all providers: nobody knows which one was meant. */
function keysIn(variables: Variables): readonly string[] {
  return Object.values(PROVIDERS).flatMap(({ key }) => variables[key.variable] ?? []);
}

function keyOf(
  provider: ProviderName,
  { key: { variable, required } }: ProviderFacts,
  variables: Variables,
): string | undefined {
  const key = variables[variable];
  if (key === undefined || key === "") {
    if (!required) return undefined;
    throw new RoteError("model_key_missing", `models of ${provider} need a key in ${variable}`, {
      variable,
      hint: `set ${variable}`,
    });
  }
  if (key.includes("${")) throw bad(`${variable} still has a placeholder in it`);
  if (!/^[\x21-\x7e]+$/.test(key)) throw bad(`${variable} has characters that no key has`);
  return key;
}

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

function urlOf(facts: ProviderFacts, variables: Variables, withKey: boolean): string {
  const { variable } = facts.url;
  const text = variables[variable] || facts.url.default;
  if (text === null) throw bad(`${variable} must say where the models are`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || text.includes("${")) {
    throw bad(`${variable} is no http or https URL`);
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw bad(`${variable} has more in it than origin and path`);
  }
  if (withKey && url.protocol === "http:" && !LOOPBACK.includes(url.hostname)) {
    throw bad(`${variable} would send the key unencrypted; use https`);
  }
  const base = url.href.replace(/\/+$/, "");
  // Anthropic's own clients are given the URL without the version, the SDK with it.
  return facts.wire === "anthropic" && !/\/v\d+$/.test(base) ? `${base}/v1` : base;
}

type Make = (name: string, fetch: Fetch) => ReturnType<SdkChatOptions["model"]>;

/** Each loads its package when a model of it is first named. */
const MAKERS: {
  readonly [name in ProviderFacts["package"]]: (
    provider: ProviderName,
    facts: ProviderFacts,
    baseURL: string,
    apiKey: string | undefined,
  ) => Promise<Make>;
} = {
  async "@ai-sdk/anthropic"(provider, facts, baseURL, apiKey) {
    const { createAnthropic } = await load(provider, facts, () => import("@ai-sdk/anthropic"));
    return (name, fetch) => createAnthropic({ baseURL, apiKey: apiKey ?? "", fetch })(name);
  },
  async "@ai-sdk/openai-compatible"(provider, facts, baseURL, apiKey) {
    const { createOpenAICompatible } = await load(
      provider,
      facts,
      () => import("@ai-sdk/openai-compatible"),
    );
    return (name, fetch) =>
      createOpenAICompatible({
        name: "openai-compatible",
        baseURL,
        fetch,
        supportsStructuredOutputs: true,
        ...(apiKey === undefined ? {} : { apiKey }),
        ...(provider === "openai" ? { transformRequestBody: withNewLimit } : {}),
      })(name);
  },
};

/** OpenAI's newer models refuse the old name of the limit; its older ones take the new one. */
function withNewLimit({ max_tokens: limit, ...body }: Record<string, unknown>) {
  return limit === undefined ? body : { ...body, max_completion_tokens: limit };
}

async function load<T>(
  provider: ProviderName,
  { package: name }: ProviderFacts,
  importing: () => Promise<T>,
): Promise<T> {
  try {
    return await importing();
  } catch (error) {
    throw new RoteError(
      "package_missing",
      `models of ${provider} need the package ${name}, which is not installed`,
      { hint: `npm install ${name}` },
      error,
    );
  }
}

function bad(message: string): RoteError {
  return new RoteError("bad_model", message);
}

/** A key that nobody told us of is not repeated whole either, where it is as long as most are. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 20)}…` : text);
}
