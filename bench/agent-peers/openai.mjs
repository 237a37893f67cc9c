/**
 * A process of `bench/agent.ts` that plays with the OpenAI Agents SDK, as its documentation has it: its own limit of
 * turns, retries, approvals and tool errors. It writes nothing down by itself; its RunState, which can be made text and
 * read back at any time, is put into SQLite whenever its stream tells of a tool's output, and at the end.
 */
import { join } from "node:path";
import {
  Agent,
  AgentsError,
  MaxTurnsExceededError,
  Runner,
  RunState,
  retryPolicies,
  setTracingDisabled,
  ToolCallError,
  ToolTimeoutError,
  tool,
} from "@openai/agents";
import Sqlite from "better-sqlite3";
import { replyOf } from "../.build/bench/agent/scenarios.js";
import { serve } from "../.build/bench/agent/serve.js";

// Traces would be sent to its maker.
setTracingDisabled(true);

/** One below the harness that would end it from outside. */
const TURNS = 5;
const ANYTHING = { type: "object", properties: {}, required: [], additionalProperties: true };
/** Names of functions may have no dots. */
const plain = (name) => name.replace(".", "_");
const runner = new Runner({ tracingDisabled: true });

/** As a provider's client would throw it. */
class ProviderFault extends Error {
  status = 503;
}

/** A model of the SDK from a script: the reply for a conversation with so many replies in it. */
function scripted(reply) {
  async function answered({ input }) {
    const items = typeof input === "string" ? [] : input;
    const turns = items.filter(({ type }) => type === "function_call").map(({ callId }) => callId);
    const replies = new Set(turns.map((id) => id.split("/")[0])).size;
    return outputOf(await reply(replies), replies);
  }
  return {
    getResponse: answered,
    async *getStreamedResponse(request) {
      const { usage, output } = await answered(request);
      yield { type: "response_started" };
      yield { type: "response_done", response: { id: "reply", usage, output } };
    },
  };
}

function outputOf({ content, calls, usage }, replies) {
  const { input_tokens: inputTokens, output_tokens: outputTokens } = usage;
  const known = typeof inputTokens === "number" && typeof outputTokens === "number";
  const used = known ? [inputTokens, outputTokens] : [0, 0];
  return {
    usage: {
      requests: 1,
      inputTokens: used[0],
      outputTokens: used[1],
      totalTokens: used[0] + used[1],
    },
    output:
      calls.length === 0
        ? [
            {
              type: "message",
              role: "assistant",
              status: "completed",
              content: [{ type: "output_text", text: content }],
            },
          ]
        : calls.map(({ id, name, arguments: args }) => ({
            type: "function_call",
            callId: `${replies}/${id}`,
            name: plain(name),
            arguments: args,
            status: "completed",
          })),
  };
}

function agentOf({ scenario, world }) {
  const asks = scenario.drama === "approval" || scenario.drama === "reject";
  const timeoutMs = scenario.limits?.max_active_ms;
  const tools = scenario.tools.map((one) =>
    tool({
      name: plain(one.name),
      description: one.name,
      parameters: ANYTHING,
      strict: false,
      needsApproval: asks && one.category === "effect",
      // A read that fails is told to the model, which is the default; an effect that fails ends the run.
      ...(one.category === "effect" ? { errorFunction: null } : {}),
      ...(timeoutMs === undefined ? {} : { timeoutMs, timeoutBehavior: "raise_exception" }),
      async execute(args, _context, details) {
        const signal = details?.signal ?? new AbortController().signal;
        const { result } = await one.call(world, args, signal);
        return result;
      },
    }),
  );
  const model = scripted(async (replies) => {
    await world.ask();
    const turn = scenario.turn(replies);
    if ("fault" in turn) throw new ProviderFault(turn.fault);
    return replyOf(turn);
  });
  const policy = retryPolicies.httpStatus([429, 500, 503]);
  const retry = { maxRetries: 2, backoff: { initialDelayMs: 1 }, policy };
  return new Agent({ name: "bench", model, tools, modelSettings: { retry } });
}

/** One row, which is the newest state of a run. */
function stateAt(file, place) {
  const database = new Sqlite(file);
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  database.exec("CREATE TABLE IF NOT EXISTS state (run TEXT PRIMARY KEY, body TEXT NOT NULL)");
  const put = database.prepare("INSERT OR REPLACE INTO state (run, body) VALUES (?, ?)");
  const get = database.prepare("SELECT body FROM state WHERE run = ?").pluck();
  return {
    read: (run) => get.get(run),
    save(run, state) {
      const body = state.toString();
      place?.();
      put.run(run, body);
    },
    close: () => database.close(),
  };
}

const RUN = "bench";

/** Streams it, so that its state can be kept on the way. */
async function streamed(agent, input, maxTurns, keep) {
  const stream = await runner.run(agent, input, { stream: true, maxTurns });
  try {
    for await (const event of stream) {
      if (event.type === "run_item_stream_event" && event.name === "tool_output")
        keep(stream.state);
    }
    await stream.completed;
  } finally {
    keep(stream.state);
  }
  return stream;
}

async function play(work) {
  const { directory, from, place } = work;
  const store = stateAt(join(directory, "openai.sqlite"), place);
  try {
    const agent = agentOf(work);
    const kept = from === "start" ? undefined : store.read(RUN);
    const input = kept === undefined ? "do it" : await RunState.fromString(agent, kept);
    if (from === "reject") for (const one of input.getInterruptions()) input.reject(one);
    const { interruptions } = await streamed(agent, input, TURNS, (state) =>
      store.save(RUN, state),
    );
    return interruptions.length > 0 ? "approval_pending" : "completed";
  } catch (error) {
    return reasonOf(error);
  } finally {
    store.close();
  }
}

function reasonOf(error) {
  if (error instanceof MaxTurnsExceededError) return "turn_limit";
  if (error instanceof ToolTimeoutError) return "timed_out";
  if (error instanceof ToolCallError) return "tool_error";
  if (error instanceof ProviderFault) return "provider_error";
  return error instanceof AgentsError ? error.constructor.name : String(error);
}

async function look(scenario, directory) {
  const store = stateAt(join(directory, "openai.sqlite"));
  try {
    const text = store.read(RUN);
    if (text === undefined) return null;
    const state = await RunState.fromString(
      agentOf({ scenario, world: { effect: () => 0, ask() {} } }),
      text,
    );
    const waiting = new Set(state.getInterruptions().map(({ rawItem }) => rawItem.callId));
    // A call that never had a result stands among the replies alone.
    const items = state.history;
    const replies = JSON.parse(text).modelResponses.flatMap(({ output }) => output);
    const answers = new Map(
      items.filter(({ type }) => type === "function_call_result").map((one) => [one.callId, one]),
    );
    const names = new Map(scenario.tools.map(({ name }) => [plain(name), name]));
    const asked = [...items, ...replies].filter(({ type }) => type === "function_call");
    const calls = [...new Map(asked.map((call) => [call.callId, call])).values()].map(
      ({ callId, name, arguments: text_ }) => {
        const args = parsed(text_);
        const refused = REFUSED.test(JSON.stringify(answers.get(callId)?.output ?? null));
        const ran = args !== undefined && !waiting.has(callId) && !refused;
        const outcome = answers.has(callId) ? "done" : "open";
        return { tool: names.get(name), args: args ?? null, outcome: ran ? outcome : "not_run" };
      },
    );
    return { whole: true, calls };
  } finally {
    store.close();
  }
}

/** How the SDK tells a model that a reviewer said no. */
const REFUSED = /not approved/;

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function cost(directory, { turns, reply }) {
  const store = directory === null ? null : stateAt(join(directory, `${turns}.sqlite`));
  const look_up = tool({
    name: "look_up",
    description: "look up",
    parameters: ANYTHING,
    strict: false,
    execute: async ({ n }) => n,
  });
  const agent = new Agent({
    name: "bench",
    model: scripted(async (replies) => reply(replies)),
    tools: [look_up],
  });
  let runs = 0;
  return async () => {
    runs += 1;
    const maxTurns = turns + 1;
    const { finalOutput } =
      store === null
        ? await runner.run(agent, "do it", { maxTurns })
        : await streamed(agent, "do it", maxTurns, (state) => store.save(`run ${runs}`, state));
    if (finalOutput !== "done") throw new Error(`it ended with ${finalOutput}`);
  };
}

serve({ play, look, cost });
