import { afterAll, describe, expect, it } from "vitest";
import { adoptTrust } from "../../../src/app/adopt-trust.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { privateKey as seededBy } from "../../../src/base/sign.ts";
import { partsOf } from "../../../src/host/index.ts";
import { HOST_CHAIN } from "../../../src/model/journal.ts";
import type { TrustDocument } from "../../../src/model/trust.ts";
import type { Journal } from "../../../src/ports/journal.ts";
import { signTrust } from "../../../src/trust/trust-store.ts";
import { directories } from "../../support/directories.ts";
import {
  asked,
  bank,
  begin,
  hostAt,
  ONE_PAYMENT,
  ONE_READ,
  OPEN,
  type Options,
  refusal,
  said,
} from "../../support/gate.ts";
import { decision, KEYS, nowSeconds, POLICY, trust, trustDocument } from "../../support/host.ts";
import { textOf } from "../../support/trust.ts";

const places = directories();
afterAll(() => places.remove());

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
      [{ policy: { ...POLICY, profile: "admin" } }, "policy"],
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
