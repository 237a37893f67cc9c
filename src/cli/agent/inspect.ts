import type { AgentTrace } from "../../agent/index.ts";
import { NO_MODEL } from "../../app/agent-model.ts";
import { type AgentReplay, type AgentResult, AgentRuntime } from "../../app/agent-runtime.ts";
import type { Cost } from "../../app/llm.ts";
import { recordOf } from "../../app/run-record.ts";
import { RoteError } from "../../base/error.ts";
import type { JsonValue } from "../../base/json.ts";
import { inLine } from "../../base/text.ts";
import { AGENT_STATE_NOTES, isAgentTerminal } from "../../model/agent-states.ts";
import { REASON_NOTES, type StopReason } from "../../model/stop.ts";
import { type OpenHost, withHost } from "../host.ts";
import { resumeAgent } from "../next.ts";
import { uncertainLines } from "../run/told.ts";
import type { Call, Outcome } from "../spec.ts";
import { count, table } from "../table.ts";
import { pricesOf } from "./model.ts";
import { reportJson } from "./told.ts";

/** One agent run as the journal has it. Changes nothing. */
export async function run(call: Call): Promise<Outcome> {
  const [name = ""] = call.arguments;
  return await withHost(call, async (at) => {
    const runtime = new AgentRuntime({ host: at.host, model: NO_MODEL });
    const trace = runtime.inspect(name);
    const result = runtime.result(name);
    const replay = replayed(runtime, name);
    const cost = await costOfRun(call, runtime, name);
    return {
      exit: "verified",
      json: {
        ...traceJson(trace, result, replay),
        ...(cost === null ? {} : { cost: { ...cost, unknown: [...cost.unknown] } }),
      },
      text: traceText(trace, result, replay, cost, at),
    };
  });
}

async function costOfRun(call: Call, runtime: AgentRuntime, name: string): Promise<Cost | null> {
  const prices = await pricesOf(call);
  if (prices === undefined) return null;
  const { costOf } = await import("../../app/llm.ts");
  return costOf(prices, runtime.used(name));
}

type Replay = AgentReplay | { readonly code: string; readonly message: string };

function replayed(runtime: AgentRuntime, name: string): Replay {
  try {
    return runtime.replay(name);
  } catch (error) {
    if (!(error instanceof RoteError)) throw error;
    return { code: error.code, message: error.message };
  }
}

function traceJson(
  { report: _, events, calls, tools, limits, ...trace }: AgentTrace,
  result: AgentResult,
  replay: Replay,
): { readonly [key: string]: JsonValue } {
  return {
    ...reportJson(result),
    ...trace,
    model: { ...trace.model },
    repeated: { ...trace.repeated },
    limits: { ...limits },
    resumable: !isAgentTerminal(result.state),
    replay:
      "code" in replay
        ? { ok: false, ...replay }
        : { ok: true, replies: replay.replies, results: replay.results, ended: replay.ended },
    tools: tools.map(({ key, ...tool }) => ({ ...tool, key: [...key] })),
    calls: calls.map((one) => ({ ...one })),
    events: events.map((one) => ({ ...one })),
  };
}

function traceText(
  trace: AgentTrace,
  result: AgentResult,
  replay: Replay,
  cost: Cost | null,
  at: OpenHost,
): string {
  const { report, goal, model, limits, repeated } = trace;
  const { state, reason } = report;
  const ended = isAgentTerminal(state);
  return [
    `run      ${report.run}`,
    `goal     ${goal.replaceAll("\n", `\n${" ".repeat(9)}`)}`,
    `model    ${model.provider}:${model.name}`,
    "",
    `now      ${state}: ${AGENT_STATE_NOTES[state].meaning}`,
    `why      ${reason === null ? "it has not stopped" : stopped(report)}`,
    `repeats  ${count(repeated.most_in_a_row, "identical call")} in a row at most, of ${limits.repeated_action} that end it; ${count(repeated.quiet_turns, "turn")} without anything new, of ${limits.no_progress}`,
    `go on    ${ended ? "no: it has ended" : resumeAgent(report.run, model, at.file)}`,
    `replay   ${replayText(replay)}`,
    `tokens   ${report.tokens.input} in, ${report.tokens.output} out, in ${count(report.model_calls, "model call")}`,
    ...(cost === null
      ? []
      : [
          `cost     ${cost.amount === null ? `unknown: ${cost.unknown.join("; ")}` : `${cost.amount} ${cost.currency}`}`,
        ]),
    ...(result.requests.length === 0
      ? []
      : [
          `waits    for ${count(result.requests.length, "decision")}: rote approvals list --host ${at.file}`,
        ]),
    "",
    callsTable(trace),
    "",
    timeline(trace),
    ...(reason === null ? [] : endLines(report.run, reason, at)),
  ].join("\n");
}

/** What to do about the end; what was found out about an uncertain operation since is told instead of asked for. */
function endLines(run: string, reason: StopReason, at: OpenHost): readonly string[] {
  if (reason === "completed") return [];
  const { uncertain } = recordOf(at.host, run);
  const open = uncertain.flatMap(({ frozen, found }) => (found === null ? [frozen] : []));
  const hint = uncertain.length > 0 && open.length === 0 ? [] : [REASON_NOTES[reason].todo];
  return [
    ...uncertain.flatMap(({ frozen, found }) =>
      found === null ? [] : [`found    ${found}: ${frozen.operation.tool.name}, ${frozen.digest}`],
    ),
    ...hint.map((todo) => `hint: ${todo}`),
    ...uncertainLines(open, run, at),
  ];
}

function stopped({ reason, message, code }: AgentTrace["report"]): string {
  if (reason === null) return "";
  if (reason === "completed") return "completed: the model gave its answer";
  const detail = message === null ? REASON_NOTES[reason].meaning : message;
  return inLine(`${reason}: ${detail}${code === null ? "" : ` [${code}]`}`);
}

function replayText(replay: Replay): string {
  if ("code" in replay) return `no: ${replay.message} [${replay.code}]`;
  const { replies, results, ended } = replay;
  const found = `${count(replies, "reply", "replies")} and ${count(results, "result")} on record`;
  return `yes, without a model: ${found}${ended ? "" : ", as far as it went"}`;
}

function callsTable({ calls }: AgentTrace): string {
  if (calls.length === 0) return "no tool calls";
  const rows = calls.map(({ call, step, tool, outcome, code, attempts }) => [
    call,
    step,
    tool,
    code === null ? outcome : `${outcome} [${code}]`,
    attempts,
  ]);
  return table(["call", "turn", "tool", "outcome", "ran"], rows);
}

function timeline({ events }: AgentTrace): string {
  const from = events[0]?.time ?? 0;
  const rows = events.map(({ seq, time, event, state, what }) => [
    seq,
    `+${time - from} ms`,
    event,
    state,
    what,
  ]);
  return table(["entry", "time", "event", "then", "what"], rows);
}
