import { inspect } from "node:util";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openChatModel } from "../../../src/app/llm.ts";
import { RoteError } from "../../../src/base/error.ts";
import { namedChat, readModelName, type Variables } from "../../../src/llm/providers.ts";
import { showing } from "../../../src/llm/shown.ts";
import { manualClock } from "../../support/manual-clock.ts";
import {
  completion,
  json,
  type ProviderServer,
  providerServer,
} from "../../support/provider-server.ts";

const REQUEST = {
  messages: [{ role: "user", content: "hello" }],
  tools: [],
  maxOutputTokens: 5,
  answerSchema: null,
} as const;

let server: ProviderServer;
beforeAll(async () => {
  server = await providerServer();
});
afterAll(() => server.close());

async function thrown(work: Promise<unknown>): Promise<RoteError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof RoteError)) throw new Error("no RoteError", { cause: error });
  return error;
}

const open = (name: string, variables: Variables) =>
  namedChat(name, variables, {}, { clock: manualClock(), fetch });
const hole = (name: string) => `\${${name}}`;
const codeOf = async (name: string, variables: Variables) =>
  (await thrown(open(name, variables))).code;

describe("a model by name", () => {
  it("has its provider before the first colon, and the rest as its name (B074)", () => {
    expect(readModelName("openai:ft:m:org")).toEqual({ provider: "openai", name: "ft:m:org" });
    expect(readModelName("ollama:qwen3:8b")).toEqual({ provider: "ollama", name: "qwen3:8b" });
  });

  it("is refused when it names no provider or no model, and says which there are (B074)", async () => {
    for (const name of ["default", "default:default", "", "openai:", "openai: ", "nosuch:m"]) {
      expect(await codeOf(name, { OPENAI_API_KEY: "sk-test-0123456789" })).toBe("bad_model");
    }
    const { message } = await thrown(open("opanai:m", {}));
    expect(message).toContain('no provider "opanai"');
    expect(message).toContain("anthropic, ollama, openai, openai-compatible");
    expect(message).toContain("did you mean openai?");
  });

  it("needs its key where the provider does, and names the variable", async () => {
    const error = await thrown(open("anthropic:claude", { OPENAI_API_KEY: "sk-test-0123456789" }));
    expect(error.code).toBe("model_key_missing");
    expect(error.data["variable"]).toBe("ANTHROPIC_API_KEY");
  });

  it("never uses a variable that still has a placeholder, or says more than an origin and path (B073)", async () => {
    const key = "sk-test-0123456789";
    for (const bad of [hole("MISSING"), `Bearer-${hole("X:-y")}`, "with space", "line\nfeed"]) {
      expect(await codeOf("openai:m", { OPENAI_API_KEY: bad })).toBe("bad_model");
    }
    for (const bad of [
      `https://${hole("HOST")}/v1`,
      "ftp://example.org",
      "example.org",
      "https://user:pw@example.org/v1",
      "https://example.org/v1?key=1",
      "http://example.org/v1",
    ]) {
      const variables = { OPENAI_API_KEY: key, OPENAI_BASE_URL: bad };
      const error = await thrown(open("openai:m", variables));
      expect(error.code).toBe("bad_model");
      expect(error.message).not.toContain(key);
    }
    expect(await codeOf("openai-compatible:m", {})).toBe("bad_model");
  });

  it("may be local, without a key and without anybody's agreeing to a cost", async () => {
    server.answers(
      json(
        completion(
          {
            content: "",
            tool_calls: [
              {
                id: "call_0",
                index: 0,
                type: "function",
                function: { name: "a", arguments: "{}" },
              },
            ],
          },
          {
            finish: "tool_calls",
            usage: { prompt_tokens: 26, completion_tokens: 8, total_tokens: 34 },
            system_fingerprint: "fp_ollama",
          },
        ),
      ),
    );
    const model = await openChatModel("ollama:qwen3:8b", {
      variables: { OLLAMA_BASE_URL: `${server.url}/v1/` },
    });
    expect(await model.reply(REQUEST)).toMatchObject({
      stop: "calls",
      calls: [{ id: "call_0", name: "a", arguments: "{}" }],
      usage: { input_tokens: 26, output_tokens: 8, cached_input_tokens: null },
    });
    expect(server.received[0]?.headers["authorization"]).toBeUndefined();
    expect(server.received[0]?.body).toMatchObject({ model: "qwen3:8b", max_tokens: 5 });
    expect(model.identity).toEqual({ provider: "ollama", name: "qwen3:8b" });
  });

  it("takes the URL of Anthropic with and without its version", async () => {
    for (const url of [server.url, `${server.url}/v1`, `${server.url}/anthropic`]) {
      server.answers(json({ error: { message: "no" } }, { status: 400 }));
      const variables = { ANTHROPIC_API_KEY: "sk-ant-0123456789", ANTHROPIC_BASE_URL: url };
      await thrown((await open("anthropic:claude-sonnet-5-5", variables)).reply(REQUEST));
      const path = url.endsWith("/anthropic") ? "/anthropic/v1/messages" : "/v1/messages";
      expect(server.received[0]?.path).toBe(path);
    }
  });
});

describe("a key", () => {
  const KEY = "sk-proj-Zq58f0c2Ab_9/+x";

  it("is in no message, data, cause or property of an error, whatever the provider echoes (B120)", async () => {
    const echoes = [
      KEY,
      `Bearer ${KEY}`,
      Buffer.from(KEY).toString("base64"),
      encodeURIComponent(KEY),
      `${KEY.slice(0, 12)}...`,
      `...${KEY.slice(-8)}`,
    ];
    const model = await open("openai:m", {
      OPENAI_API_KEY: KEY,
      OPENAI_BASE_URL: `${server.url}/v1`,
    });
    expect(inspect(model, { depth: 9, showHidden: true })).not.toContain(KEY);
    for (const echo of echoes) {
      for (const status of [200, 401, 500]) {
        server.answers(
          json({ error: { message: `the key ${echo} is wrong`, code: echo } }, { status }),
        );
        const error = await thrown(model.reply(REQUEST));
        const told = inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error.data);
        expect(error.message).toContain("[key]");
        expect(told).not.toContain(echo);
        expect(told).not.toContain("authorization");
      }
    }
  });

  it("is not repeated when it is given in place of a model's name", async () => {
    for (const text of [KEY, `openai:${KEY}\${x}`, `openai: ${KEY}`, `${KEY}${KEY}`]) {
      const { code, message } = await thrown(open(text, { OPENAI_API_KEY: KEY }));
      expect([code, message.includes(KEY.slice(4, 12))]).toEqual(["bad_model", false]);
      expect(message).toContain("[key]");
    }
  });

  it("is hidden in any text, and no six characters of it are left", () => {
    const shown = showing([KEY]);
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.nat(KEY.length - 6), (before, after, from) => {
        const told = shown(before + KEY.slice(from) + after);
        for (let at = 0; at + 6 <= KEY.length; at += 1) {
          expect(told).not.toContain(KEY.slice(at, at + 6));
        }
      }),
    );
  });

  it("does not make messages longer than they may be, or cut one in half a character (B122)", () => {
    const shown = showing([]);
    expect(shown(`${"x".repeat(298)}😀${"y".repeat(50)}`)).toBe(`${"x".repeat(298)}…`);
    expect(shown("a\u0000b\u202ec\n\td")).toBe("a\ufffdb\ufffdc\ufffdd");
  });
});

describe("what a model costs", () => {
  const variables = () => ({ OPENAI_API_KEY: "sk-test-0123456789", OPENAI_BASE_URL: server.url });

  it("has to be agreed to before the first request", async () => {
    server.answers(json(completion({ content: "x" })));
    const unagreed = openChatModel("openai:m", { variables: variables() });
    expect((await thrown(unagreed)).code).toBe("cost_not_accepted");
    expect(server.received).toHaveLength(0);
    const agreed = await openChatModel("openai:m", { variables: variables(), acceptCost: true });
    expect((await agreed.reply(REQUEST)).content).toBe("x");
  });

  it("is told as an upper bound where prices and the size of the run are known", async () => {
    const prices = {
      version: 1,
      currency: "USD",
      models: { "openai:m": { input: "0.30", output: "1.20" } },
    } as const;
    const bound = { calls: 108, inputTokensPerCall: 2048, outputTokensPerCall: 2048 };
    const opening = openChatModel("openai:m", { variables: variables(), prices, bound });
    const { message } = await thrown(opening);
    expect(message).toContain("at most 0.331776 USD (upper-bound estimate, not a bill)");
  });

  it("need not be agreed to when the user states that the model is free", async () => {
    const free = { input: "0", output: "0.00" };
    const prices = { version: 1, currency: "EUR", models: { "openai:m": free } } as const;
    server.answers(json(completion({ content: "x" })));
    const model = await openChatModel("openai:m", { variables: variables(), prices });
    expect((await model.reply(REQUEST)).content).toBe("x");
  });
});
