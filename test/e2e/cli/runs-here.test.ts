import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PAY_TWICE } from "../../support/pay-twice.ts";
import { AT, HostFolder } from "./host-folder.ts";

let folder: HostFolder;
beforeEach(() => {
  folder = new HostFolder();
});
afterEach(() => folder.remove());

describe("a run at a host", () => {
  it("is cancelled on request, and an ended run is not", async () => {
    const waiting = await folder.start("7");
    const cancelled = await folder.json("runs", "cancel", waiting.run, ...AT);
    expect(cancelled).toMatchObject({ exit_code: 0, state: "cancelled", reason: "user_cancelled" });
    const again = await folder.json("runs", "cancel", waiting.run, ...AT);
    expect(again).toMatchObject({ exit_code: 1, error: { code: "run_ended", state: "cancelled" } });
    const resumed = await folder.json("runs", "resume", waiting.run, ...AT);
    expect(resumed).toMatchObject({ exit_code: 130, state: "cancelled" });
    expect(folder.ledger()).toEqual([]);
  });

  it.each(["show", "resume", "cancel", "reconcile"])(
    "that is not there is unknown to runs %s",
    async (command) => {
      await folder.start("7");
      const more =
        command === "reconcile"
          ? [
              "--found",
              "done",
              "--evidence",
              "x",
              "--key",
              "alice.key",
              "--passphrase-file",
              "passphrase",
            ]
          : [];
      for (const name of ["run-0123456789abcdef0123456789abcdef", "host"]) {
        const document = await folder.json("runs", command, name, ...AT, ...more);
        expect(document).toMatchObject({ exit_code: 1, error: { code: "unknown_run" } });
      }
    },
  );
});

describe("a start under a name (B020)", () => {
  it("happens once: the same again goes on with the first, anything else is a conflict", async () => {
    const first = await folder.start("7", "--once", "july");
    expect(first).toMatchObject({ exit_code: 8, state: "awaiting_approval" });
    const other = await folder.start("8", "--once", "july");
    expect(other).toMatchObject({
      exit_code: 1,
      error: { code: "other_start", run: first.run, differing: ["inputs"] },
    });
    const again = await folder.start("7", "--once", "july");
    expect(again).toMatchObject({ exit_code: 8, run: first.run, again: true });
    expect(again.requests[0].nonce).toBe(first.requests[0].nonce);
    const august = await folder.start("7", "--once", "august");
    expect(august.run).not.toBe(first.run);
    const listed = await folder.json("runs", "list", ...AT);
    expect(listed.runs).toHaveLength(2);
  });
});

describe("memory of a host", () => {
  const ask = {
    version: 1,
    id: "opinion",
    inputs: { account: "text" },
    terminal: "opinion",
    nodes: [
      {
        id: "balance",
        output: { record: { amount: "integer" } },
        step: {
          kind: "read",
          tool: "bank.balance",
          arguments: { op: "record", fields: { account: { input: "account" } } },
        },
      },
      {
        id: "opinion",
        after: ["balance"],
        output: "text",
        step: { kind: "model", prompt: { input: "account" } },
      },
    ],
  };

  beforeEach(() => {
    folder.write("ask.json", ask);
    folder.write("yes.json", true);
    const answers = ["a", "b", "c", "d", "e"].map((account) =>
      JSON.stringify({ node: "opinion", prompt: account, answer: `good ${account}` }),
    );
    folder.write("answers.jsonl", answers.join("\n"));
    folder.write("other.jsonl", '{"node":"opinion","answer":"bad"}');
    const lines = (...accounts: readonly string[]) =>
      accounts.map((account) => JSON.stringify({ account })).join("\n");
    folder.write("training.jsonl", lines("a", "b", "c"));
    folder.write("shadow.jsonl", lines("d"));
  });
  const ASK = ["ask.json", "--verifier", "yes.json", ...AT] as const;

  it("is what runs are observed into; a compiled run whose qualification was taken away ends when it is resumed", async () => {
    for (const phase of ["training", "shadow"]) {
      const words = ["--inputs", `${phase}.jsonl`, "--answers", "answers.jsonl", "--phase", phase];
      expect(await folder.rote("run", ...ASK, ...words)).toMatchObject({ code: 0, stderr: "" });
    }
    const last = ["--input", "account=e", "--answers", "answers.jsonl"];
    const { run } = await folder.json("run", ...ASK, ...last);
    const observed = await folder.json("memory", "observe", run, ...AT, "--phase", "canary");
    expect(observed).toMatchObject({ exit_code: 0, observation: { outcome: "counted" } });
    const twice = await folder.json("memory", "observe", run, ...AT, "--phase", "canary");
    expect(twice).toMatchObject({ exit_code: 1, error: { code: "run_already_observed" } });
    const qualified = await folder.json("memory", "qualify", ...ASK);
    expect(qualified).toMatchObject({ exit_code: 0, qualification: { clean_runs: 5 } });

    const compiled = await folder.json("run", ...ASK, "--input", "account=f");
    expect(compiled).toMatchObject({ exit_code: 8, state: "awaiting_model", mode: "compiled" });
    const early = await folder.json("memory", "observe", compiled.run, ...AT, "--phase", "canary");
    expect(early).toMatchObject({ exit_code: 1, error: { code: "run_not_ended" } });
    const demoted = await folder.json("memory", "demote", ...ASK, "--reason", "test");
    expect(demoted).toMatchObject({ exit_code: 0, demoted: true });
    const answered = ["--answers", "other.jsonl"];
    const ended = await folder.json("runs", "resume", compiled.run, ...AT, ...answered);
    expect(ended).toMatchObject({ exit_code: 4, state: "denied", reason: "not_qualified" });
    const status = await folder.json("memory", "status", ...ASK);
    expect(status.status).toMatchObject({ qualification: null, demotion: { reason: "test" } });
  });

  it("a run that waits for a model is answered in another process, by the model that it was started with", async () => {
    const words = ["--input", "account=f", "--answers", "answers.jsonl"];
    const waiting = await folder.json("run", ...ASK, ...words);
    expect(waiting).toMatchObject({ exit_code: 8, state: "awaiting_model" });
    const resume = ["runs", "resume", waiting.run, ...AT, "--answers"];
    const other = await folder.json(...resume, "other.jsonl");
    expect(other).toMatchObject({ exit_code: 2, error: { code: "bad_usage" } });
    folder.write("answers.jsonl", '{"node":"opinion","prompt":"f","answer":"good f"}');
    const answered = await folder.json(...resume, "answers.jsonl");
    expect(answered).toMatchObject({ exit_code: 0, state: "verified", result: "good f" });
  });
});

describe("a recipe and a host", () => {
  it("binds to the digests of the host, and starts nowhere else", async () => {
    const bound = ["bind", "recipe.json", ...AT, "--out", "bound.json"];
    expect(await folder.json(...bound)).toMatchObject({ exit_code: 0, changed: ["unbound"] });
    const check = ["bind", "bound.json", "--check"];
    expect(await folder.json(...check, ...AT)).toMatchObject({ exit_code: 0, bound: true });
    expect(await folder.json(...check)).toMatchObject({ exit_code: 4, bound: false });
    const started = await folder.json("run", "bound.json", ...AT, "--input", "account=7");
    expect(started).toMatchObject({ exit_code: 8, state: "awaiting_approval" });
    folder.write(
      "elsewhere.json",
      JSON.parse(folder.read("bound.json").replace(/"policy": "./, '"policy": "0')),
    );
    const changed = await folder.json("run", "elsewhere.json", ...AT, "--input", "account=7");
    expect(changed).toMatchObject({ exit_code: 4, error: { code: "environment_changed" } });
    const listed = await folder.json("runs", "list", ...AT);
    expect(listed.runs).toHaveLength(1);
  });

  it("a run is resumed with its own recipe only, from the file or from the journal", async () => {
    const { run } = await folder.start("7");
    folder.write("other.json", { ...PAY_TWICE, title: "another" });
    const other = await folder.json("runs", "resume", run, "other.json", ...AT);
    expect(other).toMatchObject({ exit_code: 1, error: { code: "other_procedure" } });
    for (const recipe of [[], ["recipe.json"]]) {
      const resumed = await folder.json("runs", "resume", run, ...recipe, ...AT);
      expect(resumed).toMatchObject({ exit_code: 8, state: "awaiting_approval" });
    }
  });

  it("many runs are started one after the other, and each waits by itself", async () => {
    folder.write("days.jsonl", '{"account":"1"}\n{"account":"2"}\n');
    const { code, stdout } = await folder.rote(
      ...["run", "recipe.json", ...AT, "--inputs", "days.jsonl", "--json"],
    );
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(code).toBe(8);
    expect(lines.map((line) => line.state ?? line.summary.runs)).toEqual([
      "awaiting_approval",
      "awaiting_approval",
      2,
    ]);
    const listed = await folder.json("runs", "list", ...AT, "--state", "awaiting_approval");
    expect(listed.runs).toHaveLength(2);
  });
});
