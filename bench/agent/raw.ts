/**
 * The minimal loop: ask, call, append, ask again. A harness outside of it ends it after six turns, which is not its own
 * doing, and starts it again from the beginning when it breaks, as a supervisor does.
 */
import type { JsonValue } from "../../src/base/json.ts";
import {
  duplicatesIn,
  HARNESS_STEPS,
  type Scenario,
  type Score,
  type World,
  world,
} from "./scenario.ts";
import { replyOf } from "./scenarios.ts";

interface Message {
  readonly role: "user" | "assistant" | "tool";
  readonly content: unknown;
}

class Broken extends Error {}

/** Stops a tool that never ends: it is the harness that gives up, not the loop. */
const PATIENCE_MS = 60;

async function loop(
  scenario: Scenario,
  at: World,
  budget: { left: number },
): Promise<"final" | "cut"> {
  const messages: Message[] = [{ role: "user", content: "do it" }];
  for (let replies = 0; ; replies += 1) {
    if (budget.left === 0) return "cut";
    budget.left -= 1;
    await at.ask();
    const turn = scenario.turn(replies);
    if ("fault" in turn) throw new Broken(turn.fault);
    const reply = replyOf(turn);
    messages.push({ role: "assistant", content: reply });
    if (reply.calls.length === 0) return "final";
    for (const call of reply.calls) messages.push(await called(scenario, at, call));
  }
}

async function called(
  { tools }: Scenario,
  at: World,
  call: { readonly name: string; readonly arguments: string },
): Promise<Message> {
  const tool = tools.find(({ name }) => name === call.name);
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const args = JSON.parse(call.arguments) as JsonValue;
    const patience = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error("no answer")), PATIENCE_MS);
    });
    const outcome = await Promise.race([
      Promise.resolve(tool?.call(at, args, new AbortController().signal)),
      patience,
    ]);
    return { role: "tool", content: outcome };
  } catch (error) {
    return { role: "tool", content: String(error) };
  } finally {
    clearTimeout(timer);
  }
}

/** Starts it again as often as it breaks. */
async function supervised(scenario: Scenario, at: World): Promise<"final" | "cut"> {
  const budget = { left: HARNESS_STEPS };
  for (;;) {
    try {
      return await loop(scenario, at, budget);
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
      if (budget.left === 0) return "cut";
    }
  }
}

export async function rawScore(scenario: Scenario): Promise<Score> {
  const { drama, runaway } = scenario;
  const scores = drama === "boundaries" ? await eachTurn(scenario) : [await scored(scenario, 1)];
  const duplicates = scores.reduce((sum, one) => sum + one.duplicates, 0);
  const steps = scores.reduce((sum, one) => sum + one.steps, 0) / scores.length;
  const interrupted = ["interrupt", "boundaries", "twice", "stale"].includes(drama ?? "");
  return {
    // Cut off by the harness, or ended by itself once it had done what it must not.
    contained: runaway
      ? scores.every(({ ended, duplicates: more }) => ended === "final" && more === 0)
      : null,
    resumed: interrupted ? duplicates === 0 : null,
    // It returns a text or is cut off; why it stopped stands nowhere.
    terminal: false,
    trace: null,
    duplicates,
    steps,
    reason: null,
    cannot: null,
  };
}

/** Gone behind each of its turns: it has no other boundaries. */
async function eachTurn(scenario: Scenario) {
  const scores = [];
  for (let turns = 1; turns <= 3; turns += 1) scores.push(await scored(scenario, turns));
  return scores;
}

async function scored(scenario: Scenario, turns: number) {
  const at = world();
  const { drama = "" } = scenario;
  // Its state is in its memory: whoever takes it up begins again, and nothing keeps a second one out.
  if (["interrupt", "boundaries", "twice", "stale"].includes(drama)) {
    await loop(scenario, at, { left: turns });
  }
  const ended = await supervised(scenario, at);
  if (drama === "twice") await supervised(scenario, at);
  return { ended, duplicates: duplicatesIn(at, scenario), steps: at.asked };
}
