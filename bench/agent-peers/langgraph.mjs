/**
 * A process of `bench/agent.ts` that plays with LangGraph.js's prebuilt agent, as its documentation has it for work that
 * must survive: the SQLite saver, made to sync, each step waits for its own write; limits, retries, tool errors and the
 * reviewer by the middleware that comes with it.
 */
import { join } from "node:path";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { Command } from "@langchain/langgraph";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import Sqlite from "better-sqlite3";
import {
  AIMessage,
  createAgent,
  humanInTheLoopMiddleware,
  modelCallLimitMiddleware,
  modelRetryMiddleware,
  tool,
  toolErrorMiddleware,
} from "langchain";
import { replyOf } from "../.build/bench/agent/scenarios.js";
import { serve } from "../.build/bench/agent/serve.js";

/** One below the harness that would end it from outside. */
const TURNS = 5;
const THREAD = { configurable: { thread_id: "bench" } };
const TASK = { messages: [{ role: "user", content: "do it" }] };
const ANYTHING = { type: "object", properties: {}, additionalProperties: true };
/** Names of functions may have no dots. */
const plain = (name) => name.replace(".", "_");

class ScriptedModel extends BaseChatModel {
  constructor(reply) {
    super({ maxRetries: 0 });
    this.reply = reply;
  }
  _llmType() {
    return "scripted";
  }
  bindTools() {
    return this;
  }
  async _generate(messages) {
    const replies = messages.filter((message) => message.getType() === "ai").length;
    return { generations: [{ text: "", message: messageOf(await this.reply(replies), replies) }] };
  }
}

/** As the adapters of providers do it: what is not JSON is an invalid call. */
function messageOf({ content, calls, usage }, replies) {
  const tool_calls = [];
  const invalid_tool_calls = [];
  for (const { id, name, arguments: args } of calls) {
    const call = { id: `${id}-${replies}`, name: plain(name) };
    try {
      tool_calls.push({ ...call, args: JSON.parse(args), type: "tool_call" });
    } catch (error) {
      invalid_tool_calls.push({ ...call, args, error: String(error), type: "invalid_tool_call" });
    }
  }
  const { input_tokens, output_tokens } = usage;
  const known = typeof input_tokens === "number" && typeof output_tokens === "number";
  const usage_metadata = known
    ? { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens }
    : undefined;
  return new AIMessage({ content, tool_calls, invalid_tool_calls, usage_metadata });
}

function saverAt(file, place) {
  const database = new Sqlite(file);
  const saver = new SqliteSaver(database);
  saver.setup();
  database.pragma("synchronous = FULL");
  if (place !== undefined) {
    for (const method of ["put", "putWrites"]) {
      const write = saver[method].bind(saver);
      saver[method] = (...given) => {
        place();
        return write(...given);
      };
    }
  }
  return { saver, close: () => database.close() };
}

function agentOf({ scenario, world }, checkpointer) {
  const names = (category) =>
    scenario.tools.filter((one) => one.category === category).map(({ name }) => plain(name));
  const tools = scenario.tools.map((one) =>
    tool(
      async (args, { signal } = {}) => {
        const outcome = await one.call(world, args, signal ?? new AbortController().signal);
        return JSON.stringify(outcome.result);
      },
      { name: plain(one.name), description: one.name, schema: ANYTHING },
    ),
  );
  const model = new ScriptedModel(async (replies) => {
    await world.ask();
    const turn = scenario.turn(replies);
    if ("fault" in turn) throw new ProviderFault(turn.fault);
    return replyOf(turn);
  });
  const asks = scenario.drama === "approval" || scenario.drama === "reject";
  const reviewed = names("effect").map((name) => [
    name,
    { allowedDecisions: ["approve", "reject"] },
  ]);
  return createAgent({
    model,
    tools,
    checkpointer,
    middleware: [
      modelCallLimitMiddleware({ threadLimit: TURNS, exitBehavior: "error" }),
      modelRetryMiddleware({ maxRetries: 2, initialDelayMs: 1, onFailure: "error" }),
      // A read that fails is told to the model; an effect that fails ends the run.
      toolErrorMiddleware({ tools: names("read"), onError: (error) => `failed: ${error.message}` }),
      ...(asks ? [humanInTheLoopMiddleware({ interruptOn: Object.fromEntries(reviewed) })] : []),
    ],
  });
}

class ProviderFault extends Error {}

async function play(work) {
  const { scenario, directory, from, place } = work;
  const { saver, close } = saverAt(join(directory, "langgraph.sqlite"), place);
  try {
    const agent = agentOf(work, saver);
    const timeout = scenario.limits?.max_active_ms;
    const config = { ...THREAD, durability: "sync", ...(timeout === undefined ? {} : { timeout }) };
    const result = await agent.invoke(await inputFor(agent, from), config);
    return result.__interrupt__ === undefined ? "completed" : "approval_pending";
  } catch (error) {
    return reasonOf(error);
  } finally {
    close();
  }
}

async function inputFor(agent, from) {
  if (from === "reject") return new Command({ resume: { decisions: [{ type: "reject" }] } });
  if (from === "start") return TASK;
  // Where nothing was saved, nothing can be taken up.
  const { values } = await agent.getState(THREAD);
  return values.messages === undefined ? TASK : null;
}

function reasonOf(error) {
  const chain = [];
  for (let at = error; at instanceof Error; at = at.cause) chain.push(at);
  const named = (name) => chain.some((one) => one.name === name);
  if (named("ModelCallLimitMiddlewareError")) return "turn_limit";
  if (named("TimeoutError") || named("AbortError")) return "timed_out";
  if (chain.some((one) => one instanceof ProviderFault)) return "provider_error";
  return chain.some((one) => TOOL_FAULTS.includes(one.message)) ? "tool_error" : String(error);
}

/** What the tools of the scenarios throw, which reaches the caller as it is. */
const TOOL_FAULTS = ["connection reset", "no such place"];

async function look(scenario, directory) {
  const { saver, close } = saverAt(join(directory, "langgraph.sqlite"));
  try {
    const agent = agentOf({ scenario, world: { effect: () => 0, ask() {} } }, saver);
    const { values, tasks } = await agent.getState(THREAD);
    const messages = values.messages ?? [];
    const waits = tasks.some(({ interrupts }) => interrupts.length > 0);
    const answers = new Map(
      messages.filter((one) => one.getType() === "tool").map((one) => [one.tool_call_id, one]),
    );
    const names = new Map(scenario.tools.map(({ name }) => [plain(name), name]));
    const calls = messages.flatMap((message) =>
      (message.tool_calls ?? []).map(({ id, name, args }) => {
        const answer = answers.get(id);
        const without = waits ? "not_run" : "open";
        const outcome = answer?.status === "error" ? "not_run" : "done";
        return { tool: names.get(name), args, outcome: answer === undefined ? without : outcome };
      }),
    );
    return { whole: true, calls };
  } finally {
    close();
  }
}

async function cost(directory, { turns, reply }) {
  const checkpointer =
    directory === null ? undefined : saverAt(join(directory, `${turns}.sqlite`)).saver;
  const agent = createAgent({
    model: new ScriptedModel(async (replies) => reply(replies)),
    tools: [
      tool(async ({ n }) => n, { name: "look_up", description: "look up", schema: ANYTHING }),
    ],
    ...(checkpointer === undefined ? {} : { checkpointer }),
  });
  let runs = 0;
  return async () => {
    runs += 1;
    const thread = { configurable: { thread_id: `run ${runs}` }, recursionLimit: turns * 2 + 10 };
    const durability = checkpointer === undefined ? {} : { durability: "sync" };
    const { messages } = await agent.invoke(TASK, { ...thread, ...durability });
    if (messages.at(-1)?.content !== "done") throw new Error("it ended before it was done");
  };
}

serve({ play, look, cost });
