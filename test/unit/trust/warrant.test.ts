import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import type { PrivateKey } from "../../../src/base/sign.ts";
import { type Constraint, PAYLOAD_TYPES, type Warrant } from "../../../src/model/trust.ts";
import { envelopeDigest } from "../../../src/trust/signed-document.ts";
import {
  checkWarrant,
  MAX_WARRANT_DEPTH,
  signWarrant,
  warrantRefusal,
} from "../../../src/trust/warrant.ts";
import { KEYS, ORIGIN } from "../../support/host.ts";
import {
  NOW,
  relisted,
  seeded,
  signRaw,
  someDigest,
  store,
  textOf,
  warrantOf,
} from "../../support/trust.ts";

const TRUST = store();
const HOLDERS = [20, 21, 22, 23, 24].map(seeded) as [PrivateKey, ...PrivateKey[]];

function verdict(chain: readonly JsonValue[], { trust = TRUST, now = NOW } = {}) {
  const checked = checkWarrant(chain, ORIGIN, trust, now);
  return checked.ok ? "good" : `${checked.error.link}: ${checked.error.fault}`;
}

/** A chain in which each holder hands on, with the members given for each. */
function chainOf(...changes: readonly Partial<Warrant>[]): JsonValue[] {
  const chain: JsonValue[] = [];
  for (const [at, change] of changes.entries()) {
    const parent = chain.at(-1);
    const holder = HOLDERS[at];
    const signer = at === 0 ? KEYS.issuer : HOLDERS[at - 1];
    if (holder === undefined || signer === undefined) throw new Error("too long a chain");
    const warrant = warrantOf({
      parent: parent === undefined ? null : envelopeDigest(parent),
      holder_key: textOf(holder),
      ...change,
    });
    chain.push(signWarrant(warrant, signer));
  }
  return chain;
}

describe("a root warrant", () => {
  it("is signed by the issuer that it names, with a key that is usable now", () => {
    expect(verdict(chainOf({}))).toBe("good");
    expect(verdict(chainOf({ issuer: "alice" }))).toBe("0: wrong_issuer");
    expect(verdict([signWarrant(warrantOf({ issuer: "alice" }), KEYS.alice)])).toBe(
      "0: wrong_role",
    );
    expect(verdict([signWarrant(warrantOf(), KEYS.stranger)])).toBe("0: unknown_key");
    // Its own holder vouches for nothing either.
    expect(verdict([signWarrant(warrantOf(), HOLDERS[0])])).toBe("0: unknown_key");
    const revoked = { at: NOW, reason: "left" };
    const trust = store({ keys: relisted(KEYS.issuer, { revoked }) });
    expect(verdict(chainOf({}, {}), { trust })).toBe("0: revoked");
  });

  it("names no parent, this host, and a time that includes now", () => {
    expect(verdict(chainOf({ parent: someDigest("1") }))).toBe("0: wrong_parent");
    expect(verdict(chainOf({ audience: "other.example/journal" }))).toBe("0: wrong_audience");
    expect(verdict(chainOf({ not_before: NOW }))).toBe("good");
    expect(verdict(chainOf({ not_before: NOW + 1 }))).toBe("0: warrant_not_yet_valid");
    expect(verdict(chainOf({ expires: NOW + 1 }))).toBe("good");
    expect(verdict(chainOf({ expires: NOW }))).toBe("0: warrant_expired");
  });

  it("is refused with a member too many or too few: a limit that is left out is no limit (B023)", () => {
    for (const member of Object.keys(warrantOf())) {
      const { [member as "tools"]: _, ...less } = warrantOf();
      const envelope = signRaw(PAYLOAD_TYPES.warrant, less, KEYS.issuer);
      expect(verdict([envelope]), member).toBe("0: malformed_document");
    }
    const more = { ...warrantOf(), max_amount: "100" };
    expect(verdict([signRaw(PAYLOAD_TYPES.warrant, more, KEYS.issuer)])).toBe(
      "0: malformed_document",
    );
    const nothing = { ...warrantOf(), tools: [] };
    expect(verdict([signRaw(PAYLOAD_TYPES.warrant, nothing, KEYS.issuer)])).toBe(
      "0: malformed_document",
    );
  });

  it("is needed: no chain is no warrant", () => {
    expect(verdict([])).toBe("0: no_warrant");
  });
});

describe("a chain of warrants", () => {
  it("has four links at most (B030)", () => {
    expect(MAX_WARRANT_DEPTH).toBe(4);
    expect(verdict(chainOf({}, {}, {}, {}))).toBe("good");
    expect(verdict(chainOf({}, {}, {}, {}, {}))).toBe("4: warrant_too_deep");
    const fifty = Array.from({ length: 50 }, () => signWarrant(warrantOf(), KEYS.issuer));
    expect(verdict(fifty)).toBe("4: warrant_too_deep");
  });

  it("names in each link the digest of the whole link before it, signature included (B030)", () => {
    expect(verdict(chainOf({}, { parent: someDigest("1") }))).toBe("1: wrong_parent");
    expect(verdict(chainOf({}, { parent: null }))).toBe("1: wrong_parent");
    expect(verdict(chainOf({}, {}, { parent: someDigest("1") }))).toBe("2: wrong_parent");
    // The same words, signed by another issuer of the same store, are another parent.
    const [root, child] = chainOf({}, {});
    const trust = store({ keys: relisted(KEYS.bob, { name: "ida", role: "warrant_issuer" }) });
    const twin = signWarrant(warrantOf(), KEYS.bob);
    expect(verdict([twin], { trust })).toBe("good");
    expect(verdict([twin, child ?? null], { trust })).toBe("1: wrong_parent");
    expect(verdict([root ?? null, child ?? null], { trust })).toBe("good");
  });

  it("cannot leave out a link, change their order, or begin in the middle (B030)", () => {
    const [one = null, two = null, three = null] = chainOf({}, {}, {});
    expect(verdict([one, two, three])).toBe("good");
    expect(verdict([one, three])).toBe("1: unknown_key");
    expect(verdict([two, three])).toBe("0: unknown_key");
    expect(verdict([one, three, two])).toBe("1: unknown_key");
    expect(verdict([one, two, two])).toBe("2: unknown_key");
    expect(verdict([one, one])).toBe("1: unknown_key");
  });

  it("is handed on by the holder of the link before, and by nobody else (B030)", () => {
    const [root = null] = chainOf({});
    const child = warrantOf({
      parent: envelopeDigest(root),
      holder_key: textOf(HOLDERS[1] ?? HOLDERS[0]),
    });
    for (const other of [KEYS.issuer, KEYS.stranger, KEYS.root, HOLDERS[2] ?? HOLDERS[0]]) {
      expect(verdict([root, signWarrant(child, other)])).toBe("1: unknown_key");
    }
    expect(verdict([root, signWarrant(child, HOLDERS[0])])).toBe("good");
  });

  it("only narrows: no tool, number or second more than the link before (B023)", () => {
    const parent = { max_effects: 3, max_reads: 4, tools: ["a", "b"] };
    const child = (change: Partial<Warrant>) => verdict(chainOf(parent, { ...parent, ...change }));
    expect(child({})).toBe("good");
    expect(child({ tools: ["b"], max_effects: 0, max_reads: 0 })).toBe("good");
    expect(child({ not_before: NOW, expires: NOW + 1 })).toBe("good");
    const wider: readonly Partial<Warrant>[] = [
      { tools: ["a", "c"] },
      { tools: ["A"] },
      { max_effects: 4 },
      { max_reads: 5 },
      { not_before: NOW - 101 },
      { expires: NOW + 1001 },
    ];
    for (const change of wider)
      expect(child(change), JSON.stringify(change)).toBe("1: warrant_widens");
    expect(child({ audience: "other.example/journal" })).toBe("1: wrong_audience");
    // The third link is held against the second, not against the root.
    const narrowed = { ...parent, max_effects: 1 };
    expect(verdict(chainOf(parent, narrowed, parent))).toBe("2: warrant_widens");
  });

  it("counts from its root, belongs to its last holder, and ends with its first end", () => {
    const chain = chainOf({ max_effects: 3 }, { max_effects: 2, expires: NOW + 50 });
    const checked = checkWarrant(chain, ORIGIN, TRUST, NOW);
    if (!checked.ok) throw new Error(checked.error.fault);
    expect(checked.value.root).toBe(envelopeDigest(chain[0] ?? null));
    expect(checked.value.leaf).toBe(envelopeDigest(chain[1] ?? null));
    expect(checked.value.holderKey).toBe(textOf(HOLDERS[1] ?? HOLDERS[0]));
    expect([checked.value.maxEffects, checked.value.until]).toEqual([2, NOW + 50]);
  });
});

describe("a constraint of a warrant", () => {
  const under = (constraint: Constraint | readonly Constraint[], args: JsonValue) => {
    const constraints = Array.isArray(constraint) ? [...constraint] : [constraint as Constraint];
    const checked = checkWarrant(chainOf({ constraints }), ORIGIN, TRUST, NOW);
    if (!checked.ok) throw new Error(checked.error.fault);
    return warrantRefusal(checked.value, "bank.pay", args) === undefined;
  };

  it("is about tools that the warrant names", () => {
    const checked = checkWarrant(chainOf({}), ORIGIN, TRUST, NOW);
    if (!checked.ok) throw new Error(checked.error.fault);
    expect(warrantRefusal(checked.value, "bank.pay", {})).toBeUndefined();
    for (const tool of ["bank.close", "bank.pay2", "bank", "", "*"]) {
      expect(warrantRefusal(checked.value, tool, {})).toContain("does not name the tool");
    }
  });

  it("eq: the same scalar, of the same type", () => {
    const is7: Constraint = { pointer: "/row", op: "eq", value: 7 };
    expect(under(is7, { row: 7 })).toBe(true);
    for (const row of ["7", 8, null, true, [7], { row: 7 }])
      expect(under(is7, { row })).toBe(false);
    expect(under({ pointer: "/a", op: "eq", value: null }, { a: null })).toBe(true);
    expect(under({ pointer: "/a", op: "eq", value: false }, { a: 0 })).toBe(false);
  });

  it("in: one of the scalars", () => {
    const some: Constraint = { pointer: "/to", op: "in", value: ["a", 1, null] };
    for (const to of ["a", 1, null]) expect(under(some, { to })).toBe(true);
    for (const to of ["b", "1", 0, ["a"]]) expect(under(some, { to })).toBe(false);
  });

  it("le and ge: integers of any size, as text or as safe numbers", () => {
    const most: Constraint = { pointer: "/amount", op: "le", value: "100" };
    for (const amount of ["100", 100, "-5", 0]) expect(under(most, { amount })).toBe(true);
    for (const amount of ["101", 101, "1e1", "099", "5.0", " 5", "", 5.5, null, true, ["5"]]) {
      expect(under(most, { amount }), JSON.stringify(amount)).toBe(false);
    }
    const least: Constraint = { pointer: "/amount", op: "ge", value: "9007199254740993" };
    expect(under(least, { amount: "9007199254740993" })).toBe(true);
    expect(under(least, { amount: "9007199254740992" })).toBe(false);
    expect(
      under({ pointer: "/amount", op: "ge", value: "0" }, { amount: "9".repeat(10_001) }),
    ).toBe(false);
  });

  it("prefix: the beginning of a text", () => {
    const docs: Constraint = { pointer: "/path", op: "prefix", value: "/docs/" };
    expect(under(docs, { path: "/docs/a" })).toBe(true);
    for (const path of ["/docs", "/doc/a", "x/docs/", 7, null, ["/docs/a"]]) {
      expect(under(docs, { path })).toBe(false);
    }
  });

  it("does not hold where there is no value, and looks at own members only", () => {
    const constraint: Constraint = { pointer: "/a/0/b", op: "eq", value: 1 };
    expect(under(constraint, { a: [{ b: 1 }] })).toBe(true);
    for (const args of [{}, { a: [] }, { a: { 0: { c: 1 } } }, { a: [[1]] }, null, "a", []]) {
      expect(under(constraint, args as JsonValue)).toBe(false);
    }
    expect(under({ pointer: "/a/length", op: "eq", value: 2 }, { a: [1, 2] })).toBe(false);
    expect(under({ pointer: "/toString", op: "prefix", value: "f" }, {})).toBe(false);
    expect(under({ pointer: "", op: "eq", value: "whole" }, "whole")).toBe(true);
  });

  it("of an operator that is not known refuses the warrant, as does one that is malformed", () => {
    const bad: readonly object[] = [
      { pointer: "/a", op: "lt", value: "5" },
      { pointer: "/a", op: "matches", value: ".*" },
      { pointer: "/a", op: "eq", value: 1, unless: "/b" },
      { pointer: "/a", op: "eq", value: [1] },
      { pointer: "/a", op: "eq" },
      { pointer: "/a", op: "le", value: 5 },
      { pointer: "/a", op: "le", value: "05" },
      { pointer: "/a", op: "in", value: [] },
      { pointer: "/a", op: "prefix", value: "" },
      { pointer: "a", op: "eq", value: 1 },
      { pointer: "/a~2", op: "eq", value: 1 },
    ];
    for (const constraint of bad) {
      const warrant = { ...warrantOf(), constraints: [constraint] };
      expect(verdict([signRaw(PAYLOAD_TYPES.warrant, warrant, KEYS.issuer)])).toBe(
        "0: malformed_document",
      );
    }
  });

  it("of any link holds for the whole chain: handing on removes none", () => {
    const limit: Constraint = { pointer: "/amount", op: "le", value: "100" };
    const chain = chainOf({ constraints: [limit] }, { constraints: [] }, { constraints: [] });
    const checked = checkWarrant(chain, ORIGIN, TRUST, NOW);
    if (!checked.ok) throw new Error(checked.error.fault);
    expect(warrantRefusal(checked.value, "bank.pay", { amount: "100" })).toBeUndefined();
    expect(warrantRefusal(checked.value, "bank.pay", { amount: "101" })).toContain("/amount");
  });
});
