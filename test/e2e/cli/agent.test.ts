/** `rote agent`: an agent from its goal to its transcript, on the command line. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AT, as, HostFolder, STORE } from "./host-folder.ts";
import { Working } from "./rote.ts";

let folder: HostFolder;
beforeEach(() => {
  folder = new HostFolder();
});
afterEach(() => folder.remove());

const call = (name: string, args: object) => JSON.stringify({ calls: [{ name, arguments: args }] });
const READ = call("bank.balance", { account: "7" });
const PAY = call("bank.pay", { account: "7", amount: "50", currency: "EUR" });
const SAY = JSON.stringify({ say: "Paid 50." });
const SCRIPT = ["--script", "script.jsonl"] as const;

function scripted(...lines: readonly string[]): void {
  folder.write("script.jsonl", `${lines.join("\n")}\n`);
}

const start = (...words: readonly string[]) =>
  folder.json("agent", "run", "Pay 50 from account 7", ...AT, ...SCRIPT, ...words);

const decide = (nonce: string) =>
  folder.rote("approvals", "approve", nonce, ...STORE, ...as("alice"), "--out", "decision.json");

describe("rote agent", () => {
  it("waits for a person, goes on, is told, replayed and exported", async () => {
    scripted(READ, PAY, SAY);
    const waits = await start();
    expect(waits).toMatchObject({ exit_code: 8, state: "approval_pending", output: null });
    expect(waits.requests[0].text).toContain("bank.pay");
    expect(folder.ledger()).toEqual([]);
    await decide(waits.requests[0].nonce);
    const resume = ["agent", "resume", waits.run, ...AT] as const;
    const done = await folder.json(...resume, ...SCRIPT, "--approval", "decision.json");
    expect(done).toMatchObject({ exit_code: 0, state: "completed", output: "Paid 50." });
    expect(folder.ledger()).toEqual(["7 50"]);
    expect(await folder.json(...resume)).toMatchObject({ exit_code: 0, output: "Paid 50." });

    const inspected = await folder.rote("agent", "inspect", waits.run, ...AT);
    expect(inspected.code).toBe(0);
    for (const line of [
      /^now {6}completed: /m,
      /^why {6}completed: /m,
      /^repeats {2}1 identical call in a row at most, of 3 that end it/m,
      /^go on {4}no: it has ended$/m,
      /^replay {3}yes, without a model: 3 replies and 2 results on record$/m,
      /^ +1 +2 +bank\.pay +done +1$/m,
    ]) {
      expect(inspected.stdout).toMatch(line);
    }
    const replayed = await folder.json("agent", "replay", waits.run, ...AT);
    expect(replayed).toMatchObject({ exit_code: 0, output: "Paid 50.", replies: 3, results: 2 });
    const other = await folder.json("agent", "replay", waits.run, ...AT, "--goal", "Pay 60");
    expect(other).toMatchObject({ exit_code: 1, error: { code: "replay_miss" } });
    const exported = await folder.json("agent", "export", waits.run, ...AT, "--out", "t.jsonl");
    expect(exported).toMatchObject({ exit_code: 0, tool_calls: 2 });
    expect(statSync(join(folder.path, "t.jsonl")).mode & 0o077).toBe(0);
    const lines = readFileSync(join(folder.path, "t.jsonl"), "utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { type: "rote-transcript/v1", final: "Paid 50.", mutations: ["bank.pay"], verified: false },
    ]);
    const listed = await folder.json("agent", "list", ...AT);
    expect(listed.runs).toMatchObject([
      { run: waits.run, goal: "Pay 50 from account 7", state: "completed", steps: 3 },
    ]);
    const shown = await folder.rote("runs", "show", waits.run, ...AT);
    expect(shown.stdout).toMatch(/^mode {5}agent$/m);
    expect(shown.stdout).not.toContain("undefined");
    await folder.rote("export", "--host", "host.mjs", "--out", "bundle");
    const audit = await folder.json("audit", "bundle", "--trust", "trust.json");
    expect(audit).toMatchObject({ exit_code: 0 });
  });

  it("shows effects of one turn as one request, which one word approves or rejects", async () => {
    const paid = ["50", "60"].map((amount) => ({
      name: "bank.pay",
      arguments: { account: "7", amount, currency: "EUR" },
    }));
    scripted(JSON.stringify({ calls: paid }), SAY);
    const rejected = await start();
    const [{ nonce, operations }] = rejected.requests;
    expect([rejected.requests.length, operations.length]).toEqual([1, 2]);
    const shown = await folder.rote("approvals", "show", nonce, ...STORE);
    expect(shown.stdout).toMatch(/^asks {4}approval of 2 operations at step-1/m);
    expect(shown.stdout).toMatch(/"amount": *"50".*"amount": *"60"/s);
    const listed = await folder.json("approvals", "list", ...STORE);
    expect(listed.requests).toMatchObject([{ nonce, operations, status: "waiting" }]);
    await folder.rote("approvals", "reject", nonce, ...STORE, ...as("alice"));
    const told = await folder.json("agent", "resume", rejected.run, ...AT, ...SCRIPT);
    expect(told).toMatchObject({ exit_code: 4, reason: "approval_rejected" });
    expect(folder.ledger()).toEqual([]);
    const waits = await start();
    await folder.rote("approvals", "approve", waits.requests[0].nonce, ...STORE, ...as("alice"));
    const done = await folder.json("agent", "resume", waits.run, ...AT, ...SCRIPT);
    expect(done).toMatchObject({ exit_code: 0, output: "Paid 50." });
    expect(folder.ledger()).toEqual(["7 50", "7 60"]);
  });

  it("ends with the code of its reason, and never with 0 by a limit (B037, B038)", async () => {
    scripted(READ.replace("}]}", '}], "repeat": true}'));
    const limit = ["--limit", "repeated_action=2"] as const;
    expect(await start(...limit)).toMatchObject({ exit_code: 5, reason: "repeated_action" });
    const text = await folder.rote("agent", "run", "Look", ...AT, ...SCRIPT, ...limit);
    expect(text.code).toBe(5);
    expect(text.stdout).toMatch(/^state {3}stopped \(repeated_action\)$/m);
    expect(text.stdout).toMatch(/^hint: Read what the call answers/m);
    scripted(JSON.stringify({ say: "cut", stop: "length" }));
    expect(await start()).toMatchObject({ exit_code: 6, reason: "invalid_model_response" });
    scripted(PAY, SAY);
    const waits = await start();
    const cancelled = await folder.json("agent", "cancel", waits.run, ...AT);
    expect(cancelled).toMatchObject({ exit_code: 0, state: "cancelled" });
    const again = await folder.json("agent", "cancel", waits.run, ...AT);
    expect(again).toMatchObject({ exit_code: 1, error: { code: "run_ended" } });
  });

  it("says what is wrong with a command line, a script, a run", async () => {
    const without = await folder.json("agent", "run", "Pay", ...AT);
    expect(without).toMatchObject({ exit_code: 2, error: { code: "bad_usage" } });
    scripted('{"say": 5}', "{");
    const bad = await start();
    expect(bad).toMatchObject({ exit_code: 1, error: { code: "bad_script" } });
    scripted(SAY);
    expect(await start("--limit", "max_stepz=3")).toMatchObject({ exit_code: 2 });
    expect(await start("--tool", "bank.rob")).toMatchObject({ error: { code: "tool_missing" } });
    for (const command of ["inspect", "resume", "cancel", "replay", "export"]) {
      const unknown = await folder.json("agent", command, "run-none", ...AT);
      expect(unknown).toMatchObject({ exit_code: 1, error: { code: "unknown_run" } });
    }
    const recipe = await folder.start("7");
    const taken = await folder.json("agent", "inspect", recipe.run, ...AT);
    expect(taken).toMatchObject({ exit_code: 1, error: { code: "other_kind" } });
    const agent = await start();
    const other = await folder.json("runs", "resume", agent.run, ...AT);
    expect(other).toMatchObject({ exit_code: 1, error: { code: "other_kind" } });
  });
});

describe("a process with an agent at work in a tool", () => {
  async function heldIn(): Promise<{ readonly working: Working; readonly run: string }> {
    scripted(PAY, SAY);
    const waits = await start();
    await decide(waits.requests[0].nonce);
    folder.behave("held");
    const words = ["agent", "resume", waits.run, ...AT, ...SCRIPT, "--approval", "decision.json"];
    const working = new Working(words, folder.path);
    for (;;) {
      const { state } = await folder.json("agent", "inspect", waits.run, ...AT);
      if (state === "tool_executing") return { working, run: waits.run };
    }
  }

  it("that is killed leaves an uncertain run, and the payment is not made again", async () => {
    const { working, run } = await heldIn();
    working.child.kill("SIGKILL");
    await working.ended;
    folder.behave("");
    const resumed = await folder.json("agent", "resume", run, ...AT, ...SCRIPT);
    expect(resumed).toMatchObject({ exit_code: 7, reason: "uncertain_operation" });
    expect(resumed.uncertain).toHaveLength(1);
    expect(folder.ledger()).toEqual([]);
    expect(await folder.json("agent", "replay", run, ...AT)).toMatchObject({ exit_code: 0 });
  });

  it("that is interrupted lets the tool finish and leaves a paused run, which goes on", async () => {
    const { working, run } = await heldIn();
    const other = await folder.json("agent", "resume", run, ...AT, ...SCRIPT);
    expect(other).toMatchObject({ exit_code: 1, error: { code: "run_busy" } });
    working.child.kill("SIGINT");
    await working.says(/leaving the run/);
    folder.behave("");
    expect(await working.ended).toBe(130);
    expect(working.stdout).toMatch(/^state {3}paused$/m);
    const resumed = await folder.json("agent", "resume", run, ...AT, ...SCRIPT);
    expect(resumed).toMatchObject({ exit_code: 0, output: "Paid 50." });
    expect(folder.ledger()).toEqual(["7 50"]);
  });
});
