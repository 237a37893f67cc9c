import { describe, expect, it } from "vitest";
import { type PolicyDocument, policySchema } from "../../../src/model/policy.ts";
import { decide } from "../../../src/policy/decide.ts";
import { POLICY } from "../../support/host.ts";

function policy(change: Partial<PolicyDocument> = {}): PolicyDocument {
  return { ...POLICY, ...change };
}

const verdict = (change: Partial<PolicyDocument>, ...needed: readonly string[]) =>
  decide(policy(change), needed).verdict;

describe("a policy", () => {
  it("readonly allows reads and denies effects, whatever else it grants", () => {
    const readonly = { profile: "readonly" } as const;
    expect(verdict(readonly, "tool:read:bank.balance")).toBe("allow");
    expect(verdict(readonly, "tool:effect:bank.pay")).toBe("deny");
    expect(verdict({ ...readonly, grants: ["tool:effect:bank.pay"] }, "tool:effect:bank.pay")).toBe(
      "deny",
    );
    expect(verdict({ ...readonly, approvable: ["*:*:*"] }, "tool:effect:bank.pay")).toBe("deny");
  });

  it("standard asks about effects, privileged does not", () => {
    expect(verdict({ profile: "standard" }, "tool:effect:bank.pay")).toBe("need_approval");
    expect(verdict({ profile: "privileged" }, "tool:effect:bank.pay")).toBe("allow");
    expect(verdict({ profile: "standard" }, "tool:read:bank.balance")).toBe("allow");
  });

  it("allows nothing that is not granted", () => {
    for (const profile of ["readonly", "standard", "privileged"] as const) {
      expect(verdict({ profile }, "shell:execute:rm")).toBe("deny");
      expect(verdict({ profile }, "tool:write:x")).toBe("deny");
    }
  });

  it("wants every permission of an operation: one that is denied denies all", () => {
    const both = ["tool:read:a", "tool:read:b"];
    expect(verdict({}, ...both)).toBe("allow");
    expect(verdict({ deny: ["tool:read:b"] }, ...both)).toBe("deny");
    expect(verdict({ approvable: ["tool:read:b"] }, ...both)).toBe("need_approval");
    expect(verdict({ approvable: ["tool:read:b"] }, ...both.toReversed())).toBe("need_approval");
  });

  it("takes a no over a yes, and asking over granting, however special the yes is (B012)", () => {
    const needed = "file:read:/docs/a";
    expect(verdict({ grants: [needed], deny: ["file:read:/docs/**"] }, needed)).toBe("deny");
    expect(verdict({ grants: [needed], deny: ["*:*:*"] }, needed)).toBe("deny");
    expect(verdict({ grants: [needed], approvable: ["file:*:*"] }, needed)).toBe("need_approval");
    expect(verdict({ approvable: [needed], deny: [needed] }, needed)).toBe("deny");
  });

  it("lets its own words stand before those of its profile, where these do not deny", () => {
    const pay = "tool:effect:bank.pay";
    expect(verdict({ grants: [pay] }, pay)).toBe("allow");
    expect(verdict({ grants: [pay] }, "tool:effect:bank.close")).toBe("need_approval");
    expect(verdict({ profile: "privileged", approvable: [pay] }, pay)).toBe("need_approval");
  });

  it("denies what names no permission, or names it in no way that can be read", () => {
    for (const needed of [
      [],
      [""],
      ["tool"],
      ["tool:read"],
      ["tool:read:"],
      [":read:x"],
      ["tool::x"],
      ["tool:read:a b"],
      ["tool:read:a\n"],
      ["tool:re*d:a"],
      ["tool:read:a*"],
      ["tool:read:a", ""],
    ]) {
      const decision = decide(policy({ profile: "privileged", grants: ["*:*:*"] }), needed);
      expect([decision.verdict, decision.error], JSON.stringify(needed)).toEqual(["deny", true]);
    }
  });

  it("denies a place that is named in a roundabout way, under which a rule would not find it", () => {
    const open = { profile: "privileged", grants: ["file:*:*"] } satisfies Partial<PolicyDocument>;
    for (const scope of ["/a/../b", "../b", "/a/./b", "/a//b", "/a/", "."]) {
      expect(verdict(open, `file:read:${scope}`), scope).toBe("deny");
    }
    expect(verdict(open, "file:read:/a/..b/.c")).toBe("allow");
  });

  it("takes a rule that cannot be read to deny everything, and to grant nothing", () => {
    const bad = "file:read:/a/../b";
    expect(verdict({ profile: "privileged", deny: [bad] }, "tool:read:x")).toBe("deny");
    expect(verdict({ profile: "readonly", grants: [bad] }, "file:write:/b")).toBe("deny");
    expect(verdict({ profile: "privileged", approvable: [bad] }, "tool:effect:x")).toBe(
      "need_approval",
    );
  });

  it("says by which rules it decided", () => {
    const rules = (change: Partial<PolicyDocument>, needed: string) =>
      decide(policy(change), [needed]).rules;
    expect(rules({}, "tool:effect:x")).toEqual(["approvable:*:effect:*"]);
    expect(rules({}, "tool:read:x")).toEqual(["grant:*:read:*"]);
    expect(rules({ deny: ["tool:read:x"] }, "tool:read:x")).toEqual(["deny:tool:read:x"]);
    expect(rules({}, "shell:run:x")).toEqual([]);
  });
});

describe("the policy document", () => {
  const parses = (change: object) => policySchema.safeParse({ ...policy(), ...change }).success;

  it("is closed: what is misspelt or misplaced does not pass for a rule (B024)", () => {
    expect(parses({})).toBe(true);
    expect(parses({ denies: ["*:*:*"] })).toBe(false);
    expect(parses({ approvals: { required: 1, requester_may_approve: false, max: 3 } })).toBe(
      false,
    );
    expect(parses({ profile: "admin" })).toBe(false);
    const { deny: _, ...less } = policy();
    expect(policySchema.safeParse(less).success).toBe(false);
  });

  it("has no rule that cannot be read", () => {
    for (const rule of ["*", "a:b", "a:b:../c", "a:b:/c/**/d", "a:b:c*", "a b:c:d", ""]) {
      expect(parses({ deny: [rule] }), rule).toBe(false);
      expect(parses({ grants: [rule] }), rule).toBe(false);
    }
    for (const rule of [
      "*:*:*",
      "a:b:c",
      "a:b:/c/**",
      "a:b:c/d/**",
      "a:b:/**",
      "mcp:effect:srv:tool",
    ]) {
      expect(parses({ deny: [rule] }), rule).toBe(true);
    }
  });

  it("wants one approver at least", () => {
    for (const required of [0, -1, 1.5, 17]) {
      expect(parses({ approvals: { required, requester_may_approve: false } })).toBe(false);
    }
  });
});
