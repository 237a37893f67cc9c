/** `rote run --ask`: the boundaries of a procedure are answered by a provider's model. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import {
  type Answering,
  completion,
  json,
  type ProviderServer,
  providerServer,
} from "../../support/provider-server.ts";
import { AT, HostFolder } from "./host-folder.ts";
import { rote } from "./rote.ts";

const RECIPE = {
  version: 1,
  id: "classify",
  inputs: { merchant: "text" },
  terminal: "kind",
  nodes: [
    {
      id: "kind",
      output: { enum: ["travel", "food"] },
      step: { kind: "model", prompt: { input: "merchant" }, instructions: "What is it for?" },
    },
  ],
};

let server: ProviderServer;
let folder: HostFolder;
beforeAll(async () => {
  server = await providerServer();
});
afterAll(() => server.close());
beforeEach(() => {
  folder = new HostFolder();
  folder.write("classify.json", RECIPE);
  folder.write("classify-verifier.json", { op: "equal", left: 1, right: 1 });
});
afterEach(() => folder.remove());

const RUN = ["classify.json", "--verifier", "classify-verifier.json"] as const;
const ASK = ["--model", "ollama:qwen3:8b", "--ask"] as const;
const answer = (content: string): Answering =>
  json(completion({ content }, { usage: { prompt_tokens: 40, completion_tokens: 5 } }));

async function command(...words: readonly string[]) {
  const environment = { OLLAMA_BASE_URL: `${server.url}/v1` };
  const ended = await rote([...words, "--json"], { cwd: folder.path, environment });
  const document = JSON.parse(ended.stdout) as Record<string, unknown>;
  return { ...document, run: String(document["run"]), stderr: ended.stderr };
}

it("a run asks the model, again where that makes sense, and is verified", async () => {
  server.answers(
    json({}, { status: 429, headers: { "retry-after": "0" } }),
    answer('{"answer":"travel"}'),
  );
  const done = await command("run", ...RUN, "--input", "merchant=RAIL", ...ASK);
  expect(done).toMatchObject({
    exit_code: 0,
    state: "verified",
    result: "travel",
    report: { tokens: { input: 40, output: 5 } },
  });
  expect(done.stderr).toContain("ollama:qwen3:8b: the provider answered 429; asked again in");
  expect(server.received).toHaveLength(2);
});

it("a run at a host is gone on with by the model that it was started with, and by no other", async () => {
  server.answers(json({ error: "no such model" }, { status: 404 }));
  const left = await command("run", ...RUN, ...AT, "--input", "merchant=RAIL", ...ASK);
  expect(left).toMatchObject({ state: "awaiting_model", error: { code: "provider_error" } });
  const resume = ["runs", "resume", left.run, ...AT] as const;
  const other = await command(...resume, "--model", "ollama:other", "--ask");
  expect(other).toMatchObject({ exit_code: 2, error: { code: "bad_usage" } });
  server.answers(answer('{"answer":"travel"}'));
  const done = await command(...resume, ...ASK);
  expect(done).toMatchObject({ exit_code: 0, state: "verified", result: "travel" });
});

it("nothing is asked without a name, or before somebody agrees to the cost", async () => {
  server.answers(answer('{"answer":"travel"}'));
  const run = ["run", ...RUN, "--input", "merchant=RAIL"] as const;
  expect(await command(...run, "--ask")).toMatchObject({ exit_code: 2 });
  const environment = { OPENAI_API_KEY: "sk-test-0123456789", OPENAI_BASE_URL: server.url };
  const ended = await rote([...run, "--model", "openai:gpt-test", "--ask"], {
    cwd: folder.path,
    environment,
  });
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain("costs money, and nobody has agreed to that");
  expect(ended.stderr).toContain("hint: agree to the cost with --accept-cost");
  expect(server.received).toEqual([]);
});
