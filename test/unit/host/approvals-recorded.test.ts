import { fork } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import type { Host } from "../../../src/host/index.ts";
import { partsOf } from "../../../src/host/index.ts";
import { HOST_CHAIN } from "../../../src/model/journal.ts";
import { signTrust } from "../../../src/trust/trust-store.ts";
import { childProgram } from "../../support/children.ts";
import { directories } from "../../support/directories.ts";
import {
  asked,
  bank,
  begin,
  entriesOf,
  FENCED_PAYMENT,
  hostAt,
  movedClock,
  ONE_PAYMENT,
  refusal,
} from "../../support/gate.ts";
import {
  CHILD_ENV,
  decision,
  KEYS,
  nowSeconds,
  POLICY,
  trustDocument,
} from "../../support/host.ts";

const places = directories();
afterAll(() => places.remove());

describe("what stands on the host's chain", () => {
  /** Puts a decision there without asking whether it may stand there. */
  async function smuggle(host: Host, envelope: JsonValue, nonce: string, approver: string) {
    const body = { nonce, approver, envelope };
    const entries = [{ chain: HOST_CHAIN, type: "approval_received", body }] as const;
    await partsOf(host).journal.append({ lease: null, entries });
  }

  it("is judged again when it is used: late ones, repeated ones and one's own do not count", async () => {
    const approvals = { required: 2, requester_may_approve: false };
    const clock = movedClock();
    const of = bank();
    const host = await hostAt(null, of, {
      clock,
      requestSeconds: 60,
      identity: { name: "bob" },
      policy: { ...POLICY, approvals },
    });
    const { run } = await begin(host);
    const request = asked(run);
    const { nonce } = request;
    await smuggle(host, decision(request, KEYS.alice, "alice"), nonce, "alice");
    await smuggle(
      host,
      decision(request, KEYS.alice, "alice", { expires: nowSeconds() + 500 }),
      nonce,
      "al",
    );
    await smuggle(host, decision(request, KEYS.bob, "bob"), nonce, "bob");
    await smuggle(host, decision(request, KEYS.stranger, "carl"), nonce, "carl");
    expect(await run.advanceAsync(host)).toBe("awaiting_approval");
    clock.move(60_000);
    const trusted = decision(request, KEYS.alice, "alice");
    await smuggle(host, trusted, nonce, "alice");
    expect(await run.advanceAsync(host)).toBe("denied");
    expect(run.report.reason).toBe("approval_expired");
    expect(of.pay.calls).toHaveLength(0);
    await host.close();
  });

  it("and came after the request expired, counts for nothing, although it alone would be enough", async () => {
    const clock = movedClock();
    const of = bank();
    const host = await hostAt(null, of, { clock, requestSeconds: 60 });
    const { run } = await begin(host);
    clock.move(60_000);
    const request = asked(run);
    await smuggle(host, decision(request, KEYS.alice, "alice"), request.nonce, "alice");
    expect(await run.advanceAsync(host)).toBe("denied");
    expect(of.pay.calls).toHaveLength(0);
    await host.close();
  });

  it("and says no, counts for good: also when its window has closed before the run looks", async () => {
    const clock = movedClock();
    const of = bank();
    const host = await hostAt(null, of, { clock });
    const { run } = await begin(host);
    const now = Math.floor(clock.wallMs() / 1000);
    const no = { decision: "reject", expires: now + 10 } as const;
    await host.fileDecision(decision(asked(run), KEYS.alice, "alice", no));
    clock.move(10_000);
    const yes = decision(asked(run), KEYS.bob, "bob");
    expect(await refusal(host.fileDecision(yes))).toBe("approval_refused: already_decided");
    expect(await run.advanceAsync(host)).toBe("denied");
    expect(run.report.reason).toBe("approval_rejected");
    await host.close();
  });

  it.each([
    ["behind a fence", FENCED_PAYMENT],
    ["at its own turn", ONE_PAYMENT],
  ])(
    "and says no %s, counts for good: also when its key was revoked before the run looks",
    async (_, recipe) => {
      const directory = places.fresh();
      const of = bank();
      const host = await hostAt(directory, of);
      const { run } = await begin(host, recipe);
      await host.fileDecision(decision(asked(run), KEYS.alice, "alice", { decision: "reject" }));
      const keys = trustDocument().keys.map((entry) =>
        entry.name === "alice" ? { ...entry, revoked: { at: 0, reason: "left" } } : entry,
      );
      const next = await hostAt(directory, of, {
        trust: signTrust(trustDocument({ version: 2, keys }), [KEYS.root]),
      });
      await next.close();
      expect(host.pendingRequests()).toEqual([]);
      expect(await run.advanceAsync(host)).toBe("denied");
      expect(run.report.failure).toMatchObject({
        reason: "approval_rejected",
        message: "alice rejected it",
      });
      await host.close();
    },
  );
});

describe("a copied database", () => {
  it("at another host takes no approval: everything signed names the host it is for (B018)", async () => {
    const directory = places.fresh();
    const of = bank();
    const host = await hostAt(directory, of);
    const { run } = await begin(host, FENCED_PAYMENT);
    const approval = decision(asked(run), KEYS.alice, "alice");
    await run.closeAsync();
    await host.close();
    const copy = places.fresh();
    cpSync(directory, copy, { recursive: true });
    const origin = "tests.example/copy";
    const trust = signTrust(trustDocument({ audience: origin }), [KEYS.root]);
    expect(await refusal(hostAt(copy, of, { origin }))).toBe("trust_refused: wrong_audience");
    expect(await refusal(hostAt(copy, of, { origin, trust }))).not.toBe("not refused");
    // The same envelope at a host of its own store and name.
    const other = await hostAt(null, of, { origin, trust });
    expect(await refusal(other.fileDecision(approval))).toBe(
      "approval_refused: no_pending_request",
    );
    await other.close();
    expect(of.pay.calls).toHaveLength(0);
  });

  it("under the same name is found out by the tree heads that are kept outside of it", async () => {
    const directory = places.fresh();
    const heads = path.join(path.dirname(directory), "heads.txt");
    const of = bank();
    const host = await hostAt(directory, of, { heads });
    const { run, procedure } = await begin(host, FENCED_PAYMENT);
    const approval = decision(asked(run), KEYS.alice, "alice");
    await run.closeAsync();
    await host.close();
    const copy = places.fresh();
    cpSync(directory, copy, { recursive: true });
    const first = await hostAt(directory, of, { heads });
    const resumed = await procedure.resume(first, run.id);
    expect(await resumed.advanceAsync(first, { approval })).toBe("verified");
    await first.close();
    expect(await refusal(hostAt(copy, of, { heads }))).toBe("restored_backup");
    expect(of.pay.calls).toHaveLength(1);
  });

  it("that nothing outside tells from the first dispatches under the same operation id, which its target can fence", async () => {
    const directory = places.fresh();
    const one = bank();
    const host = await hostAt(directory, one);
    const { run, procedure } = await begin(host, FENCED_PAYMENT);
    const approval = decision(asked(run), KEYS.alice, "alice");
    await run.closeAsync();
    await host.close();
    const copy = places.fresh();
    cpSync(directory, copy, { recursive: true });
    const ids: (string | undefined)[] = [];
    for (const place of [directory, copy]) {
      const of = bank();
      const again = await hostAt(place, of);
      const resumed = await procedure.resume(again, run.id);
      await resumed.advanceAsync(again, { approval });
      ids.push(of.pay.calls[0]?.operationId);
      await again.close();
    }
    expect(ids[0]).toMatch(/^sha256:/);
    expect(ids[1]).toBe(ids[0]);
  });
});

describe("at once", () => {
  it("three processes with one approval pay once (B017)", async () => {
    const directory = places.fresh();
    const target = path.join(path.dirname(directory), "target.txt");
    const of = bank();
    const host = await hostAt(directory, of);
    const { run } = await begin(host, FENCED_PAYMENT);
    await host.fileDecision(decision(asked(run), KEYS.alice, "alice"));
    await run.closeAsync();
    await host.close();
    const children = Array.from({ length: 3 }, () =>
      fork(childProgram("gate"), [directory, run.id, target], {
        stdio: ["ignore", "ignore", "inherit", "ipc"],
        env: { ...process.env, ...CHILD_ENV },
      }),
    );
    await Promise.all(children.map((one) => once(one, "message")));
    const reports = children.map(async (one) => {
      const [message] = await once(one, "message");
      return message as { readonly state: string; readonly calls: number };
    });
    for (const one of children) one.send("go");
    const told = await Promise.all(reports);
    await Promise.all(
      children.map((one) => (one.exitCode === null ? once(one, "exit") : Promise.resolve([]))),
    );
    const lines = existsSync(target) ? readFileSync(target, "utf8").trim().split("\n") : [];
    expect(lines).toHaveLength(1);
    expect(told.reduce((sum, { calls }) => sum + calls, 0)).toBe(1);
    for (const { state } of told) {
      // Whoever came later found the run held, or done.
      expect(["verified", "run_busy"]).toContain(state);
    }
    expect(told.map(({ state }) => state)).toContain("verified");
    const after = await hostAt(directory, of);
    expect(entriesOf(after, run.id, "admitted")).toHaveLength(1);
    expect(entriesOf(after, run.id, "run_ended")).toHaveLength(1);
    await after.close();
  });

  it("two decisions of one reviewer are one, and the first stands (B017)", async () => {
    const of = bank();
    const host = await hostAt(null, of);
    const { run } = await begin(host);
    const yes = () => decision(asked(run), KEYS.alice, "alice");
    const other = decision(asked(run), KEYS.alice, "alice", { not_before: 1, expires: 2 });
    const told = await Promise.all([yes(), yes()].map((one) => refusal(host.fileDecision(one))));
    expect(told.sort()).toEqual(["approval_refused: already_decided", "not refused"]);
    expect(await refusal(host.fileDecision(yes()))).toBe("approval_refused: already_decided");
    expect(await refusal(host.fileDecision(other))).toBe("approval_refused: approval_expired");
    expect(entriesOf(host, HOST_CHAIN, "approval_received")).toHaveLength(1);
    expect(await run.advanceAsync(host)).toBe("verified");
    expect(of.pay.calls).toHaveLength(1);
    await host.close();
  });

  it("a run is advanced by one caller", async () => {
    const of = bank();
    const host = await hostAt(null, of);
    const { run } = await begin(host);
    const approval = decision(asked(run), KEYS.alice, "alice");
    const [one, two] = await Promise.all([
      refusal(run.advanceAsync(host, { approval })),
      refusal(run.advanceAsync(host, { approval })),
    ]);
    expect([one, two].sort()).toEqual(["not refused", "run_busy"]);
    expect(run.state).toBe("verified");
    expect(of.pay.calls).toHaveLength(1);
    await host.close();
  });
});
