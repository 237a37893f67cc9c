import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sdkChatModel } from "../../../src/app/llm.ts";
import {
  completion,
  json,
  type ProviderServer,
  providerServer,
} from "../../support/provider-server.ts";

const REQUEST = {
  messages: [{ role: "user", content: "hello" }],
  tools: [],
  maxOutputTokens: null,
  answerSchema: null,
} as const;
const identity = { provider: "own", name: "m" };

let server: ProviderServer;
beforeAll(async () => {
  server = await providerServer();
});
afterAll(() => server.close());

it("any model of the SDK that speaks a known wire is a chat model", async () => {
  server.answers(json(completion({ content: "hi" })));
  const model = sdkChatModel({
    identity,
    wire: "openai",
    model: (fetch) =>
      createOpenAICompatible({
        name: "own",
        baseURL: server.url,
        headers: { "x-own": "1" },
        fetch,
      })("m"),
  });
  expect(await model.reply(REQUEST)).toMatchObject({ content: "hi", stop: "end" });
  expect(server.received[0]?.headers["x-own"]).toBe("1");
});

it("a model of another version of the SDK is refused before anything is sent", async () => {
  const model = sdkChatModel({
    identity,
    wire: "openai",
    model: () => ({
      specificationVersion: "v4",
      doGenerate: () => Promise.resolve({ content: "x" }),
    }),
  });
  await expect(model.reply(REQUEST)).rejects.toMatchObject({
    code: "bad_model",
    message: "own:m is a model of another version of the AI SDK (v4, expected v3)",
  });
});

it("a model that makes no request, or two, gives no reply of its own making", async () => {
  const idle = sdkChatModel({
    identity,
    wire: "openai",
    model: () => ({
      specificationVersion: "v3",
      doGenerate: () => Promise.resolve({ content: "made up" }),
    }),
  });
  await expect(idle.reply(REQUEST)).rejects.toMatchObject({
    data: { kind: "refused", retry: false },
  });
  server.answers(json(completion({ content: "first" })), json(completion({ content: "second" })));
  const twice = sdkChatModel({
    identity,
    wire: "openai",
    model: (fetch) => ({
      specificationVersion: "v3",
      async doGenerate() {
        for (const body of ["{}", "{}"]) {
          await fetch(server.url, { method: "POST", body }).catch(() => undefined);
        }
      },
    }),
  });
  expect((await twice.reply(REQUEST)).content).toBe("first");
  expect(server.received).toHaveLength(1);
});

it("no key is sent over TLS where the environment switches certificates off", async () => {
  let connections = 0;
  const listener = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address() as AddressInfo;
  const model = sdkChatModel({
    identity,
    wire: "openai",
    model: (fetch) =>
      createOpenAICompatible({ name: "own", baseURL: `HTTPS://127.0.0.1:${port}`, fetch })("m"),
  });
  const before = process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
  process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
  try {
    await expect(model.reply(REQUEST)).rejects.toMatchObject({
      code: "provider_error",
      message: expect.stringContaining("NODE_TLS_REJECT_UNAUTHORIZED=0") as unknown,
      data: { kind: "refused" },
    });
  } finally {
    if (before === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
    else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = before;
    await new Promise((resolve) => listener.close(resolve));
  }
  expect(connections).toBe(0);
});
