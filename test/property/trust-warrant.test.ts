import fc from "fast-check";
import { expect, it } from "vitest";
import type { JsonValue } from "../../src/base/json.ts";
import type { PrivateKey } from "../../src/base/sign.ts";
import type { Constraint, Warrant } from "../../src/model/trust.ts";
import { envelopeDigest } from "../../src/trust/signed-document.ts";
import {
  type CheckedWarrant,
  checkWarrant,
  signWarrant,
  warrantRefusal,
} from "../../src/trust/warrant.ts";
import { KEYS, ORIGIN } from "../support/host.ts";
import { NOW, seeded, store, textOf, warrantOf } from "../support/trust.ts";

const TRUST = store();
const HOLDERS = [40, 41, 42, 43].map(seeded);
const TOOLS = ["a", "b", "c", "d"];

const scalar = fc.constantFrom<JsonValue[]>("x", "xy", "7", 7, -1, null, true) as fc.Arbitrary<
  string | number | null | boolean
>;
const pointer = fc.constantFrom("/m", "/n");
const bound = fc.integer({ min: -3, max: 12 }).map(String);
const constraint: fc.Arbitrary<Constraint> = fc.oneof(
  fc.record({ pointer, op: fc.constant("eq" as const), value: scalar }),
  fc.record({
    pointer,
    op: fc.constant("in" as const),
    value: fc.array(scalar, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ pointer, op: fc.constantFrom("le" as const, "ge" as const), value: bound }),
  fc.record({
    pointer,
    op: fc.constant("prefix" as const),
    value: fc.constantFrom("x", "xy", "7"),
  }),
);

/** Every member that grants anything, free to be wider or narrower than that of the link before. */
const grant = fc.record({
  tools: fc.subarray(TOOLS, { minLength: 1 }),
  max_effects: fc.integer({ min: 0, max: 5 }),
  max_reads: fc.integer({ min: 0, max: 5 }),
  not_before: fc.integer({ min: NOW - 3, max: NOW }),
  expires: fc.integer({ min: NOW + 1, max: NOW + 4 }),
  constraints: fc.array(constraint, { maxLength: 2 }),
});
type Grant = Pick<
  Warrant,
  "tools" | "max_effects" | "max_reads" | "not_before" | "expires" | "constraints"
>;

const call = fc.record({
  tool: fc.constantFrom(...TOOLS),
  args: fc.record({ m: scalar, n: scalar }, { requiredKeys: [] }) as fc.Arbitrary<JsonValue>,
});

function chainOf(grants: readonly Grant[]): JsonValue[] {
  const chain: JsonValue[] = [];
  for (const [at, given] of grants.entries()) {
    const parent = chain.at(-1);
    const signer = at === 0 ? KEYS.issuer : (HOLDERS[at - 1] as PrivateKey);
    chain.push(
      signWarrant(
        warrantOf({
          ...given,
          parent: parent === undefined ? null : envelopeDigest(parent),
          holder_key: textOf(HOLDERS[at] as PrivateKey),
        }),
        signer,
      ),
    );
  }
  return chain;
}

const check = (grants: readonly Grant[], now = NOW) =>
  checkWarrant(chainOf(grants), ORIGIN, TRUST, now);

function allows(
  warrant: CheckedWarrant,
  { tool, args }: { tool: string; args: JsonValue },
): boolean {
  return warrantRefusal(warrant, tool, args) === undefined;
}

/** What is left of a grant under the one before it. */
function under(parent: Grant, other: Grant): Grant {
  const tools = parent.tools.filter((tool) => other.tools.includes(tool));
  return {
    tools: tools.length === 0 ? parent.tools.slice(0, 1) : tools,
    max_effects: Math.min(parent.max_effects, other.max_effects),
    max_reads: Math.min(parent.max_reads, other.max_reads),
    not_before: Math.max(parent.not_before, other.not_before),
    expires: Math.min(parent.expires, other.expires),
    constraints: other.constraints,
  };
}

/** Chains that narrow at each link. */
const grants = fc.array(grant, { minLength: 2, maxLength: 4 }).map((list) => {
  const narrowed: Grant[] = [];
  for (const one of list) {
    const before = narrowed.at(-1);
    narrowed.push(before === undefined ? one : under(before, one));
  }
  return narrowed;
});

it("a chain that is accepted allows nothing that one of its beginnings does not (B023)", () => {
  fc.assert(
    fc.property(grants, fc.array(call, { minLength: 5, maxLength: 5 }), (list, calls) => {
      const whole = check(list);
      if (!whole.ok) throw new Error(whole.error.fault);
      for (let length = 1; length < list.length; length += 1) {
        const part = check(list.slice(0, length));
        if (!part.ok) throw new Error("a beginning of a good chain is refused");
        for (const one of calls)
          if (allows(whole.value, one)) expect(allows(part.value, one)).toBe(true);
        expect(whole.value.maxEffects).toBeLessThanOrEqual(part.value.maxEffects);
        expect(whole.value.maxReads).toBeLessThanOrEqual(part.value.maxReads);
        expect(whole.value.until).toBeLessThanOrEqual(part.value.until);
        expect(whole.value.root).toBe(part.value.root);
      }
    }),
    { numRuns: 60 },
  );
});

it("a link is accepted exactly when no member of it grants more than that of the link before", () => {
  fc.assert(
    fc.property(grant, grant, (parent, child) => {
      const narrow =
        child.tools.every((tool) => parent.tools.includes(tool)) &&
        child.max_effects <= parent.max_effects &&
        child.max_reads <= parent.max_reads &&
        child.not_before >= parent.not_before &&
        child.expires <= parent.expires;
      expect(check([parent, child]).ok).toBe(narrow);
    }),
    { numRuns: 80 },
  );
});

it("a narrowing of every member is accepted, and its constraints are added to those before", () => {
  fc.assert(
    fc.property(grant, grant, call, (parent, other, one) => {
      const child = under(parent, other);
      const whole = check([parent, child]);
      if (!whole.ok) throw new Error(whole.error.fault);
      const alone = check([{ ...child, constraints: [] }]);
      const constraints = [...parent.constraints, ...child.constraints];
      const together = check([{ ...child, constraints }]);
      if (!alone.ok || !together.ok) throw new Error("a root warrant is refused");
      expect(allows(whole.value, one)).toBe(allows(together.value, one));
      if (constraints.length === 0) expect(allows(whole.value, one)).toBe(allows(alone.value, one));
    }),
    { numRuns: 80 },
  );
});

it("a chain holds at no second at which one of its links does not", () => {
  fc.assert(
    fc.property(grants, fc.integer({ min: NOW - 4, max: NOW + 5 }), (list, now) => {
      const inside = list.every(({ not_before, expires }) => not_before <= now && now < expires);
      expect(check(list, now).ok).toBe(inside);
    }),
    { numRuns: 80 },
  );
});
