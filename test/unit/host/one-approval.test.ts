import { afterAll, describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { fileDecision, hostOf, partsOf } from "../../../src/host/index.ts";
import { HOST_CHAIN } from "../../../src/model/journal.ts";
import type { Journal } from "../../../src/ports/journal.ts";
import { signTrust } from "../../../src/trust/trust-store.ts";
import { directories } from "../../support/directories.ts";
import {
  asked,
  bank,
  begin,
  CHECK,
  entriesOf,
  FENCED_PAYMENT,
  hostAt,
  movedClock,
  ONE_PAYMENT,
  pay,
  recipeOf,
  refusal,
} from "../../support/gate.ts";
import { decision, KEYS, trustDocument } from "../../support/host.ts";

const places = directories();
afterAll(() => places.remove());

describe("one approval", () => {
  it("pays once in its run: shown again it is refused, and the run stays as it ended (B018)", async () => {
    const of = bank();
    const host = await hostAt(null, of);
    const { run } = await begin(host);
    const approval = decision(asked(run), KEYS.alice, "alice");
    expect(await run.advanceAsync(host, { approval })).toBe("verified");
    expect(await run.advanceAsync(host, { approval })).toBe("verified");
    expect(await refusal(host.fileDecision(approval))).toBe("approval_refused: no_pending_request");
    expect(of.pay.calls).toHaveLength(1);
    expect(entriesOf(host, run.id, "admitted")).toHaveLength(1);
    await host.close();
  });

  it("is not good for the next operation of its run, alike as it may be (B011, B067)", async () => {
    const of = bank();
    const host = await hostAt(null, of);
    const recipe = recipeOf([CHECK, pay("one", ["check"]), pay("two", ["one"])]);
    const { run } = await begin(host, recipe);
    const approval = decision(asked(run), KEYS.alice, "alice");
    expect(await run.advanceAsync(host, { approval })).toBe("awaiting_approval");
    expect(asked(run).node).toBe("two");
    expect(await refusal(run.advanceAsync(host, { approval }))).toBe(
      "approval_refused: no_pending_request",
    );
    expect(of.pay.calls).toHaveLength(1);
    const second = decision(asked(run), KEYS.alice, "alice");
    expect(await run.advanceAsync(host, { approval: second })).toBe("verified");
    expect(of.pay.calls).toHaveLength(2);
    await host.close();
  });

  it("is not good for another run of the same inputs (B018)", async () => {
    const of = bank();
    const host = await hostAt(null, of);
    const first = await begin(host);
    const second = await begin(host);
    const approval = decision(asked(first.run), KEYS.alice, "alice");
    expect(await refusal(second.run.advanceAsync(host, { approval }))).toBe(
      "approval_refused: wrong_run",
    );
    // The same words, signed for the other run with the nonce of the first.
    const { run } = asked(second.run);
    const mixed = decision(asked(first.run), KEYS.alice, "alice", { run });
    expect(await refusal(second.run.advanceAsync(host, { approval: mixed }))).toBe(
      "approval_refused: no_pending_request",
    );
    expect(second.run.state).toBe("awaiting_approval");
    expect(await first.run.advanceAsync(host, { approval })).toBe("verified");
    expect(of.pay.calls).toHaveLength(1);
    await host.close();
  });

  it("pays once over a restart, before and after it was used", async () => {
    const directory = places.fresh();
    const of = bank();
    const first = await hostAt(directory, of);
    const { run, procedure } = await begin(first, FENCED_PAYMENT);
    const approval = decision(asked(run), KEYS.alice, "alice");
    await run.closeAsync();
    await first.close();
    const second = await hostAt(directory, of);
    const resumed = await procedure.resume(second, run.id);
    expect(await resumed.advanceAsync(second, { approval })).toBe("verified");
    await second.close();
    const third = await hostAt(directory, of);
    const again = await procedure.resume(third, run.id);
    expect(await again.advanceAsync(third, { approval })).toBe("verified");
    expect(await refusal(third.fileDecision(approval))).toBe(
      "approval_refused: no_pending_request",
    );
    expect(of.pay.calls).toHaveLength(1);
    await third.close();
  });

  it("comes too late after a rejection, whoever signed which", async () => {
    const of = bank();
    const host = await hostAt(null, of);
    const { run } = await begin(host);
    const yes = decision(asked(run), KEYS.alice, "alice");
    await host.fileDecision(decision(asked(run), KEYS.bob, "bob", { decision: "reject" }));
    expect(await refusal(host.fileDecision(yes))).toBe("approval_refused: already_decided");
    expect(await run.advanceAsync(host)).toBe("denied");
    expect(run.report.reason).toBe("approval_rejected");
    expect(await refusal(host.fileDecision(yes))).toBe("approval_refused: no_pending_request");
    expect(of.pay.calls).toHaveLength(0);
    await host.close();
  });

  it("is taken back by its own signer's rejection before it is used (B012)", async () => {
    const of = bank();
    const host = await hostAt(null, of);
    const { run } = await begin(host);
    await host.fileDecision(decision(asked(run), KEYS.alice, "alice"));
    await host.fileDecision(decision(asked(run), KEYS.alice, "alice", { decision: "reject" }));
    expect(await run.advanceAsync(host)).toBe("denied");
    expect(of.pay.calls).toHaveLength(0);
    await host.close();
  });

  it("comes too late after the request expired; filed in time it counts, whenever the run looks", async () => {
    for (const early of [true, false]) {
      const clock = movedClock();
      const of = bank();
      const host = await hostAt(null, of, { clock, requestSeconds: 60 });
      const { run } = await begin(host);
      const request = asked(run);
      const sign = () => decision(request, KEYS.alice, "alice");
      if (early) await host.fileDecision(sign());
      clock.move(60_000);
      if (!early) {
        expect(await refusal(host.fileDecision(sign()))).toBe("approval_refused: request_expired");
        expect(host.pendingRequests()).toEqual([]);
      }
      expect(await run.advanceAsync(host)).toBe(early ? "verified" : "denied");
      expect(of.pay.calls).toHaveLength(early ? 1 : 0);
      await host.close();
    }
  });

  it("that runs out while it is being filed, or whose request does, is not filed", async () => {
    for (const [requestSeconds, fault] of [
      [null, "approval_expired"],
      [300, "request_expired"],
    ] as const) {
      const clock = movedClock();
      const host = await hostAt(null, bank(), { clock, requestSeconds });
      const { run } = await begin(host);
      const parts = partsOf(host);
      const journal: typeof parts.journal = {
        ...parts.journal,
        append(request) {
          clock.move(601_000);
          return parts.journal.append(request);
        },
      };
      const late = decision(asked(run), KEYS.alice, "alice");
      const filing = fileDecision({ ...parts, journal }, late);
      expect(await refusal(filing)).toBe(`approval_refused: ${fault}`);
      const filed = parts.journal.read(HOST_CHAIN).map(({ entry }) => entry.type);
      expect(filed).not.toContain("approval_received");
      await host.close();
    }
  });

  it("outside its own window is refused or waited out, and burns nothing", async () => {
    const clock = movedClock();
    const of = bank();
    const host = await hostAt(null, of, { clock });
    const { run } = await begin(host);
    const request = asked(run);
    const now = Math.floor(clock.wallMs() / 1000);
    const early = decision(request, KEYS.alice, "alice", {
      not_before: now + 61,
      expires: now + 90,
    });
    expect(await refusal(host.fileDecision(early))).toBe(
      "approval_refused: approval_not_yet_valid",
    );
    await host.fileDecision(decision(request, KEYS.alice, "alice", { expires: now + 10 }));
    clock.move(10_000);
    // It was filed in time and is over now: the request is open again, and the same reviewer may sign again.
    expect(await run.advanceAsync(host)).toBe("awaiting_approval");
    expect(host.pendingRequests().map(({ nonce }) => nonce)).toEqual([request.nonce]);
    const late = decision(request, KEYS.alice, "alice", { expires: now + 10 });
    expect(await refusal(host.fileDecision(late))).toBe("approval_refused: approval_expired");
    await host.fileDecision(decision(request, KEYS.alice, "alice"));
    expect(await run.advanceAsync(host)).toBe("verified");
    expect(of.pay.calls).toHaveLength(1);
    await host.close();
  });

  it("that ends between its check and the admission is not used", async () => {
    const clock = movedClock();
    const of = bank();
    const host = await hostAt(null, of, { clock });
    const { run } = await begin(host);
    const now = Math.floor(clock.wallMs() / 1000);
    await host.fileDecision(decision(asked(run), KEYS.alice, "alice", { expires: now + 10 }));
    const advanced = run.advanceAsync(host);
    // Runs before the journal writes what is queued by now: as if the process had been stopped in between.
    setImmediate(() => clock.move(10_000));
    expect(await advanced).toBe("awaiting_approval");
    expect(of.pay.calls).toHaveLength(0);
    expect(entriesOf(host, run.id, "admitted")).toHaveLength(0);
    await host.close();
  });

  it("is over when the record says so, though this process's clock is behind it: the run waits, and does not spin (B056)", async () => {
    const clock = movedClock();
    const of = bank();
    const host = await hostAt(null, of, { clock });
    const { run } = await begin(host);
    const now = Math.floor(clock.wallMs() / 1000);
    await host.fileDecision(decision(asked(run), KEYS.alice, "alice", { expires: now + 30 }));
    // As a process whose clock is ahead would leave it.
    clock.move(50_000);
    await begin(host, ONE_PAYMENT, { account: "8", amount: "50" });
    clock.move(-49_000);
    expect(await run.advanceAsync(host)).toBe("awaiting_approval");
    const late = decision(asked(run), KEYS.alice, "alice", { expires: now + 30 });
    expect(await refusal(host.fileDecision(late))).toBe("approval_refused: approval_expired");
    await host.fileDecision(decision(asked(run), KEYS.alice, "alice"));
    expect(await run.advanceAsync(host)).toBe("verified");
    expect(of.pay.calls).toHaveLength(1);
    await host.close();
  });

  it("that is taken back between its check and the admission is not used (B012)", async () => {
    const of = bank();
    const whole = await hostAt(null, of);
    const parts = partsOf(whole);
    let no: JsonValue = null;
    const journal: Journal = {
      ...parts.journal,
      async append(request) {
        // As another process would, while this one is about to write its admission.
        if (request.entries[0]?.type === "admitted") await whole.fileDecision(no);
        return parts.journal.append(request);
      },
    };
    const host = hostOf({ ...parts, journal });
    const { run } = await begin(host);
    no = decision(asked(run), KEYS.bob, "bob", { decision: "reject" });
    await host.fileDecision(decision(asked(run), KEYS.alice, "alice"));
    expect(await run.advanceAsync(host)).toBe("denied");
    expect(run.report).toMatchObject({ reason: "approval_rejected" });
    expect(entriesOf(host, run.id, "admitted")).toHaveLength(0);
    expect(of.pay.calls).toHaveLength(0);
    await whole.close();
  });

  it("whose rejection is overtaken by its use is told so: what was admitted stays admitted (B017)", async () => {
    const of = bank();
    const whole = await hostAt(null, of);
    const parts = partsOf(whole);
    const { run } = await begin(whole);
    const no = decision(asked(run), KEYS.bob, "bob", { decision: "reject" });
    await whole.fileDecision(decision(asked(run), KEYS.alice, "alice"));
    const journal: Journal = {
      ...parts.journal,
      async append(request) {
        // The run goes on while this rejection is about to be filed.
        expect(await run.advanceAsync(whole)).toBe("verified");
        return parts.journal.append(request);
      },
    };
    const late = hostOf({ ...parts, journal }).fileDecision(no);
    await expect(late).rejects.toMatchObject({
      code: "approval_refused",
      message: "The approval is refused: already_decided. It is on record, and stopped nothing.",
      data: { fault: "already_decided" },
    });
    expect(of.pay.calls).toHaveLength(1);
    await whole.close();
  });

  it("is enough also where another process files it while this one looks (B017)", async () => {
    const of = bank();
    const whole = await hostAt(null, of);
    const parts = partsOf(whole);
    const { run } = await begin(whole);
    await whole.fileDecision(decision(asked(run), KEYS.alice, "alice"));
    let looks = 0;
    const journal: Journal = {
      ...parts.journal,
      read(chain, from, limit) {
        const entries = parts.journal.read(chain, from, limit);
        if (chain !== HOST_CHAIN) return entries;
        looks += 1;
        // What was committed right behind the first look.
        return looks > 1
          ? entries
          : entries.filter(({ entry }) => entry.type !== "approval_received");
      },
    };
    const other = hostOf({ ...parts, journal }).fileDecision(decision(asked(run), KEYS.bob, "bob"));
    expect(await refusal(other)).toBe("approval_refused: already_decided");
    expect(entriesOf(whole, HOST_CHAIN, "approval_received")).toHaveLength(1);
    await whole.close();
  });

  it("is enough where one is required: another reviewer's is one too many (B017)", async () => {
    const of = bank();
    const host = await hostAt(null, of);
    const { run } = await begin(host);
    const answers = [
      decision(asked(run), KEYS.alice, "alice"),
      decision(asked(run), KEYS.bob, "bob"),
    ].map((one) => refusal(host.fileDecision(one)));
    expect(await Promise.all(answers)).toEqual([
      "not refused",
      "approval_refused: already_decided",
    ]);
    expect(entriesOf(host, HOST_CHAIN, "approval_received")).toHaveLength(1);
    await host.close();
  });

  it("counts no more once its key is revoked, in whichever process that was recorded", async () => {
    const directory = places.fresh();
    const of = bank();
    const host = await hostAt(directory, of);
    const { run } = await begin(host, FENCED_PAYMENT);
    await host.fileDecision(decision(asked(run), KEYS.alice, "alice"));
    const keys = trustDocument().keys.map((entry) =>
      entry.name === "alice" ? { ...entry, revoked: { at: 0, reason: "lost" } } : entry,
    );
    const next = await hostAt(directory, of, {
      trust: signTrust(trustDocument({ version: 2, keys }), [KEYS.root]),
    });
    await next.close();
    // The first host was opened with the version before.
    expect(await run.advanceAsync(host)).toBe("awaiting_approval");
    expect(asked(run).replaces).toBe("trust_changed");
    const refused = refusal(host.fileDecision(decision(asked(run), KEYS.alice, "alice")));
    expect(await refused).toBe("approval_refused: revoked");
    await host.fileDecision(decision(asked(run), KEYS.bob, "bob"));
    expect(await run.advanceAsync(host)).toBe("verified");
    expect(of.pay.calls).toHaveLength(1);
    await host.close();
  });
});
