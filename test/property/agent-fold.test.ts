/** Laws of the agent's fold: what is decided depends on what happened, not on when, where or in what order of arrival. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { AgentEvent, SettledEvent } from "../../src/agent/event.ts";
import { apply, fold } from "../../src/agent/fold.ts";
import { nextOf } from "../../src/agent/next.ts";
import { type AgentState, stateName } from "../../src/agent/state.ts";
import { transitionFault } from "../../src/agent/transitions.ts";
import { digestOf } from "../../src/base/digest.ts";
import { type AgentStart, DEFAULT_AGENT_LIMITS } from "../../src/model/agent.ts";
import { isAgentTerminal } from "../../src/model/agent-states.ts";
import type { ChatReply } from "../../src/model/chat.ts";

const digest = digestOf("rote-test/v1", null);
const environment = {
  policy: "",
  tools: "",
  credentials: "",
  evidence: "",
  host_configuration: null,
};
const tool = (name: string, category: "read" | "effect") => ({
  name,
  category,
  definition: digest,
  poll: name === "poll",
  key: [],
});
const START: AgentStart = {
  version: 1,
  goal: "do it",
  instructions: null,
  recalled: null,
  tools: [tool("act", "effect"), tool("look", "read"), tool("poll", "read")],
  limits: { ...DEFAULT_AGENT_LIMITS, max_steps: 6, max_total_tokens: 400, no_progress: 3 },
  stop_on: ["refused"],
  markers: false,
  model: { provider: "scripted", name: "x" },
  environment,
  parent: null,
  root: null,
};

const replies = fc.record({
  content: fc.constantFrom("", "words", "answer"),
  calls: fc.array(
    fc.record({
      id: fc.constantFrom("a", "b"),
      name: fc.constantFrom("act", "look", "poll", "none"),
      arguments: fc.constantFrom("{}", '{"n":1}', '{ "n": 1 }', "{"),
    }),
    { maxLength: 4 },
  ),
  stop: fc.constantFrom("end", "end", "end", "calls", "length"),
  usage: fc.record({
    input_tokens: fc.constantFrom(null, 10, 90),
    output_tokens: fc.constantFrom(null, 5),
    cached_input_tokens: fc.constant(null),
    cache_write_tokens: fc.constant(null),
  }),
  response: fc.constant({ id: null, model: null }),
}) as fc.Arbitrary<ChatReply>;

const outcomes = fc.constantFrom<Omit<SettledEvent, "type" | "call">>(
  { admitted: true, outcome: "done", result: 1, refusal: null, final: true },
  { admitted: true, outcome: "done", result: 2, refusal: null, final: true },
  {
    admitted: true,
    outcome: "refused",
    result: undefined,
    refusal: { code: "x", message: "x" },
    final: true,
  },
  {
    admitted: true,
    outcome: "refused",
    result: undefined,
    refusal: { code: "x", message: "x" },
    final: false,
  },
  {
    admitted: true,
    outcome: "uncertain",
    result: undefined,
    refusal: { code: "x", message: "x" },
    final: true,
  },
  {
    admitted: false,
    outcome: "refused",
    result: undefined,
    refusal: { code: "policy_denied", message: "x" },
    final: true,
  },
);

/** Choices of everything outside, taken as they are wanted. */
const worlds = fc.record({
  replies: fc.array(replies, { minLength: 1, maxLength: 8 }),
  faults: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
  outcomes: fc.array(outcomes, { minLength: 1, maxLength: 9 }),
  order: fc.array(fc.nat({ max: 7 }), { minLength: 1, maxLength: 8 }),
});
type World = typeof worlds extends fc.Arbitrary<infer T> ? T : never;

/** Plays a run to its end. Calls that are together settle in the order that `order` gives. */
function play({ replies: said, faults, outcomes: came, order }: World): readonly AgentEvent[] {
  const events: AgentEvent[] = [{ type: "started", start: START }];
  let state = apply(null, { type: "started", start: START });
  const happen = (event: AgentEvent): void => {
    events.push(event);
    state = apply(state, event);
  };
  for (let turns = 0; turns < 200; turns += 1) {
    const next = nextOf(state);
    switch (next.kind) {
      case "end":
        happen({ type: "ended", ...next.stop, ms: state.activeMs });
        return events;
      case "ask": {
        const turn = { step: next.step, attempt: next.attempt, ms: state.activeMs + 1 };
        happen({ type: "asked", ...turn, request: digest });
        const reply = said[next.step % said.length];
        if (faults[(next.step + next.attempt) % faults.length] === true || reply === undefined) {
          const fault = { kind: "timeout", message: "x", retry: true, retryAfterMs: null } as const;
          happen({ type: "unanswered", ...turn, ...fault });
        } else happen({ type: "replied", ...turn, reply });
        break;
      }
      case "call": {
        const settled: AgentEvent[] = [];
        for (const { number, name, broken } of next.calls) {
          const outcome = came[(number + broken) % came.length];
          if (outcome === undefined) throw new Error("no outcome");
          if (outcome.admitted) {
            happen({ type: "admitted", call: number, attempt: broken + 1, tool: name, ms: 0 });
          }
          settled.push({
            type: "settled",
            call: number,
            ...outcome,
            final: outcome.final || broken > 0,
          });
        }
        for (const at of order) {
          const [event] = settled.splice(at % Math.max(1, settled.length), 1);
          if (event !== undefined) happen(event);
        }
        for (const event of settled) happen(event);
        break;
      }
      default:
        throw new Error(`nothing can be done: ${next.kind}`);
    }
  }
  throw new Error("it does not end");
}

const told = (state: AgentState | null) => {
  if (state === null) return null;
  const { conversation, progress, ...rest } = state;
  return {
    ...rest,
    conversation: conversation.digest,
    messages: conversation.messages.length,
    progress: { ...progress, seen: progress.seen.size, actions: progress.actions.length },
  };
};

it("every run ends, in one terminal state, and nothing can follow", () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const events = play(world);
      const state = fold(events);
      expect(state !== null && isAgentTerminal(stateName(state))).toBe(true);
      expect(events.filter(({ type }) => type === "ended")).toHaveLength(1);
      for (const event of events) expect(transitionFault(state, event)).not.toBeNull();
    }),
  );
});

it("folding in two parts is folding at once, and an earlier state stays what it was", () => {
  fc.assert(
    fc.property(worlds, fc.nat(), (world, cut) => {
      const events = play(world);
      const at = cut % events.length;
      const before = fold(events.slice(0, at));
      const seen = told(before);
      const whole = events.slice(at).reduce<AgentState | null>(apply, before);
      expect(told(whole)).toEqual(told(fold(events)));
      expect(told(before)).toEqual(seen);
      // Another continuation from the same state does not see the first one.
      expect(told(events.slice(at).reduce<AgentState | null>(apply, before))).toEqual(told(whole));
    }),
  );
});

it("the order in which calls of one turn finish makes no difference", () => {
  fc.assert(
    fc.property(worlds, fc.array(fc.nat({ max: 7 }), { maxLength: 8 }), (world, order) => {
      expect(told(fold(play({ ...world, order })))).toEqual(told(fold(play(world))));
    }),
  );
});

it("a resumption anywhere changes nothing but what was being asked", () => {
  fc.assert(
    fc.property(worlds, fc.nat(), (world, cut) => {
      const events = play(world);
      const at = 1 + (cut % (events.length - 1));
      const state = fold(events.slice(0, at));
      if (state === null || state.turn.asking) return;
      const resumed = apply(state, { type: "resumed" });
      expect(told(events.slice(at).reduce<AgentState | null>(apply, resumed))).toEqual(
        told(fold(events)),
      );
    }),
  );
});

it("no limit is passed, whatever happens", () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const state = fold(play(world));
      if (state === null) throw new Error("no state");
      const { limits } = START;
      expect(state.step).toBeLessThanOrEqual(limits.max_steps);
      expect(state.progress.quiet).toBeLessThanOrEqual(limits.no_progress);
      expect(state.turn.failed).toBeLessThanOrEqual(limits.model_attempts);
      // One reply may pass the limit of tokens; nothing is asked after it.
      const most = (limits.max_total_tokens ?? 0) + 95 + limits.reserve_tokens;
      expect(state.usage.charged.total).toBeLessThanOrEqual(most);
      if (state.usage.charged.total > (limits.max_total_tokens ?? 0)) {
        expect(state.end?.reason).not.toBe("completed");
      }
    }),
  );
});
