import fc from "fast-check";
import { expect, it } from "vitest";
import type { PolicyDocument } from "../../src/model/policy.ts";
import { decide } from "../../src/policy/decide.ts";
import { covers, overlaps, type Permission, parsePermission } from "../../src/policy/permission.ts";

const name = fc.constantFrom("a", "b", "c");
const pattern = fc.oneof(name, fc.constant("*"));
const place = fc
  .array(name, { minLength: 1, maxLength: 3 })
  .chain((parts) => fc.constantFrom(parts.join("/"), `/${parts.join("/")}`));
const scope = fc.oneof(
  place,
  place.map((text) => `${text}/**`),
  fc.constant("*"),
  fc.constant("/**"),
);

const rule = fc.tuple(pattern, pattern, scope).map((parts) => parts.join(":"));
/** What an operation needs: one thing, not a pattern. */
const concrete = fc.tuple(name, name, place).map((parts) => parts.join(":"));
const needed = fc.oneof({ weight: 4, arbitrary: concrete }, { weight: 1, arbitrary: rule });

const rules = fc.array(rule, { maxLength: 4 });
const policies: fc.Arbitrary<PolicyDocument> = fc.record({
  version: fc.constant(1),
  id: fc.constant("p"),
  profile: fc.constantFrom("readonly", "standard", "privileged"),
  grants: rules,
  approvable: rules,
  deny: rules,
  approvals: fc.constant({ required: 1, requester_may_approve: false }),
});

const STRICTNESS = { allow: 0, need_approval: 1, deny: 2 } as const;
const strictness = (policy: PolicyDocument, permissions: readonly string[]) =>
  STRICTNESS[decide(policy, permissions).verdict];

function read(text: string): Permission {
  const permission = parsePermission(text);
  if (permission === undefined) throw new Error(`${text} is not read`);
  return permission;
}

const runs = { numRuns: 2_000 };

it("a permission covers itself, and what it covers covers no more than it", () => {
  fc.assert(
    fc.property(rule, rule, rule, (one, two, three) => {
      const [a, b, c] = [read(one), read(two), read(three)];
      expect(covers(a, a)).toBe(true);
      if (covers(a, b) && covers(b, c)) expect(covers(a, c)).toBe(true);
    }),
    runs,
  );
});

it("two permissions that cover each other are the same", () => {
  fc.assert(
    fc.property(rule, rule, (one, two) => {
      if (covers(read(one), read(two)) && covers(read(two), read(one))) expect(one).toBe(two);
    }),
    runs,
  );
});

it("two rules overlap, in either order, whenever one thing falls under both", () => {
  fc.assert(
    fc.property(rule, rule, concrete, (one, two, thing) => {
      const [a, b, c] = [read(one), read(two), read(thing)];
      expect(overlaps(a, b)).toBe(overlaps(b, a));
      if (covers(a, c) && covers(b, c)) expect(overlaps(a, b)).toBe(true);
      if (covers(a, b)) expect(overlaps(a, b)).toBe(true);
      // For one thing, to overlap is to be covered: a deny rule that is about it denies it.
      expect(overlaps(a, c)).toBe(covers(a, c));
    }),
    runs,
  );
});

it("what a deny rule is about is denied, whatever is granted", () => {
  fc.assert(
    fc.property(policies, rule, needed, (policy, deny, one) => {
      fc.pre(overlaps(read(deny), read(one)));
      const denying = { ...policy, deny: [...policy.deny, deny] };
      expect(decide(denying, [one]).verdict).toBe("deny");
    }),
    runs,
  );
});

it("a deny rule or one that asks, added anywhere, never makes a decision milder", () => {
  fc.assert(
    fc.property(policies, rule, fc.array(needed, { maxLength: 3 }), (policy, added, list) => {
      const before = strictness(policy, list);
      expect(strictness({ ...policy, deny: [added, ...policy.deny] }, list)).toBeGreaterThanOrEqual(
        before,
      );
      // Asking opens what was closed, so it is stricter only than granting.
      if (before === STRICTNESS.deny) return;
      const asking = { ...policy, approvable: [added, ...policy.approvable] };
      expect(strictness(asking, list)).toBeGreaterThanOrEqual(before);
    }),
    runs,
  );
});

it("to need more is never to be allowed more", () => {
  fc.assert(
    fc.property(
      policies,
      needed,
      fc.array(needed, { minLength: 1, maxLength: 3 }),
      (policy, one, list) => {
        expect(strictness(policy, [...list, one])).toBeGreaterThanOrEqual(strictness(policy, list));
      },
    ),
    runs,
  );
});

it("what a pattern is allowed, everything under it is allowed", () => {
  fc.assert(
    fc.property(policies, rule, concrete, (policy, all, one) => {
      fc.pre(covers(read(all), read(one)));
      expect(strictness(policy, [one])).toBeLessThanOrEqual(strictness(policy, [all]));
    }),
    runs,
  );
});

it("nothing granted, and nothing to ask about, is nothing allowed", () => {
  fc.assert(
    fc.property(policies, concrete, (policy, one) => {
      const empty = { ...policy, grants: [], approvable: [] };
      const action = read(one).action;
      // The profiles speak of reads and effects only.
      expect(["a", "b", "c"]).toContain(action);
      expect(decide(empty, [one]).verdict).toBe("deny");
    }),
    runs,
  );
});

it("no text that is not a permission is ever allowed", () => {
  fc.assert(
    fc.property(policies, fc.string({ maxLength: 20 }), (policy, text) => {
      fc.pre(parsePermission(text) === undefined);
      const open = { ...policy, profile: "privileged" as const, grants: ["*:*:*"], deny: [] };
      const decision = decide(open, [text]);
      expect([decision.verdict, decision.error]).toEqual(["deny", true]);
    }),
    runs,
  );
});
