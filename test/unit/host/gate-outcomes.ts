export function requestOf() {
  return {
    run: "run-x",
    node: "pay",
    index: null,
    call: null,
    attempt: 1,
    category: "effect",
    tool: "bank.pay",
    arguments: { account: "7" },
    key: null,
    recipe: null,
    environment: null,
    environmentNow: () => null,
    verifiers: [],
    requestedAt: 0,
    beforeEffect: () => null,
  } as const;
}
