/** The one table of transitions: every pair of state and event, and the invariants behind it. */
import { expect, it } from "vitest";
import type { AgentEvent, AgentEventType } from "../../../src/agent/event.ts";
import { apply, fold } from "../../../src/agent/fold.ts";
import type { AgentState, Phase } from "../../../src/agent/state.ts";
import { TRANSITIONS, transitionFault } from "../../../src/agent/transitions.ts";
import { digestOf } from "../../../src/base/digest.ts";
import { type AgentStart, DEFAULT_AGENT_LIMITS } from "../../../src/model/agent.ts";
import { UNKNOWN_CHAT_USAGE } from "../../../src/model/chat.ts";

const digest = digestOf("rote-test/v1", null);
const start: AgentStart = {
  version: 1,
  goal: "do it",
  instructions: null,
  recalled: null,
  tools: [{ name: "act", category: "read", definition: digest, poll: false, key: [] }],
  limits: DEFAULT_AGENT_LIMITS,
  stop_on: [],
  markers: false,
  model: { provider: "scripted", name: "x" },
  environment: { policy: "", tools: "", credentials: "", evidence: "", host_configuration: null },
  parent: null,
  root: null,
};

const two = ["a", "b"].map((id) => ({ id, name: "act", arguments: `{"id":"${id}"}` }));
const reply = {
  content: "",
  calls: two,
  stop: "calls",
  usage: UNKNOWN_CHAT_USAGE,
  response: { id: null, model: null },
} as const;
const turn = { step: 1, attempt: 1, ms: 0 };
const done = { admitted: true, outcome: "done", result: 1, refusal: null, final: true } as const;

const started: AgentEvent = { type: "started", start };
const asked: AgentEvent = { type: "asked", ...turn, request: digest };
const replied: AgentEvent = { type: "replied", ...turn, reply };
const requested: AgentEvent = { type: "requested", calls: [0] };
const admitted = (call: number, attempt = 1): AgentEvent => ({
  type: "admitted",
  call,
  attempt,
  tool: "act",
  ms: 0,
});
const settled = (call: number): AgentEvent => ({ type: "settled", call, ...done });
const unanswered: AgentEvent = {
  type: "unanswered",
  ...turn,
  kind: "timeout",
  message: "x",
  retry: true,
  retryAfterMs: null,
};
const marked: AgentEvent = { type: "marked", step: 1, marker: digest, ms: 0 };
const paused: AgentEvent = { type: "paused", ms: 0 };
const resumed: AgentEvent = { type: "resumed" };
const ended: AgentEvent = {
  type: "ended",
  reason: "user_cancelled",
  message: "x",
  code: null,
  ms: 0,
};

const WAYS: { readonly [phase in Phase]: readonly AgentEvent[] } = {
  created: [started],
  model_pending: [started, asked],
  decision_received: [started, asked, replied],
  tool_pending: [started, asked, replied, admitted(0), settled(0)],
  approval_pending: [started, asked, replied, requested],
  tool_executing: [started, asked, replied, admitted(0)],
  observation_recorded: [started, asked, replied, admitted(0), settled(0), admitted(1), settled(1)],
};

function at(phase: Phase): AgentState {
  const state = fold(WAYS[phase]);
  if (state === null) throw new Error("no state");
  expect(state.phase).toBe(phase);
  return state;
}

const PHASES = Object.keys(WAYS) as readonly Phase[];
const EVENTS: readonly AgentEvent[] = [
  started,
  asked,
  replied,
  unanswered,
  requested,
  admitted(0),
  settled(0),
  marked,
  paused,
  resumed,
  ended,
];

it.each(PHASES)("in %s only what the table lists can happen", (phase) => {
  const state = at(phase);
  const refused = EVENTS.filter(({ type }) => !TRANSITIONS[phase].includes(type));
  for (const event of refused) {
    expect([event.type, transitionFault(state, event)]).toEqual([event.type, expect.any(String)]);
    expect(() => apply(state, event)).toThrow("The agent's run");
  }
  expect(refused.length + TRANSITIONS[phase].length).toBe(EVENTS.length);
});

it.each([
  ["created", asked],
  ["model_pending", replied],
  ["model_pending", unanswered],
  ["decision_received", requested],
  ["decision_received", admitted(1)],
  ["decision_received", paused],
  ["tool_pending", admitted(1)],
  ["approval_pending", requested],
  ["approval_pending", admitted(0)],
  ["tool_executing", settled(0)],
  ["tool_executing", admitted(1)],
  ["tool_executing", resumed],
  ["observation_recorded", { ...asked, step: 2 } as AgentEvent],
  ["observation_recorded", ended],
] as const)("in %s, %j happens", (phase, event) => {
  expect(transitionFault(at(phase), event)).toBeNull();
});

it.each<readonly [string, Phase, AgentEvent]>([
  ["a second answer to one turn", "decision_received", replied],
  ["an answer to another turn", "model_pending", { ...replied, step: 2 } as AgentEvent],
  ["an answer to another attempt", "model_pending", { ...replied, attempt: 2 } as AgentEvent],
  ["a turn left out", "observation_recorded", { ...asked, step: 3 } as AgentEvent],
  ["an attempt while one is open", "model_pending", { ...asked, attempt: 2 } as AgentEvent],
  ["a result before its start", "decision_received", settled(0)],
  ["a result of a call that is not there", "tool_executing", settled(7)],
  ["a second start of a call", "tool_executing", admitted(0)],
  ["a start of what is settled", "tool_pending", admitted(0)],
  ["a second result", "tool_pending", settled(0)],
  ["an attempt left out", "decision_received", admitted(0, 2)],
  ["a start of another tool", "decision_received", { ...admitted(0), tool: "other" } as AgentEvent],
  ["a request for what is in flight", "tool_executing", requested],
  ["an end with something in flight", "tool_executing", ended],
  ["a pause with something in flight", "tool_executing", paused],
  ["an end while the model is asked", "model_pending", ended],
  ["a marker where none are in use", "observation_recorded", marked],
])("%s cannot happen", (_, phase, event) => {
  expect(transitionFault(at(phase), event)).not.toBeNull();
});

it("a paused run can only be resumed, and is then where it was", () => {
  const before = at("tool_pending");
  const put = apply(before, paused);
  const can = EVENTS.filter((event) => transitionFault(put, event) === null);
  expect(can.map(({ type }) => type)).toEqual(["resumed"] satisfies AgentEventType[]);
  expect(apply(put, resumed)).toEqual(before);
});

it("behind the end there is nothing, and before the start neither", () => {
  const end = apply(at("tool_pending"), ended);
  expect(EVENTS.filter((event) => transitionFault(end, event) === null)).toEqual([]);
  expect(EVENTS.filter((event) => transitionFault(null, event) === null)).toEqual([started]);
});
