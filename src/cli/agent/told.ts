/** What an agent's run has come to, told for people and as JSON. */
import { NO_MODEL } from "../../app/agent-model.ts";
import { type AgentResult, AgentRuntime } from "../../app/agent-runtime.ts";
import { undecidedRequests, unreconciled } from "../../app/run-record.ts";
import type { JsonValue } from "../../base/json.ts";
import { inLine } from "../../base/text.ts";
import { isAgentTerminal } from "../../model/agent-states.ts";
import type { ModelIdentity } from "../../model/run.ts";
import { type ExitName, exitOf, REASON_NOTES, stateOf } from "../../model/stop.ts";
import type { OpenHost } from "../host.ts";
import { resumeAgent } from "../next.ts";
import { operationJson, uncertainLines } from "../run/told.ts";
import type { Outcome } from "../spec.ts";
import { count } from "../table.ts";
import type { Terminal } from "../terminal.ts";
import { requestHead } from "../waiting.ts";

/** A run that waits for a person, or was put down. */
export function agentOutcome(
  result: AgentResult,
  at: OpenHost,
  { interrupted }: Pick<Terminal, "interrupted">,
): Outcome {
  const { reason, state } = result;
  const left = interrupted.aborted && !isAgentTerminal(state);
  const exit: ExitName = reason === null ? "waiting" : exitOf(stateOf(reason));
  const uncertain = reason === "uncertain_operation" ? unreconciled(at.host, result.run) : [];
  return {
    exit: left ? "cancelled" : exit,
    json: {
      ...reportJson(result),
      ...(uncertain.length === 0 ? {} : { uncertain: uncertain.map(operationJson) }),
    },
    text: [...agentLines(result, at), ...uncertainLines(uncertain, result.run, at)].join("\n"),
  };
}

export function reportJson({ requests, tokens, ...report }: AgentResult): {
  readonly [key: string]: JsonValue;
} {
  return {
    ...report,
    tokens: { ...tokens },
    ...(requests.length === 0
      ? {}
      : { requests: requests.map((one) => ({ ...one, operations: [...one.operations] })) }),
  };
}

export function agentLines(result: AgentResult, at: OpenHost): readonly string[] {
  const { run, state, reason, message, code, output, partial, tokens } = result;
  const requests = undecidedRequests(at.host, run);
  const why =
    message === null ? [] : [inLine(`why     ${message}${code === null ? "" : ` [${code}]`}`)];
  return [
    `run     ${run}`,
    `state   ${state}${reason === null || reason === state ? "" : ` (${reason})`}`,
    ...why,
    ...(output === null ? [] : [`answer  ${indented(output)}`]),
    ...(partial === null ? [] : [`part    ${indented(partial)}`]),
    `work    ${count(result.steps, "turn")}, ${count(result.model_calls, "model call")}, ${count(result.tool_calls, "tool call")}, ${count(result.errors, "error")}`,
    `tokens  ${tokens.input} in (${tokens.cached} cached), ${tokens.output} out`,
    `time    ${result.active_ms} ms active of ${result.total_ms} ms`,
    ...requests.flatMap((request) => [
      "",
      ...requestHead(request),
      `hint: approve it with  rote approvals approve ${request.nonce} --host ${at.file} --key KEY --as NAME`,
    ]),
    ...(reason === null
      ? [`hint: go on with  ${resumeAgent(run, modelOf(run, at), at.file)}`]
      : reason === "completed"
        ? []
        : [`hint: ${REASON_NOTES[reason].todo}`]),
  ];
}

function modelOf(run: string, { host }: OpenHost): ModelIdentity {
  return new AgentRuntime({ host, model: NO_MODEL }).inspect(run).model;
}

function indented(text: string): string {
  return text.trimEnd().replaceAll("\n", `\n${" ".repeat(8)}`);
}
