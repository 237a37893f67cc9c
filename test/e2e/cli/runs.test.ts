import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { KEYS } from "../../support/host.ts";
import { AT, as, HostFolder, STORE } from "./host-folder.ts";
import { Working } from "./rote.ts";

let folder: HostFolder;
const started: Working[] = [];
beforeEach(() => {
  folder = new HostFolder();
});
afterEach(() => {
  for (const { child } of started.splice(0)) child.kill("SIGKILL");
  folder.remove();
});

/** A command that goes on beside the test, and not longer than it. */
function working(...words: readonly string[]): Working {
  const one = new Working(words, folder.path);
  started.push(one);
  return one;
}

const types = (document: { entries: readonly { type: string }[] }) =>
  document.entries.map(({ type }) => type);

describe("a run at a host", () => {
  it("waits for approval, prints exactly what is to be approved, and ends with the code of waiting (B038)", async () => {
    const plain = await folder.rote("run", "recipe.json", ...AT, "--input", "account=7");
    expect([plain.code, plain.stderr]).toEqual([8, ""]);
    expect(plain.stdout).toContain("state   awaiting_approval");
    expect(plain.stdout).toMatch(/rote approvals approve \S{22} --host host\.mjs/);
    expect(folder.ledger()).toEqual([]);
    const listed = await folder.json("runs", "list", ...AT);
    expect(listed.runs).toMatchObject([{ recipe: "pay-twice", state: "awaiting_approval" }]);
    const shown = await folder.json("runs", "show", listed.runs[0].run, ...AT);
    expect(plain.stdout).toContain(shown.requests[0].text);
    expect(types(shown)).toEqual(["run_started", "admitted", "receipt", "approval_requested"]);
  });

  it("is approved in a second process, resumed in a third, and does each payment once", async () => {
    folder.remove();
    folder = new HostFolder({ processes: true });
    const waiting = await folder.start("7");
    expect(waiting).toMatchObject({ exit_code: 8, state: "awaiting_approval", stderr: "" });
    const [request] = waiting.requests;
    expect(request.operations).toHaveLength(2);

    const approved = await folder.json(
      "approvals",
      "approve",
      request.nonce,
      ...STORE,
      ...as("alice"),
    );
    expect(approved).toMatchObject({ exit_code: 0, decision: "approve", filed: true });
    expect(folder.ledger()).toEqual([]);

    const resumed = await folder.json("runs", "resume", waiting.run, ...AT);
    expect(resumed).toMatchObject({ exit_code: 0, state: "verified", result: "paid 50+paid 30" });
    expect(resumed.receipts).toHaveLength(3);
    expect(folder.ledger()).toEqual(["7 50", "7 30"]);

    const shown = await folder.json("runs", "show", waiting.run, ...AT);
    expect(shown.state).toBe("verified");
    expect(types(shown)).toEqual([
      "run_started",
      "admitted",
      "receipt",
      "approval_requested",
      "approval_received",
      "run_resumed",
      "approved",
      "admitted",
      "receipt",
      "admitted",
      "receipt",
      "run_ended",
    ]);
    // Said again, not done again.
    const again = await folder.json("runs", "resume", waiting.run, ...AT);
    expect(again).toMatchObject({ exit_code: 0, state: "verified", result: "paid 50+paid 30" });
    expect(folder.ledger()).toHaveLength(2);
  });

  it("with --wait goes on by itself once another process has approved", async () => {
    const waiting = working("run", "recipe.json", ...AT, "--input", "account=7", "--wait");
    const nonce = await waiting.says(/waiting for a decision about request (\S{22})/);
    const { code } = await folder.rote("approvals", "approve", nonce, ...STORE, ...as("alice"));
    expect(code).toBe(0);
    expect(await waiting.ended).toBe(0);
    // Two outputs are two pipes: what was written to this one before may be read later.
    expect(waiting.stdout).toContain(`rote approvals approve ${nonce}`);
    expect(waiting.stdout).toContain("state   verified");
    expect(folder.ledger()).toEqual(["7 50", "7 30"]);
  });

  it("is left where it can be resumed by Ctrl-C, while it waits", async () => {
    const inputs = ["--input", "account=7"];
    const waiting = working("run", "recipe.json", ...AT, ...inputs, "--wait", "--json");
    await waiting.says(/waiting for a decision/);
    waiting.child.kill("SIGINT");
    expect(await waiting.ended).toBe(130);
    const document = JSON.parse(waiting.stdout);
    expect(document).toMatchObject({ exit: "cancelled", state: "awaiting_approval" });
    const [{ nonce }] = document.requests;
    await folder.rote("approvals", "approve", nonce, ...STORE, ...as("alice"));
    const resumed = await folder.json("runs", "resume", document.run, ...AT);
    expect(resumed).toMatchObject({ exit_code: 0, state: "verified" });
  });

  it("is left by Ctrl-C only when nothing is in flight: the payment under way has its receipt", async () => {
    const { run, moving } = await paying();
    moving.child.kill("SIGINT");
    await moving.says(/leaving the run/);
    expect(folder.ledger()).toEqual([]);
    folder.behave("");
    expect(await moving.ended).toBe(130);
    expect(JSON.parse(moving.stdout)).toMatchObject({ exit: "cancelled", state: "running" });
    expect(folder.ledger()).toEqual(["7 50"]);
    const resumed = await folder.json("runs", "resume", run, ...AT);
    expect(resumed).toMatchObject({ exit_code: 0, state: "verified" });
    expect(folder.ledger()).toEqual(["7 50", "7 30"]);
  });

  it("is refused while another process moves it", async () => {
    const { run, moving } = await paying();
    const busy = await folder.json("runs", "resume", run, ...AT);
    expect(busy).toMatchObject({ exit_code: 1, error: { code: "run_busy", run } });
    folder.behave("");
    expect(await moving.ended).toBe(0);
    expect(folder.ledger()).toEqual(["7 50", "7 30"]);
  });

  /** A run whose first payment is in flight, in a process of its own. */
  async function paying() {
    const { run, requests } = await folder.start("7");
    await folder.rote("approvals", "approve", requests[0].nonce, ...STORE, ...as("alice"));
    folder.behave("held");
    const moving = working("runs", "resume", run, ...AT, "--json");
    for (;;) {
      const shown = types(await folder.json("runs", "show", run, ...AT));
      const approved = shown.indexOf("approved");
      if (approved !== -1 && shown.indexOf("admitted", approved) !== -1) return { run, moving };
    }
  }

  it("ends denied when it is rejected (B038)", async () => {
    const waiting = await folder.start("7");
    const [{ nonce }] = waiting.requests;
    const rejected = await folder.json("approvals", "reject", nonce, ...STORE, ...as("alice"));
    expect(rejected).toMatchObject({ exit_code: 0, decision: "reject" });
    const resumed = await folder.json("runs", "resume", waiting.run, ...AT);
    expect(resumed).toMatchObject({ exit_code: 4, state: "denied", reason: "approval_rejected" });
    expect(folder.ledger()).toEqual([]);
  });

  it("whose payment was lost ends uncertain; a signed finding frees the key, and nothing is paid by it (B038)", async () => {
    const waiting = await folder.start("7");
    const [{ nonce }] = waiting.requests;
    await folder.rote("approvals", "approve", nonce, ...STORE, ...as("alice"));
    folder.behave("lost");
    const lost = await folder.json("runs", "resume", waiting.run, ...AT);
    expect(lost).toMatchObject({ exit_code: 7, state: "uncertain", reason: "uncertain_operation" });
    expect(lost.uncertain).toMatchObject([{ tool: "bank.pay", node: "first" }]);
    expect(folder.ledger()).toEqual(["7 50"]);

    folder.key("carl", KEYS.reconciler);
    const finding = [
      "--key",
      "carl.key",
      "--passphrase-file",
      "passphrase",
      "--evidence",
      "ledger, line 1",
    ];
    const reconcile = ["runs", "reconcile", waiting.run, ...AT, ...finding];
    const stranger = ["--key", "alice.key", "--passphrase-file", "passphrase", "--evidence", "x"];
    const refused = await folder.json(
      ...["runs", "reconcile", waiting.run, ...AT, ...stranger, "--found", "done"],
    );
    expect(refused).toMatchObject({
      exit_code: 4,
      error: { code: "reconciliation_refused", fault: "wrong_role" },
    });
    const unconfirmed = await folder.json(...reconcile, "--found", "not_done");
    expect(unconfirmed).toMatchObject({ exit_code: 2, error: { code: "bad_usage" } });
    const found = await folder.json(...reconcile, "--found", "done");
    expect(found).toMatchObject({
      exit_code: 0,
      reconciliation: { found: "done", reconciler: "carl", operation: lost.uncertain[0].digest },
    });
    const twice = await folder.json(...reconcile, "--found", "done");
    expect(twice).toMatchObject({ exit_code: 1, error: { code: "nothing_uncertain" } });
    const shown = await folder.json("runs", "show", waiting.run, ...AT);
    expect(shown).toMatchObject({ state: "uncertain", uncertain: [{ found: "done" }] });
    expect(folder.ledger()).toEqual(["7 50"]);
  });
});
