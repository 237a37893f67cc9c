import { describe, expect, it } from "vitest";
import { HOST_WORDS } from "../../../src/model/operation.ts";
import { DEFAULT_RUN_LIMITS } from "../../../src/model/plan.ts";
import type { RunEvent } from "../../../src/run/index.ts";
import { type Program, programOf } from "../../../src/run/program.ts";
import type { RunState } from "../../../src/run/state.ts";
import { fold, step } from "../../../src/run/step.ts";
import { compiled, recipeOf } from "../../support/pure-procedure.ts";

/** Feeds a program by hand, as a driver with a host will. */
function driven(recipe: unknown, inputs: RunEventInputs = {}, verifier: unknown = RULE) {
  const { plan, verifier: rule } = compiled(recipe, verifier);
  const program = programOf(plan, rule);
  const events: RunEvent[] = [];
  let state: RunState | null = null;
  const feed = (event: RunEvent) => {
    const stepped = step(program, state, event);
    events.push(event);
    state = stepped.state;
    return stepped;
  };
  const first = feed({
    type: "started",
    plan: plan.digest as NonNullable<typeof plan.digest>,
    verifier: rule.digest,
    semantics: plan.semantics,
    mode: "guided",
    limits: DEFAULT_RUN_LIMITS,
    inputs,
  });
  return { program, events, first, feed, now: () => state as unknown as RunState };
}

type RunEventInputs = { readonly [name: string]: string };

const RULE = { version: 1, id: "rule", before_effect: true, result: true };

const read = (id: string, more: object = {}) => ({
  id,
  output: { record: { total: "integer" } },
  step: { kind: "read", tool: "orders.get", arguments: { op: "record", fields: { id } } },
  ...more,
});

const done = (node: string, result: object, index: number | null = null): RunEvent => ({
  type: "read_settled",
  node,
  index,
  outcome: { kind: "done", result: result as never },
});

const refused = (
  node: string,
  reason: "tool_error" | "policy_denied",
  code: string,
  kind: "refused" | "failed_before_effect" = "refused",
): RunEvent => ({
  type: "read_settled",
  node,
  index: null,
  outcome: { kind, reason, code, message: "no" },
});

const SUM = {
  id: "sum",
  step: {
    kind: "pure",
    value: { op: "add", left: { node: "a/total" }, right: { node: "b/total" } },
  },
};

function endOf(program: Program, state: RunState) {
  return { end: state.end, output: state.outputs[program.plan.terminal] };
}

describe("reads", () => {
  it("that are independent are asked for together, and may settle in any order (B095)", () => {
    const recipe = recipeOf({}, [read("b"), read("a"), SUM]);
    const one = driven(recipe);
    expect(one.first.commands).toEqual([
      { type: "read", node: "a", index: null, tool: "orders.get", arguments: { id: "a" } },
      { type: "read", node: "b", index: null, tool: "orders.get", arguments: { id: "b" } },
    ]);
    const returned = { total: 40 };
    one.feed(done("b", returned));
    returned.total = 0;
    one.feed(done("a", { total: "2" }));
    expect(endOf(one.program, one.now())).toEqual({
      end: { reason: "completed", failure: null },
      output: 42n,
    });
    const other = driven(recipe);
    other.feed(done("a", { total: "2" }));
    other.feed(done("b", { total: 40 }));
    expect(other.now()).toEqual({ ...one.now(), nodes: other.now().nodes });
    expect(other.now().outputs).toEqual(one.now().outputs);
  });

  it("may be absent only where the recipe says so, and only by the tool's own word", () => {
    const recipe = recipeOf({}, [
      { ...read("a"), step: { ...read("a").step, absent_on: ["not_found"] } },
      { id: "r", step: { kind: "pure", value: { op: "has", value: { node: "a" } } } },
    ]);
    const absent = driven(recipe);
    absent.feed(refused("a", "tool_error", "not_found"));
    expect(endOf(absent.program, absent.now())).toMatchObject({ output: false });
    const broken = driven(recipe);
    broken.feed(refused("a", "tool_error", "timeout"));
    expect(broken.now().end).toMatchObject({
      reason: "tool_error",
      failure: { node: "a", code: "timeout" },
    });
    const denied = driven(recipe);
    denied.feed(refused("a", "policy_denied", "not_found"));
    expect(denied.now().end?.reason).toBe("policy_denied");
    const notSent = driven(recipe);
    notSent.feed(refused("a", "tool_error", "not_found", "failed_before_effect"));
    expect(notSent.now().end).toMatchObject({ reason: "tool_error" });
  });

  it.each(HOST_WORDS)(
    "are not absent by the host's own word %s, whatever the recipe permits",
    (word) => {
      const recipe = recipeOf({}, [
        { ...read("a"), step: { ...read("a").step, absent_on: [word] } },
        { id: "r", step: { kind: "pure", value: { op: "has", value: { node: "a" } } } },
      ]);
      const run = driven(recipe);
      run.feed(refused("a", "tool_error", word));
      expect(run.now().end).toMatchObject({ reason: "tool_error", failure: { code: word } });
    },
  );

  it("whose result has another type fail the run", () => {
    const one = driven(recipeOf({}, [read("a")]));
    one.feed(done("a", { total: "x" }));
    expect(one.now().end).toMatchObject({
      reason: "tool_error",
      failure: { node: "a", code: "decode_failed" },
    });
  });

  it("are shown to the verifier as operations, in plan order", () => {
    const nodes = {
      op: "map",
      list: { input: "context/operations" },
      as: "o",
      value: { item: "o/node" },
    };
    const one = driven(
      recipeOf({}, [read("b"), read("a"), SUM]),
      {},
      {
        op: "equal",
        left: nodes,
        right: ["a", "b"],
      },
    );
    one.feed(done("b", { total: 1 }));
    one.feed(done("a", { total: 1 }));
    expect(one.now().end?.reason).toBe("completed");
  });
});

const PAY = [
  read("order"),
  {
    id: "checked",
    step: {
      kind: "verify",
      condition: { op: "greater", left: { node: "order/total" }, right: 0 },
      value: { node: "order/total" },
    },
  },
  { id: "fence", after: ["checked"], step: { kind: "approval", effects: ["pay"] } },
  {
    id: "pay",
    after: ["fence"],
    each: { list: ["x", "y"], as: "who", limit: 5 },
    output: { list: "text" },
    step: {
      kind: "effect",
      tool: "bank.pay",
      arguments: {
        op: "record",
        fields: { to: { item: "who" }, amount: { node: "checked" } },
      },
      key: { item: "who" },
    },
  },
];

const paid = (index: number, outcome: object): RunEvent =>
  ({ type: "effect_settled", node: "pay", index, outcome }) as RunEvent;

describe("effects", () => {
  it("are fenced, dispatched one after the other in list order, and give their results", () => {
    const one = driven(recipeOf({}, PAY));
    const { commands } = one.feed(done("order", { total: 5 }));
    const operation = (who: string, index: number) => ({
      node: "pay",
      index,
      tool: "bank.pay",
      arguments: { to: who, amount: "5" },
      key: who,
    });
    expect(commands).toEqual([
      {
        type: "request_approval",
        node: "fence",
        operations: [operation("x", 0), operation("y", 1)],
      },
    ]);
    expect(one.feed({ type: "approved", node: "fence" }).commands).toEqual([
      { type: "dispatch", ...operation("x", 0) },
    ]);
    expect(() => one.feed(paid(1, { kind: "done", result: "late" }))).toThrow(
      expect.objectContaining({ code: "not_pending" }),
    );
    expect(one.feed(paid(0, { kind: "done", result: "p-1" })).commands).toEqual([
      { type: "dispatch", ...operation("y", 1) },
    ]);
    one.feed(paid(1, { kind: "done", result: "p-2" }));
    expect(endOf(one.program, one.now())).toMatchObject({
      end: { reason: "completed" },
      output: ["p-1", "p-2"],
    });
    expect(fold(one.program, one.events).state).toEqual(one.now());
  });

  const endings: readonly [string, object, object][] = [
    [
      "an uncertain outcome ends the run uncertain",
      { kind: "uncertain", message: "no reply" },
      { reason: "uncertain_operation", failure: { node: "pay", message: "no reply" } },
    ],
    [
      "a failure before the effect fails the run",
      { kind: "failed_before_effect", reason: "tool_error", code: "down", message: "no" },
      { reason: "tool_error", failure: { node: "pay", code: "down" } },
    ],
    [
      "a refusal of the gate denies the run",
      { kind: "refused", reason: "approval_rejected", code: "rejected", message: "no" },
      { reason: "approval_rejected" },
    ],
  ];
  it.each(endings)("%s, and the next element is not dispatched", (_, outcome, end) => {
    const one = driven(recipeOf({}, PAY));
    one.feed(done("order", { total: 5 }));
    one.feed({ type: "approved", node: "fence" });
    const { commands, state } = one.feed(paid(0, outcome));
    expect(commands).toEqual([]);
    expect(state.end).toMatchObject(end);
    expect(state.nodes.at(-1)).toMatchObject({ kind: "failed", items: { length: 2 } });
  });

  it("are not dispatched while a read is in flight, and no read starts beside one", () => {
    const one = driven(
      recipeOf({}, [
        read("slow"),
        { id: "v", step: { kind: "verify", condition: true, value: 1 } },
        {
          id: "act",
          after: ["v"],
          output: "text",
          step: { kind: "effect", tool: "t", arguments: "a" },
        },
        read("z-later", { after: ["slow"] }),
        {
          id: "r",
          after: ["act", "z-later"],
          step: { kind: "pure", value: { op: "add", left: { node: "slow/total" }, right: 1 } },
        },
      ]),
    );
    expect(one.first.commands.map((command) => command.type)).toEqual(["read"]);
    const second = one.feed(done("slow", { total: 1 })).commands;
    expect(second.map((command) => [command.type, "node" in command && command.node])).toEqual([
      ["dispatch", "act"],
    ]);
    const third = one.feed({
      type: "effect_settled",
      node: "act",
      index: null,
      outcome: { kind: "done", result: "ok" },
    }).commands;
    expect(third.map((command) => command.node)).toEqual(["z-later"]);
    one.feed(done("z-later", { total: 1 }));
    expect(one.now().end?.reason).toBe("completed");
  });

  it("never start when a needed check said no, though a read beside it succeeded (B093)", () => {
    const one = driven(
      recipeOf({ n: "integer" }, [
        read("r"),
        {
          id: "p",
          after: ["r"],
          step: { kind: "policy", condition: { op: "greater", left: { input: "n" }, right: 1 } },
        },
        { id: "v", after: ["r"], step: { kind: "verify", condition: true, value: 1 } },
        {
          id: "e",
          after: ["p", "r", "v"],
          output: "json",
          step: { kind: "effect", tool: "t", arguments: "a" },
        },
      ]),
      { n: "1" },
    );
    const { commands, state } = one.feed(done("r", { total: 1 }));
    expect(commands).toEqual([]);
    expect(state.end).toMatchObject({ reason: "precondition_failed", failure: { node: "p" } });
  });

  it("with two equal keys in one list are refused before the first", () => {
    const pay = { ...PAY[3], step: { ...PAY[3]?.step, key: "same" } };
    const one = driven(recipeOf({}, [...PAY.slice(0, 3), pay] as never));
    const { commands, state } = one.feed(done("order", { total: 5 }));
    expect(commands).toEqual([]);
    expect(state.end?.reason).toBe("duplicate_operation");
  });
});

describe("checkpoints", () => {
  it("wait for the journal position and pass their value on", () => {
    const one = driven(
      recipeOf({}, [
        { id: "c", step: { kind: "checkpoint", value: 7 } },
        { id: "r", step: { kind: "pure", value: { op: "add", left: { node: "c" }, right: 1 } } },
      ]),
    );
    expect(one.first.commands).toEqual([{ type: "checkpoint", node: "c" }]);
    const position = { run: "run-1", seq: 3, entry: `sha256:${"0".repeat(64)}` as never };
    one.feed({ type: "checkpointed", node: "c", position });
    expect(endOf(one.program, one.now()).output).toBe(8n);
    expect(one.now().nodes[0]).toMatchObject({ kind: "done", position });
  });
});

describe("events that do not belong", () => {
  it("are refused and leave the state as it was", () => {
    const one = driven(recipeOf({}, [read("a"), read("b"), SUM]));
    const before = structuredClone(one.now());
    const bad: readonly (readonly [RunEvent, string])[] = [
      [done("sum", {}), "not_pending"],
      [done("nobody", {}), "unknown_node"],
      [done("a", {}, 0), "not_pending"],
      [{ type: "approved", node: "a" }, "not_pending"],
      [
        { type: "stopped", reason: "user_cancelled", message: "", evaluations: 99 },
        "event_refused",
      ],
      [{ ...(one.events[0] as RunEvent) }, "event_refused"],
    ];
    for (const [event, code] of bad) {
      expect(() => one.feed(event)).toThrow(expect.objectContaining({ code }));
    }
    expect(one.now()).toEqual(before);
    one.feed({ type: "stopped", reason: "user_cancelled", message: "", evaluations: 2 });
    expect(() => one.feed(done("a", { total: 1 }))).toThrow(
      expect.objectContaining({ code: "event_refused" }),
    );
  });

  it("of another recipe, another verifier or other operator semantics start nothing", () => {
    const one = driven(recipeOf({}, [read("a")]));
    const [start] = one.events;
    const other = driven(recipeOf({}, [read("b")]));
    expect(() => step(other.program, null, start as RunEvent)).toThrow(
      expect.objectContaining({ code: "event_refused" }),
    );
    const later = { ...(start as object), semantics: 2 } as RunEvent;
    expect(() => step(one.program, null, later)).toThrow(
      expect.objectContaining({ code: "other_semantics" }),
    );
    expect(() => step(one.program, null, done("a", {}))).toThrow(
      expect.objectContaining({ code: "event_refused" }),
    );
  });
});
