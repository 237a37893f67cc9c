/** `rote agent` with a provider's model: one environment variable, and somebody's agreement to the cost. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  completion,
  json,
  type ProviderServer,
  providerServer,
} from "../../support/provider-server.ts";
import { AT, HostFolder } from "./host-folder.ts";
import { rote } from "./rote.ts";

const KEY = "sk-test-Zq58f0c2Ab9x";
const MODEL = ["--model", "openai:gpt-test"] as const;
const PRICES = {
  version: 1,
  currency: "USD",
  models: { "openai:gpt-test": { input: "3", output: "15" } },
};

let server: ProviderServer;
let folder: HostFolder;
beforeAll(async () => {
  server = await providerServer();
});
afterAll(() => server.close());
beforeEach(() => {
  folder = new HostFolder();
  folder.write("prices.json", PRICES);
  const usage = { prompt_tokens: 1000, completion_tokens: 100 };
  const asked = { name: "bank_balance", arguments: '{"account":"7"}' };
  server.answers(
    json(
      completion(
        { content: null, tool_calls: [{ id: "a", type: "function", function: asked }] },
        { finish: "tool_calls", usage },
      ),
    ),
    json(completion({ content: "It has 1000." }, { usage })),
  );
});
afterEach(() => folder.remove());

async function agent(...words: readonly string[]) {
  const environment = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${server.url}/v1` };
  const ended = await rote(["agent", ...words, ...AT, "--json"], {
    cwd: folder.path,
    environment,
  });
  const document = JSON.parse(ended.stdout) as Record<string, unknown> & { run: string };
  return { ...document, stderr: ended.stderr };
}

const start = (...words: readonly string[]) =>
  agent("run", "Look at account 7", ...MODEL, ...words);

describe("rote agent with a provider's model", () => {
  it("works with its key in the environment, and tells what the run cost", async () => {
    const done = await start("--accept-cost");
    expect(done).toMatchObject({ exit_code: 0, state: "completed", output: "It has 1000." });
    expect(server.received.map(({ headers }) => headers["authorization"])).toEqual([
      `Bearer ${KEY}`,
      `Bearer ${KEY}`,
    ]);
    const inspected = await agent("inspect", done.run, "--prices", "prices.json");
    expect(inspected).toMatchObject({
      model: { provider: "openai", name: "gpt-test" },
      cost: { currency: "USD", amount: "0.009", unknown: [] },
    });
    const text = await folder.rote("agent", "inspect", done.run, ...AT, "--prices", "prices.json");
    expect(text.stdout).toMatch(/^cost {5}0\.009 USD$/m);
    for (const told of [done, inspected, text]) expect(JSON.stringify(told)).not.toContain(KEY);
  });

  it("asks nothing, and starts no run, before somebody agrees to the cost", async () => {
    const bound = ["--prices", "prices.json", "--context-tokens", "8000"] as const;
    const limits = ["--limit", "max_steps=10", "--limit", "max_reply_tokens=500"] as const;
    expect(await start(...bound, ...limits)).toMatchObject({
      exit_code: 1,
      error: {
        code: "cost_not_accepted",
        message: expect.stringContaining("at most 0.945 USD (upper-bound estimate, not a bill)"),
        hint: "agree to the cost with --accept-cost",
      },
    });
    expect(server.received).toEqual([]);
    expect(await agent("list")).toMatchObject({ runs: [] });
    const agreed = await start(...bound, ...limits, "--accept-cost");
    expect(agreed.stderr).toContain("at most 0.945 USD (upper-bound estimate, not a bill)");
  });

  it("says what is missing before anything is sent", async () => {
    const without = await folder.json("agent", "run", "Look", ...AT, ...MODEL, "--accept-cost");
    expect(without).toMatchObject({ exit_code: 1, error: { code: "model_key_missing" } });
    const unknown = await folder.json("agent", "run", "Look", ...AT, "--model", "nosuch:m");
    expect(unknown).toMatchObject({ exit_code: 1, error: { code: "bad_model" } });
    const both = await start("--script", "x.jsonl");
    expect(both).toMatchObject({ exit_code: 2, error: { code: "bad_usage" } });
    const half = await start("--context-tokens", "8000");
    expect(half).toMatchObject({ exit_code: 2, error: { code: "bad_usage" } });
    expect(server.received).toEqual([]);
  });
});
