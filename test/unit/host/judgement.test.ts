import { describe, expect, it } from "vitest";
import { canonicalBytes } from "../../../src/base/canonical.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { judge, partsOf } from "../../../src/host/index.ts";
import { changeBetween } from "../../../src/host/operation.ts";
import type { GateCode, Operation } from "../../../src/model/operation.ts";
import { bank, hostAt, OPEN } from "../../support/gate.ts";
import { requestOf } from "./gate-outcomes.ts";
import { operationOf } from "./operations.ts";

describe("a judgement", () => {
  const judged = async (change: object) => {
    const host = await hostAt(null, bank(), OPEN);
    const verdict = judge(partsOf(host), { ...requestOf(), ...change } as never);
    await host.close();
    return verdict.kind === "refused" ? verdict.code : verdict.kind;
  };

  it("of an effect wants a rule of a verifier that says yes: none, or another answer, is no", async () => {
    expect(await judged({})).toBe("judged");
    const { beforeEffect: _, ...without } = requestOf();
    const host = await hostAt(null, bank(), OPEN);
    const verdict = judge(partsOf(host), without);
    await host.close();
    expect(verdict.kind === "refused" && verdict.code).toBe("before_effect_refused");
    for (const answer of [undefined, true, 0, "no", Promise.resolve(null)]) {
      expect(await judged({ beforeEffect: () => answer })).toBe("before_effect_refused");
    }
  });

  it("wants the environment that the recipe was bound to, at that moment", async () => {
    const environment = "sha256:e";
    expect(await judged({ environment, environmentNow: () => environment })).toBe("judged");
    for (const now of ["sha256:f", null, undefined]) {
      expect(await judged({ environment, environmentNow: () => now })).toBe("environment_changed");
    }
  });
});

describe("what changed between the request and the admission", () => {
  const OTHER: Partial<{ readonly [member in keyof Operation]: readonly [JsonValue, GateCode] }> = {
    identity: ["eve", "identity_changed"],
    intent: ["sha256:i", "intent_changed"],
    warrant: ["sha256:w", "warrant_changed"],
    trust: ["sha256:t", "trust_changed"],
    tool: [
      { name: "bank.pay", category: "effect", definition: "sha256:d" },
      "tool_definition_changed",
    ],
    policy: ["sha256:p", "policy_changed"],
    budget: ["sha256:b", "budget_changed"],
    environment: ["sha256:e", "environment_changed"],
    verifiers: [["sha256:v"], "verifier_changed"],
    arguments: [{ account: "8" }, "arguments_changed"],
    key: ["k", "arguments_changed"],
    recipe: ["sha256:r", "arguments_changed"],
    run: ["run-y", "arguments_changed"],
    node: ["other", "arguments_changed"],
    index: [0, "arguments_changed"],
    call: [0, "arguments_changed"],
    attempt: [2, "arguments_changed"],
    audience: ["other.example/journal", "arguments_changed"],
    type: ["rote-operation/v2", "arguments_changed"],
  };

  it("is told for each member of an operation, except the time of the request", () => {
    const operation = operationOf();
    expect(changeBetween(operation, operation)).toBeUndefined();
    expect(changeBetween(operation, { ...operation, requested_at: 9 })).toBeUndefined();
    const members = Object.keys(operation).filter((member) => member !== "requested_at");
    expect(Object.keys(OTHER).sort()).toEqual(members.sort());
    for (const [member, [value, code]] of Object.entries(OTHER)) {
      expect(changeBetween(operation, { ...operation, [member]: value }), member).toBe(code);
    }
  });

  it("is told for each byte of the arguments", () => {
    const operation = operationOf();
    const text = JSON.stringify(operation.arguments);
    const bytes = canonicalBytes(operation as unknown as JsonValue);
    for (let at = 0; at < text.length; at += 1) {
      const other = `${text.slice(0, at)}${text[at] === "x" ? "y" : "x"}${text.slice(at + 1)}`;
      let value: JsonValue;
      try {
        value = JSON.parse(other) as JsonValue;
      } catch {
        continue;
      }
      const now = { ...operation, arguments: value };
      expect(changeBetween(operation, now), other).toBe("arguments_changed");
      expect(canonicalBytes(now as unknown as JsonValue)).not.toEqual(bytes);
    }
  });
});
