/** Budgets, warrants, checks and trust at the gate, by what comes through and what does not. */
import { afterAll, describe, expect, it } from "vitest";
import { adoptTrust } from "../../../src/app/adopt-trust.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { privateKey as seededBy } from "../../../src/base/sign.ts";
import { partsOf } from "../../../src/host/index.ts";
import { HOST_CHAIN } from "../../../src/model/journal.ts";
import type { TrustDocument, Warrant } from "../../../src/model/trust.ts";
import type { Journal } from "../../../src/ports/journal.ts";
import type { OperationSecurity } from "../../../src/ports/security.ts";
import type { ToolOutcome } from "../../../src/ports/tool.ts";
import type { Run } from "../../../src/run/index.ts";
import { envelopeDigest } from "../../../src/trust/signed-document.ts";
import { signTrust } from "../../../src/trust/trust-store.ts";
import { signWarrant } from "../../../src/trust/warrant.ts";
import {
  asked,
  bank,
  begin,
  CHECK,
  directories,
  hostAt,
  INPUTS,
  ONE_PAYMENT,
  ONE_READ,
  type Options,
  pay,
  procedureOf,
  READ,
  recipeOf,
  refusal,
  VERIFIER,
} from "../../support/gate.ts";
import {
  decision,
  hostOptions,
  KEYS,
  madeTool,
  nowSeconds,
  ORIGIN,
  registration,
  trust,
  trustDocument,
} from "../../support/host.ts";
import { seeded, someNonce, textOf } from "../../support/trust.ts";

const places = directories();
afterAll(() => places.remove());

const { policy } = hostOptions(null, []);
const OPEN: Options = { policy: { ...policy, profile: "privileged" } };
const said = ({ state, report }: Run) => [state, report.failure?.code ?? report.reason];

/** A bank whose payments count against amounts, answered in turn. */
function counted(answer: (count: number) => ToolOutcome | Promise<ToolOutcome>) {
  const made = madeTool("bank.pay", (_, count) => answer(count));
  const amount = { value: "/amount", currency: "/currency" };
  return { ...made, tools: [registration(made, "effect", { amount })] };
}

const paid = (): ToolOutcome => ({ kind: "done", result: "paid" });

describe("a budget", () => {
  it("is reserved when it is taken: of four runs at once that each fit, one comes through (B054)", async () => {
    const of = counted(paid);
    const budget = { run: {}, host: { amounts: { EUR: "1000" } } };
    const host = await hostAt(null, of, { ...OPEN, budget });
    expect((await begin(host, ONE_PAYMENT, { account: "0", amount: "900" })).run.state).toBe(
      "verified",
    );
    const procedure = procedureOf(host);
    const environment = host.environment(procedure.plan);
    const runs = ["1", "2", "3", "4"].map((account) =>
      procedure.start({ account, amount: "60" }, { environment }),
    );
    await Promise.all(runs.map((run) => run.advanceAsync(host)));
    const states = runs.map((run) => said(run).join(": ")).sort();
    expect(states).toEqual([
      "exhausted: budget_exceeded",
      "exhausted: budget_exceeded",
      "exhausted: budget_exceeded",
      "verified: completed",
    ]);
    expect(of.calls).toHaveLength(2);
    const refused = runs.find((run) => run.state === "exhausted");
    expect(refused?.report.failure?.message).toContain("would be 1020 of 1000");
    expect((await begin(host, ONE_PAYMENT, { account: "5", amount: "40" })).run.state).toBe(
      "verified",
    );
    await host.close();
  });

  it("is given back for what certainly did not happen, and only for that", async () => {
    const answers: readonly (readonly [() => ToolOutcome | Promise<ToolOutcome>, string])[] = [
      [() => ({ kind: "not_applied", code: "closed", message: "" }), "verified"],
      [() => ({ kind: "refused", code: "limit", message: "" }), "verified"],
      [() => Promise.reject(new Error("no reply")), "exhausted"],
    ];
    for (const [answer, then] of answers) {
      const of = counted((count) => (count === 1 ? answer() : paid()));
      const budget = { run: {}, host: { effects: 1, operations: 1, amounts: { EUR: "50" } } };
      const host = await hostAt(null, of, { ...OPEN, budget });
      expect((await begin(host)).run.state).not.toBe("verified");
      expect((await begin(host)).run.state).toBe(then);
      await host.close();
    }
  });

  it("of a run is each run's own, of the host all runs' together, over restarts", async () => {
    const directory = places.fresh();
    const of = counted(paid);
    const budget = { run: { effects: 1 }, host: { effects: 2 } };
    const states = [];
    for (let turn = 0; turn < 3; turn += 1) {
      const host = await hostAt(directory, of, { ...OPEN, budget });
      states.push((await begin(host)).run.state);
      await host.close();
    }
    expect(states).toEqual(["verified", "verified", "exhausted"]);
    const host = await hostAt(null, counted(paid), { ...OPEN, budget });
    const two = recipeOf([CHECK, pay("one", ["check"]), pay("two", ["one"])]);
    expect(said((await begin(host, two)).run)).toEqual(["exhausted", "budget_exceeded"]);
    await host.close();
  });

  it("that does not name a currency lets nothing be spent in it; an amount that cannot be read is refused", async () => {
    const budget = { run: { amounts: { EUR: "1000" } }, host: {} };
    const of = counted(paid);
    const host = await hostAt(null, of, { ...OPEN, budget });
    const inDollars = recipeOf([
      CHECK,
      pay(
        "pay",
        ["check"],
        {},
        {
          arguments: {
            op: "record",
            fields: {
              amount: { input: "amount" },
              currency: { op: "literal", value: "USD", type: "text" },
            },
          },
        },
      ),
    ]);
    expect(said((await begin(host, inDollars)).run)).toEqual(["exhausted", "budget_exceeded"]);
    for (const amount of ["-1", "1e3", "12.50", "", " 5"]) {
      const { run } = await begin(host, ONE_PAYMENT, { account: "7", amount });
      expect(said(run)).toEqual(["exhausted", "amount_unreadable"]);
    }
    expect(of.calls).toHaveLength(0);
    await host.close();
  });

  it("counts reads as operations", async () => {
    const host = await hostAt(null, bank(), { budget: { run: { operations: 0 }, host: {} } });
    expect(said((await begin(host, ONE_READ)).run)).toEqual(["exhausted", "budget_exceeded"]);
    await host.close();
  });
});

describe("a warrant at the gate", () => {
  const holder = seeded(50);
  const identity = { name: "agent", key: textOf(holder) };
  // One moment for all: a child that is signed a second later must not outlive its parent.
  const now = nowSeconds();
  const warrant = (change: Partial<Warrant> = {}, key = KEYS.issuer) =>
    signWarrant(
      {
        type: "rote-warrant/v1",
        parent: null,
        issuer: "ida",
        holder_key: textOf(holder),
        audience: ORIGIN,
        tools: ["bank.pay"],
        constraints: [],
        max_effects: 1,
        max_reads: 0,
        not_before: now - 60,
        expires: now + 3600,
        nonce: someNonce(1),
        ...change,
      },
      key,
    );

  it("is spent once, over all runs and processes that hold it", async () => {
    const directory = places.fresh();
    const of = bank();
    const options = { ...OPEN, identity, warrant: [warrant()] };
    const states = [];
    for (let turn = 0; turn < 2; turn += 1) {
      const host = await hostAt(directory, of, options);
      states.push(said((await begin(host)).run));
      await host.close();
    }
    expect(states).toEqual([
      ["verified", "completed"],
      ["denied", "warrant_spent"],
    ]);
  });

  it("that is handed on is spent from its root: two children do not make two", async () => {
    const directory = places.fresh();
    const of = bank();
    const parent = warrant({ max_effects: 1 });
    const states = [];
    for (const child of [51, 52].map(seeded)) {
      const handed = warrant(
        { parent: envelopeDigest(parent), holder_key: textOf(child), nonce: someNonce(2) },
        holder,
      );
      const host = await hostAt(directory, of, {
        ...OPEN,
        identity: { name: "child", key: textOf(child) },
        warrant: [parent, handed],
      });
      states.push(said((await begin(host)).run)[1]);
      await host.close();
    }
    expect(states).toEqual(["completed", "warrant_spent"]);
  });

  it("is no bearer token: who does not hold its key does nothing with it", async () => {
    const of = bank();
    for (const who of [{ name: "agent" }, { name: "agent", key: textOf(seeded(51)) }]) {
      const host = await hostAt(null, of, { ...OPEN, identity: who, warrant: [warrant()] });
      expect(said((await begin(host)).run)).toEqual(["denied", "identity_not_holder"]);
      await host.close();
    }
    expect(of.pay.calls).toHaveLength(0);
  });

  it("covers reads as well, and names the link that is wrong (B030)", async () => {
    const host = await hostAt(null, bank(), {
      ...OPEN,
      identity,
      warrant: [warrant({ tools: ["bank.balance"] })],
    });
    expect(said((await begin(host, ONE_READ)).run)).toEqual(["denied", "warrant_spent"]);
    await host.close();
    const chain = [warrant(), warrant({ parent: `sha256:${"0".repeat(64)}` }, holder)];
    const other = await hostAt(null, bank(), { ...OPEN, identity, warrant: chain });
    const { run } = await begin(other);
    expect(run.report.failure?.message).toContain("warrant 1 of the chain");
    expect(run.report.failure?.message).toContain("wrong_parent");
    await other.close();
  });
});

describe("a check that gives no clear yes", () => {
  const verdicts = (given: unknown): OperationSecurity => ({ evaluate: () => given as never });

  it("of operation security refuses: a promise, nothing, another word", async () => {
    const of = bank();
    const yes = { verdict: "allow", rule: "r", message: "" };
    for (const given of [
      Promise.resolve(yes),
      undefined,
      null,
      {},
      { verdict: "ALLOW" },
      { verdict: true },
      "allow",
    ]) {
      const host = await hostAt(null, of, { ...OPEN, security: verdicts(given) });
      expect(said((await begin(host)).run)).toEqual(["denied", "security_error"]);
      await host.close();
    }
    const host = await hostAt(null, of, { ...OPEN, security: verdicts(yes) });
    expect((await begin(host)).run.state).toBe("verified");
    await host.close();
  });

  it("of operation security may ask, where the policy alone would not", async () => {
    const security = verdicts({ verdict: "need_approval", rule: "r", message: "" });
    const host = await hostAt(null, bank(), { ...OPEN, security });
    expect((await begin(host)).run.state).toBe("awaiting_approval");
    await host.close();
  });

  it("of the tool's own arguments refuses: a promise, nothing, anything but null", async () => {
    for (const given of [undefined, Promise.resolve(null), false, 0, "", "amount is missing", {}]) {
      const of = bank({ tool: { fault: () => given } });
      const host = await hostAt(null, of, OPEN);
      expect(said((await begin(host)).run)).toEqual(["denied", "tool_arguments_invalid"]);
      expect(of.pay.calls).toHaveLength(0);
      await host.close();
    }
  });

  it("of the verifier, before each effect, sees what was done before it", async () => {
    const of = bank();
    const host = await hostAt(null, of, OPEN);
    const two = recipeOf([CHECK, pay("one", ["check"]), pay("two", ["one"])]);
    const none = {
      op: "equal",
      left: { op: "count", list: { input: "context/operations" } },
      right: 0,
    };
    const { run } = await begin(host, two, INPUTS, { ...VERIFIER, before_effect: none });
    expect(said(run)).toEqual(["rejected", "before_effect_refused"]);
    expect(of.pay.calls).toHaveLength(1);
    await host.close();
  });
});

describe("the category of a tool", () => {
  it("comes from its review: hints of its server lower nothing (B027)", async () => {
    const wipe = madeTool("bank.pay", paid);
    const definition = {
      ...wipe.tool.definition,
      annotations: { readOnlyHint: true, destructiveHint: false },
    };
    const hinted = { ...wipe, tool: { ...wipe.tool, definition } };
    const unreviewed = await hostAt(null, { tools: [{ tool: hinted.tool, review: null }] });
    expect(said((await begin(unreviewed)).run)).toEqual(["denied", "tool_not_reviewed"]);
    await unreviewed.close();
    const host = await hostAt(null, { tools: [registration(hinted, "effect")] });
    expect((await begin(host)).run.state).toBe("awaiting_approval");
    const read = recipeOf([{ ...READ, step: { ...READ.step, tool: "bank.pay" } }]);
    expect(said((await begin(host, read)).run)).toEqual(["denied", "tool_wrong_category"]);
    await host.close();
    expect(wipe.calls).toHaveLength(0);
  });

  it("cannot be talked away by how the tool is registered: an effect under read permissions is an effect", async () => {
    const of = bank();
    const tools = of.tools.map((one) => ({ ...one, permissions: ["tool:read:bank.pay"] }));
    for (const profile of ["readonly", "standard"] as const) {
      const host = await hostAt(null, { tools }, { policy: { ...policy, profile } });
      const { run } = await begin(host);
      expect(run.state).toBe(profile === "readonly" ? "denied" : "awaiting_approval");
      await host.close();
    }
    expect(of.pay.calls).toHaveLength(0);
  });

  it("of an effect is no read's, although the recipe says so, nor the other way round", async () => {
    const of = bank();
    const host = await hostAt(null, of, OPEN);
    const effect = recipeOf([
      CHECK,
      pay("pay", ["check"], { output: "json" }, { tool: "bank.balance" }),
    ]);
    expect(said((await begin(host, effect)).run)).toEqual(["denied", "tool_wrong_category"]);
    expect(of.balance.calls).toHaveLength(0);
    await host.close();
  });

  it("of a renamed tool is nobody's: its review is of another (B031)", async () => {
    const of = bank();
    const [, paying] = of.tools;
    const definition = { ...of.pay.tool.definition, name: "bank.transfer" };
    const renamed = { tool: { ...of.pay.tool, definition }, review: paying?.review ?? null };
    const host = await hostAt(null, { tools: [renamed] }, OPEN);
    const recipe = recipeOf([CHECK, pay("pay", ["check"], {}, { tool: "bank.transfer" })]);
    expect(said((await begin(host, recipe)).run)).toEqual(["denied", "tool_review_invalid"]);
    expect(said((await begin(host)).run)).toEqual(["denied", "tool_unknown"]);
    await host.close();
  });
});

describe("the trust store of a host", () => {
  const next = (change: Partial<TrustDocument> = {}, version = 2) =>
    signTrust(trustDocument({ version, ...change }), [KEYS.root]);

  it("goes one version on, and never back, over restarts", async () => {
    const directory = places.fresh();
    const open = async (given: JsonValue) => {
      const host = await hostAt(directory, bank(), { trust: given });
      await host.close();
      return "opened";
    };
    expect(await open(trust())).toBe("opened");
    expect(await open(trust())).toBe("opened");
    expect(await refusal(open(next({}, 3)))).toBe("trust_refused: wrong_version");
    expect(await refusal(open(next({ keys: [] })))).toBe("trust_refused: key_removed");
    expect(await open(next())).toBe("opened");
    expect(await refusal(open(trust()))).toBe("trust_refused: wrong_version");
    expect(await refusal(open(next({ issued: 5 })))).toBe("trust_refused: wrong_version");
    expect(await open(next())).toBe("opened");
    expect(await open(next({}, 3))).toBe("opened");
  });

  it("is this host's, and the first one vouches for itself only when there is none", async () => {
    const other = { audience: "other.example/x" };
    expect(
      await refusal(hostAt(null, bank(), { trust: signTrust(trustDocument(other), [KEYS.root]) })),
    ).toBe("trust_refused: wrong_audience");
    expect(await refusal(hostAt(null, bank(), { trust: null }))).toBe(
      "trust_refused: malformed_envelope",
    );
    const directory = places.fresh();
    await (await hostAt(directory, bank())).close();
    const root = { threshold: 1, keys: [textOf(KEYS.stranger)] };
    const own = signTrust(trustDocument({ root, version: 2 }), [KEYS.stranger]);
    expect(await refusal(hostAt(directory, bank(), { trust: own }))).toBe(
      "trust_refused: threshold_not_met",
    );
  });

  it("is recorded once by two processes that adopt it at once", async () => {
    const directory = places.fresh();
    await (await hostAt(directory, bank())).close();
    const both = await Promise.allSettled([
      hostAt(directory, bank(), { trust: next() }),
      hostAt(directory, bank(), { trust: next({ expires: nowSeconds() + 77_777 }) }),
    ]);
    const opened = both.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(opened).toHaveLength(1);
    const [host] = opened;
    if (host === undefined) throw new Error("none opened");
    const entries = partsOf(host).journal.read(HOST_CHAIN);
    expect(entries.filter(({ entry }) => entry.type === "trust")).toHaveLength(2);
    await host.close();
  });

  it("reads no more of the record than its own entries, however much lies between them", async () => {
    const directory = places.fresh();
    const versions = [trust(), next(), next({}, 3)];
    for (const given of versions) {
      const host = await hostAt(directory, bank(), { trust: given });
      const { run } = await begin(host);
      await host.fileDecision(decision(asked(run), KEYS.alice, "alice"));
      await host.close();
    }
    const host = await hostAt(directory, bank(), { trust: versions[2] ?? null });
    const { journal } = partsOf(host);
    const reads: (number | undefined)[] = [];
    const counting: Journal = {
      ...journal,
      read: (chain, from, limit) => {
        reads.push(limit);
        return journal.read(chain, from, limit);
      },
    };
    const now = await adoptTrust(counting, versions[2]);
    expect(now().document.version).toBe(3);
    expect(reads).toEqual([1, 1, 1]);
    // A hint that leads elsewhere, since somebody else wrote in between, costs a longer look and nothing more.
    const lost: Journal = {
      ...journal,
      total: (counter) => journal.total(counter) + (counter === "trust/entry" ? 1n : 0n),
    };
    expect((await adoptTrust(lost, versions[2]))().document.version).toBe(3);
    await host.close();
  });

  it("may be as large as it has to be", async () => {
    const keys = Array.from({ length: 300 }, (_, at) => ({
      ...(trustDocument().keys[0] as TrustDocument["keys"][number]),
      public: textOf(seededFrom(at)),
      name: `k${at}`,
      role: "witness" as const,
    }));
    const directory = places.fresh();
    const large = signTrust(trustDocument({ keys: [...trustDocument().keys, ...keys] }), [
      KEYS.root,
    ]);
    const host = await hostAt(directory, bank(), { trust: large });
    const { run } = await begin(host, ONE_PAYMENT);
    await host.fileDecision(decision(asked(run), KEYS.alice, "alice"));
    expect(await run.advanceAsync(host)).toBe("verified");
    await host.close();
    const again = await hostAt(directory, bank(), { trust: large });
    await again.close();
  });

  it("past its date admits nothing, and answers no open operation either", async () => {
    const of = bank();
    const host = await hostAt(null, of, {
      ...OPEN,
      trust: signTrust(trustDocument({ expires: 5 }), [KEYS.root]),
    });
    expect(said((await begin(host)).run)).toEqual(["denied", "trust_expired"]);
    expect(said((await begin(host, ONE_READ)).run)).toEqual(["denied", "trust_expired"]);
    expect(of.pay.calls.length + of.balance.calls.length).toBe(0);
    await host.close();
  });
});

describe("the options of a host", () => {
  it("that are left out do not pass for `none`", async () => {
    const bad: readonly (readonly [object, string])[] = [
      [{ intent: undefined }, "intent"],
      [{ intent: { tools: ["*"] } }, "intent"],
      [{ intent: { statement: "x", tools: "*" } }, "intent"],
      [{ warrant: undefined }, "warrant"],
      [{ warrant: {} }, "warrant"],
      [{ identity: undefined }, "identity"],
      [{ identity: {} }, "identity"],
      [{ identity: { name: "agent", key: "short" } }, "identity"],
      [{ callMs: 0 }, "callMs"],
      [{ callMs: 2 ** 31 }, "callMs"],
      [{ callMs: Number.NaN }, "callMs"],
      [{ readAttempts: 0 }, "readAttempts"],
      [{ requestSeconds: 0 }, "requestSeconds"],
      [{ requestSeconds: 1.5 }, "requestSeconds"],
      [{ policy: { ...policy, profile: "admin" } }, "policy"],
      [{ budget: { run: {} } }, "budget"],
    ];
    for (const [change, what] of bad) {
      const made = hostAt(null, bank(), change as Options);
      await expect(made, JSON.stringify(change)).rejects.toMatchObject({ code: "host_invalid" });
      await expect(hostAt(null, bank(), change as Options)).rejects.toThrow(what);
    }
  });
});

function seededFrom(at: number) {
  const seed = new Uint8Array(32).fill(200);
  seed[0] = at & 255;
  seed[1] = at >> 8;
  return seededBy(seed);
}
