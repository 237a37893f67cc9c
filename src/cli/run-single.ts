import type { JsonValue } from "../base/json.ts";
import type { ObservationReport } from "../model/memory.ts";
import type { PendingModel, RunReport } from "../model/run.ts";
import { isTerminal, REASON_NOTES } from "../model/stop.ts";
import type { JsonObject } from "./inputs.ts";
import { type Ended, observationJson, problemJson, runOnce, type Session } from "./session.ts";
import type { Call, Outcome } from "./spec.ts";
import { count } from "./table.ts";

/** One run, told in full. */
export async function runSingle(
  call: Call,
  session: Session,
  inputs: JsonObject,
): Promise<Outcome> {
  const ended = await runOnce(session, inputs, call.terminal.interrupted);
  const { run, state, exit, observation, problem } = ended;
  const { report, pending } = run;
  const result = run.result;
  return {
    exit,
    json: {
      state,
      reason: report.reason,
      ...(result === undefined ? {} : { result }),
      mode: run.mode,
      why: session.why,
      ...(session.ready.note === null ? {} : { note: session.ready.note }),
      ...(pending.length === 0 ? {} : { pending: pending.map(pendingJson) }),
      ...(observation === null ? {} : { observation: observationJson(observation) }),
      ...(problem === null ? {} : { error: problemJson(problem) }),
      report: reportJson(report),
    },
    text: textOf(session, ended, report, pending),
  };
}

/** A report is a JSON document by contract; this only says so to the compiler. */
export function reportJson(report: RunReport): JsonValue {
  return JSON.parse(JSON.stringify(report)) as JsonValue;
}

function pendingJson(pending: PendingModel): JsonValue {
  return { ...pending };
}

function textOf(
  session: Session,
  { run, state, observation, problem }: Ended,
  report: RunReport,
  pending: readonly PendingModel[],
): string {
  const lines = [
    `state   ${state}${report.reason === null ? "" : ` (${report.reason})`}`,
    `mode    ${run.mode}: ${session.why}`,
  ];
  if (session.ready.note !== null) lines.push(`note    ${session.ready.note}`);
  if (run.result !== undefined) lines.push(`result  ${indented(run.result)}`);
  const { failure, reason } = report;
  if (failure !== null) {
    const place = failure.pointer === undefined ? "" : ` at ${failure.pointer}`;
    const code = failure.code === undefined ? "" : ` [${failure.code}]`;
    lines.push(`why     ${failure.message}${code}${place}`);
  }
  lines.push(`nodes   ${nodesOf(report)}`);
  lines.push(`model   ${modelOf(report)}`);
  lines.push(
    `time    ${report.active_ms.toFixed(1)} ms active of ${report.total_ms.toFixed(1)} ms`,
  );
  if (observation !== null) lines.push(`memory  ${observationText(observation)}`);
  for (const question of pending) lines.push("", ...questionLines(question));
  if (pending.length > 0) lines.push("", HOW_TO_ANSWER);
  if (problem !== null) {
    lines.push(`error: ${problem.message}`);
    if (problem.hint !== null) lines.push(`hint: ${problem.hint}`);
  } else if (isTerminal(state) && state !== "verified" && reason !== null) {
    lines.push(`hint: ${REASON_NOTES[reason].todo}`);
  }
  return lines.join("\n");
}

const HOW_TO_ANSWER =
  'hint: answer with --answers FILE.jsonl, one {"node": .., "prompt"?: .., "answer": ..} a line';

function nodesOf(report: RunReport): string {
  const done = report.trace.filter((node) => node.outcome === "done").length;
  const others = report.trace.length - done;
  const parts = [`${done} done`];
  if (others > 0) parts.push(`${others} not`);
  if (report.reused_pure_nodes > 0) parts.push(`${report.reused_pure_nodes} reused`);
  return parts.join(", ");
}

function modelOf({ model_calls, learned_model_hits, tokens }: RunReport): string {
  const calls = count(model_calls, "call");
  const learned = count(learned_model_hits, "learned answer");
  return `${calls}, ${learned}, tokens ${tokens.input} in and ${tokens.output} out`;
}

export function observationText(observation: ObservationReport): string {
  const { phase, outcome, mismatches, demoted } = observation;
  if (outcome === "counted") return `counted as ${phase}`;
  const nodes = [...new Set(mismatches.map((mismatch) => mismatch.node))].join(", ");
  const ended = demoted ? "; the qualification has ended" : "";
  return `failed its ${phase}: compiled mode would have differed at ${nodes}${ended}`;
}

function questionLines({ node, index, role, instructions, prompt, answer_type }: PendingModel) {
  const element = index === null ? "" : `, element ${index}`;
  return [
    `asks    node ${node}${element}, role ${role}`,
    ...(instructions === null ? [] : [`        ${instructions}`]),
    `prompt  ${indented(prompt)}`,
    `type    ${JSON.stringify(answer_type)}`,
  ];
}

/** JSON that continues below its label. */
function indented(value: JsonValue): string {
  const short = JSON.stringify(value);
  if (short.length <= 72) return short;
  return JSON.stringify(value, null, 2).replaceAll("\n", "\n        ");
}
