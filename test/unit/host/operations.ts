import type { Operation } from "../../../src/model/operation.ts";
import { ORIGIN } from "../../support/host.ts";

export function operationOf(change: Partial<Operation> = {}): Operation {
  return {
    type: "rote-operation/v1",
    audience: ORIGIN,
    run: "run-x",
    node: "pay",
    index: null,
    call: null,
    attempt: 1,
    recipe: null,
    tool: { name: "bank.pay", category: "effect", definition: "sha256:0" as never },
    arguments: { account: "7", amount: "50" },
    key: null,
    identity: "agent",
    intent: null,
    warrant: null,
    policy: "sha256:0" as never,
    trust: "sha256:0" as never,
    environment: null,
    verifiers: [],
    budget: "sha256:0" as never,
    requested_at: 0,
    ...change,
  };
}
