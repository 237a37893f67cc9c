/** In which order the gate looks at what may be wrong: the first in this list is what it says, however much else is. */
import { afterAll, describe, expect, it } from "vitest";
import type { HostOptions } from "../../../src/app/create-host.ts";
import { type GateRequest, judge, partsOf } from "../../../src/host/index.ts";
import { admit } from "../../../src/host/perform.ts";
import type { GateCode } from "../../../src/model/operation.ts";
import { signTrust } from "../../../src/trust/trust-store.ts";
import { directories } from "../../support/directories.ts";
import { bank, begin, hostAt, movedClock } from "../../support/gate.ts";
import { KEYS, nowSeconds, POLICY, trust, trustDocument } from "../../support/host.ts";
import { requestOf } from "./gate-outcomes.ts";

const places = directories();
afterAll(() => places.remove());

const policy = POLICY;

interface Fault {
  readonly code: GateCode;
  readonly options?: Partial<HostOptions>;
  readonly request?: Partial<GateRequest>;
}

const OTHER_WORDS = { ...bank().pay.tool.definition, description: "pays, gladly" };

const FAULTS: readonly Fault[] = [
  { code: "identity_missing", options: { identity: null } },
  { code: "trust_expired", options: { trust: trust({ expires: nowSeconds() + 60 }) } },
  { code: "intent_not_covered", options: { intent: { statement: "look", tools: ["other"] } } },
  { code: "warrant_missing", options: { warrant: [] } },
  { code: "tool_definition_changed" },
  { code: "tool_wrong_category", request: { category: "read" } },
  { code: "policy_denied", options: { policy: { ...policy, deny: ["tool:*:*"] } } },
  {
    code: "security_denied",
    options: { security: { evaluate: () => ({ verdict: "deny", rule: "no", message: "" }) } },
  },
  { code: "budget_exceeded", options: { budget: { run: { operations: 0 }, host: {} } } },
  { code: "before_effect_refused", request: { beforeEffect: () => "no" } },
];

const REQUEST: GateRequest = requestOf();

async function judgedWith(faults: readonly Fault[]) {
  const clock = movedClock();
  const of = bank();
  if (faults.some(({ code }) => code === "tool_definition_changed")) {
    Object.assign(of.pay.tool, { definition: OTHER_WORDS });
  }
  const options = Object.assign({}, ...faults.map((fault) => fault.options ?? {}));
  const request = Object.assign({}, REQUEST, ...faults.map((fault) => fault.request ?? {}));
  const host = await hostAt(null, of, { clock, ...options });
  if (faults.some(({ code }) => code === "trust_expired")) clock.move(61_000);
  const verdict = judge(partsOf(host), request);
  await host.close();
  return verdict;
}

describe("the gate", () => {
  it("looks at identity, intent, warrant, tool, policy, operation security, budget, verifier, in this order", async () => {
    for (const at of FAULTS.keys()) {
      const verdict = await judgedWith(FAULTS.slice(at));
      expect(verdict.kind === "refused" && verdict.code).toBe(FAULTS[at]?.code);
    }
    const verdict = await judgedWith([]);
    expect(verdict.kind === "judged" && verdict.needsApproval).toBe(true);
  });

  it("asks nobody about what it would not do once it is approved", async () => {
    for (const { code, options } of FAULTS.filter((fault) => fault.options !== undefined)) {
      if (code === "trust_expired") continue;
      const host = await hostAt(null, bank(), options);
      const { run } = await begin(host);
      expect([run.report.failure?.code, run.pendingRequest]).toEqual([code, null]);
      await host.close();
    }
  });

  it.each<[string, Partial<HostOptions>, GateCode]>([
    ["an intent that says nothing", { intent: { statement: "", tools: ["*"] } }, "intent_missing"],
    ["a warrant of no link", { warrant: [] }, "warrant_missing"],
  ])("takes %s for none", async (_, options, code) => {
    const host = await hostAt(null, bank(), options);
    const verdict = judge(partsOf(host), REQUEST);
    await host.close();
    expect(verdict.kind === "refused" && verdict.code).toBe(code);
  });
});

describe("an admission", () => {
  it("is refused when a later trust store was adopted elsewhere since the judgement", async () => {
    const directory = places.fresh();
    const first = trust();
    const host = await hostAt(directory, bank(), {
      trust: first,
      policy: { ...policy, profile: "privileged" },
    });
    const { run } = await begin(host);
    expect(run.state).toBe("verified");
    const parts = partsOf(host);
    const claimed = await parts.journal.claim("run-x");
    if (!claimed.ok) throw new Error("held");
    const judgement = judge(parts, REQUEST);
    if (judgement.kind !== "judged") throw new Error(judgement.code);
    const later = signTrust(trustDocument({ version: 2 }), [KEYS.root]);
    const elsewhere = await hostAt(directory, bank(), { trust: later });
    const admission = await admit(parts, claimed.value, judgement, [], {
      qualification: null,
      ms: 0,
    });
    expect(admission.kind === "refused" && admission.code).toBe("trust_changed");
    await elsewhere.close();
    await host.close();
  });
});
