import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { KEYS, trust, trustDocument, trustedKey } from "../../support/host.ts";
import { AT, as, HostFolder, STORE } from "./host-folder.ts";

let folder: HostFolder;
beforeEach(() => {
  folder = new HostFolder();
});
afterEach(() => folder.remove());

/** What the journal has of a run: its own entries, and decisions filed about it. */
async function entries(run: string) {
  const { entries } = await folder.json("runs", "show", run, ...AT);
  return entries as readonly { type: string; what: string }[];
}

/** The decisions filed about a run, in order. */
async function decided(run: string): Promise<readonly string[]> {
  return (await entries(run)).flatMap(({ type, what }) =>
    type === "approval_received" ? [what.split(" ")[0] ?? ""] : [],
  );
}

describe("who asks cannot approve (B014)", () => {
  it("neither by more inputs, nor by an option, nor with a key of the host", async () => {
    const { run, requests } = await folder.start("7");
    const [{ nonce }] = requests;
    const claims = ["--input", "approved=true", "--input", "reviewer=r1"];
    const started = await folder.json(
      "run",
      "recipe.json",
      ...AT,
      "--input",
      "account=7",
      ...claims,
    );
    expect(started).toMatchObject({
      exit_code: 1,
      error: { code: "bad_input", input: "approved" },
    });
    const option = await folder.json("runs", "resume", run, ...AT, "--approved");
    expect(option).toMatchObject({ exit_code: 2, error: { code: "bad_usage" } });
    const faults = new Map([
      [KEYS.journal, "wrong_role"],
      [KEYS.receipt, "wrong_role"],
      [KEYS.stranger, "unknown_key"],
      [KEYS.bob, "wrong_approver"],
    ]);
    for (const [key, fault] of faults) {
      folder.key("mallory", key);
      const words = ["--key", "mallory.key", "--as", "alice", "--passphrase-file", "passphrase"];
      const signed = await folder.json("approvals", "approve", nonce, ...STORE, ...words, "--yes");
      expect(signed).toMatchObject({ exit_code: 4, error: { code: "approval_refused", fault } });
    }
    expect((await entries(run)).map(({ type }) => type)).not.toContain("approval_received");
  });

  it("nor in the name that it acts under, unless the policy says so", async () => {
    const keys = [...trustDocument().keys, trustedKey(KEYS.stranger, "agent", "approver")];
    folder.write("trust.json", trust({ keys }));
    folder.key("agent", KEYS.stranger);
    const { run, requests } = await folder.start("7");
    const own = await folder.json(
      ...["approvals", "approve", requests[0].nonce, ...STORE, ...as("agent")],
    );
    expect(own).toMatchObject({ exit_code: 4, error: { fault: "requester_may_not_approve" } });
    const resumed = await folder.json("runs", "resume", run, ...AT);
    expect(resumed).toMatchObject({ exit_code: 8, state: "awaiting_approval" });
  });
});

describe("one request is decided once (B017)", () => {
  it("of decisions at once the first is filed, a rejection behind it, and the others are told of it", async () => {
    folder.remove();
    folder = new HostFolder({ processes: true });
    const { run, requests } = await folder.start("7");
    const [{ nonce }] = requests;
    const given = [
      ["approve", "alice"],
      ["approve", "bob"],
      ["reject", "alice"],
      ["approve", "alice"],
    ] as const;
    const answers = await Promise.all(
      given.map(([decision, name]) =>
        folder.json("approvals", decision, nonce, ...STORE, ...as(name)),
      ),
    );
    const filed = await decided(run);
    // Nothing uses the approval meanwhile, so the rejection is never too late; an approval behind it is.
    expect([["reject"], ["approve", "reject"]]).toContainEqual(filed);
    const told = answers.filter((one) => one.exit_code === 0).map((one) => one.decision);
    expect(told.toSorted()).toEqual(filed.toSorted());
    const refused = answers.filter(({ exit_code: code }) => code !== 0);
    for (const { exit_code: code, error } of refused) {
      expect([code, error.code, error.fault]).toEqual([4, "approval_refused", "already_decided"]);
      const known = error.decisions.map((one: { decision: string }) => one.decision);
      expect([["approve"], ["reject"], ["approve", "reject"]]).toContainEqual(known);
    }
    const resumed = await folder.json("runs", "resume", run, ...AT);
    expect(resumed).toMatchObject({ state: "denied", reason: "approval_rejected" });
  });

  it("of two reviewers who approve at once one is filed, and the other is told of it", async () => {
    folder.remove();
    folder = new HostFolder({ processes: true });
    const { run, requests } = await folder.start("7");
    const [{ nonce }] = requests;
    const answers = await Promise.all(
      ["alice", "bob"].map((name) =>
        folder.json("approvals", "approve", nonce, ...STORE, ...as(name)),
      ),
    );
    expect(answers.map((one) => one.exit_code).toSorted()).toEqual([0, 4]);
    expect(await decided(run)).toEqual(["approve"]);
  });

  it("what is approved is taken back by any reviewer's rejection until it is used (B012)", async () => {
    const { run, requests } = await folder.start("7");
    const [{ nonce }] = requests;
    await folder.rote("approvals", "approve", nonce, ...STORE, ...as("alice"));
    const rejected = await folder.json("approvals", "reject", nonce, ...STORE, ...as("bob"));
    expect(rejected).toMatchObject({ exit_code: 0, filed: true });
    const resumed = await folder.json("runs", "resume", run, ...AT);
    expect(resumed).toMatchObject({ state: "denied", reason: "approval_rejected" });
    const types = (await entries(run)).map(({ type }) => type);
    expect(types.slice(types.indexOf("approval_requested"))).not.toContain("admitted");
  });

  it("what was decided and used is told to whoever comes late, and does nothing", async () => {
    const { run, requests } = await folder.start("7");
    const [{ nonce }] = requests;
    await folder.rote("approvals", "approve", nonce, ...STORE, ...as("alice"));
    await folder.rote("runs", "resume", run, ...AT);
    const late = await folder.json("approvals", "reject", nonce, ...STORE, ...as("bob"));
    expect(late).toMatchObject({
      exit_code: 4,
      error: { fault: "already_decided", decisions: [{ approver: "alice", decision: "approve" }] },
    });
    expect(late.error.message).toMatch(/approve by alice at 20/);
    expect(folder.ledger()).toEqual(["7 50", "7 30"]);
  });
});

describe("a signed decision as a file (B080)", () => {
  it("arrives byte for byte, and verifies", async () => {
    const { run, requests } = await folder.start("7");
    const [{ nonce }] = requests;
    const out = ["--out", "decision.json"];
    const signed = await folder.json(
      "approvals",
      "approve",
      nonce,
      ...STORE,
      ...as("alice"),
      ...out,
    );
    expect(signed).toMatchObject({ exit_code: 0, filed: false, out: "decision.json" });
    expect(JSON.parse(folder.read("decision.json"))).toEqual(signed.envelope);
    const waiting = await folder.json("runs", "resume", run, ...AT);
    expect(waiting).toMatchObject({ exit_code: 8, state: "awaiting_approval" });
    const resumed = await folder.json("runs", "resume", run, ...AT, "--approval", "decision.json");
    expect(resumed).toMatchObject({ exit_code: 0, state: "verified" });
    const again = await folder.json("runs", "resume", run, ...AT, "--approval", "decision.json");
    expect(again).toMatchObject({ exit_code: 0, state: "verified" });
    expect(folder.ledger()).toEqual(["7 50", "7 30"]);
  });

  it("without its signature, or with another one, leaves the run waiting and uses nothing up", async () => {
    const { run, requests } = await folder.start("7");
    const [{ nonce }] = requests;
    const out = ["--out", "decision.json"];
    await folder.rote("approvals", "approve", nonce, ...STORE, ...as("alice"), ...out);
    const { signatures, ...rest } = JSON.parse(folder.read("decision.json"));
    const sig = `${signatures[0].sig[0] === "A" ? "B" : "A"}${signatures[0].sig.slice(1)}`;
    const spoiled: readonly (readonly [unknown, string])[] = [
      [rest, "signature_missing"],
      [{ ...rest, signatures: [] }, "signature_missing"],
      [{ ...rest, signatures: [{ ...signatures[0], sig }] }, "bad_signature"],
      [{ ...rest, signatures: [...signatures, ...signatures] }, "signature_count"],
      [{ approved: true, reviewer: "r1" }, "malformed_envelope"],
    ];
    for (const [envelope, fault] of spoiled) {
      folder.write("spoiled.json", envelope);
      const refused = await folder.json("runs", "resume", run, ...AT, "--approval", "spoiled.json");
      expect(refused).toMatchObject({
        exit_code: 4,
        state: "awaiting_approval",
        error: { code: "approval_refused", fault },
      });
    }
    expect((await entries(run)).map(({ type }) => type)).not.toContain("approval_received");
    const resumed = await folder.json("runs", "resume", run, ...AT, "--approval", "decision.json");
    expect(resumed).toMatchObject({ exit_code: 0, state: "verified" });
  });

  it("is good for its own run only", async () => {
    const first = await folder.start("7");
    const second = await folder.start("8");
    const out = ["--out", "decision.json"];
    const [{ nonce }] = first.requests;
    await folder.rote("approvals", "approve", nonce, ...STORE, ...as("alice"), ...out);
    const other = await folder.json(
      ...["runs", "resume", second.run, ...AT, "--approval", "decision.json"],
    );
    expect(other).toMatchObject({
      exit_code: 4,
      state: "awaiting_approval",
      error: { fault: "wrong_run" },
    });
  });
});

describe("looking", () => {
  it("changes nothing, however often, and prints nothing that could be followed (B019, B021)", async () => {
    const { run, requests } = await folder.start("7");
    const [{ nonce }] = requests;
    const before = await entries(run);
    const looks = [
      ["runs", "list", ...AT],
      ["runs", "show", run, ...AT],
      ["runs", "resume", run, ...AT],
      ["approvals", "list", ...STORE],
      ["approvals", "list", ...AT],
      ["approvals", "show", nonce, ...STORE],
      ["keys", "show", "trust.json"],
      ["memory", "status", "recipe.json", ...AT],
    ];
    for (const words of [...looks, ...looks]) {
      const { stdout, stderr } = await folder.rote(...words);
      expect(stdout + stderr).not.toMatch(/[a-z]+:\/\/|\?action=/i);
    }
    const resumed = { type: "run_resumed", chain: "run" };
    const after = (await entries(run)).filter(({ type }) => type !== resumed.type);
    expect(after).toEqual(before);
    const listed = await folder.json("approvals", "list", ...STORE);
    expect(listed.requests).toMatchObject([{ nonce, status: "waiting", decisions: [] }]);
    expect(folder.ledger()).toEqual([]);
  });
});
