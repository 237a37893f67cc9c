/** What a run has come to, told for people and as JSON: by whatever command it was moved. */

import { unreconciled } from "../../app/run-record.ts";
import type { JsonValue } from "../../base/json.ts";
import { inLine } from "../../base/text.ts";
import type { FrozenOperation } from "../../host/index.ts";
import type { ObservationReport, Phase } from "../../model/memory.ts";
import type { PendingModel, RunFailure, RunReport } from "../../model/run.ts";
import { isTerminal, REASON_NOTES } from "../../model/stop.ts";
import type { Failure } from "../fault.ts";
import type { OpenHost } from "../host.ts";
import { resumeRun } from "../next.ts";
import { reportJson } from "../report-json.ts";
import { count } from "../table.ts";
import { requestJson, requestText } from "../waiting.ts";
import type { Ended } from "./once.ts";

/** What is known of a run besides what it says itself. */
export interface Telling {
  readonly at: OpenHost | null;
  /** The phase that it was to be observed in. */
  readonly phase: Phase | null;
  /** Why its mode is what it is. */
  readonly why: string;
  /** What was done to the recipe so that it could start. */
  readonly note: string | null;
}

export function runJson(
  { run, state, observation, problem, requests, again }: Ended,
  { at, why, note }: Telling,
): { readonly [key: string]: JsonValue } {
  const { report, pending, result, receipts } = run;
  const uncertain = uncertainOf(state, run.id, at);
  return {
    state,
    reason: report.reason,
    ...(result === undefined ? {} : { result }),
    mode: run.mode,
    why,
    ...(note === null ? {} : { note }),
    ...(at === null ? {} : { run: run.id, receipts: [...receipts] }),
    ...(again ? { again } : {}),
    ...(pending.length === 0 ? {} : { pending: pending.map(pendingJson) }),
    ...(requests.length === 0 ? {} : { requests: requests.map(requestJson) }),
    ...(uncertain.length === 0 ? {} : { uncertain: uncertain.map(operationJson) }),
    ...(observation === null ? {} : { observation: observationJson(observation) }),
    ...(problem === null ? {} : { error: problemJson(problem) }),
    report: reportJson(report),
  };
}

function pendingJson(pending: PendingModel): JsonValue {
  return { ...pending };
}

export function operationJson({ operation, digest }: FrozenOperation): JsonValue {
  const { node, index, tool, key, arguments: args } = operation;
  return { digest, node, index, tool: tool.name, key, arguments: args };
}

export function observationJson(observation: ObservationReport): JsonValue {
  return {
    ...observation,
    mismatches: observation.mismatches.map((mismatch) => ({ ...mismatch })),
  };
}

export function problemJson({ code, message, hint, data }: Failure): JsonValue {
  return { code, message, ...(hint === null ? {} : { hint }), ...data };
}

export function runText(ended: Ended, telling: Telling): string {
  const { run, state, observation, problem, requests } = ended;
  const { at, note, phase, why } = telling;
  const { report, pending } = run;
  const lines = [
    ...(at === null ? [] : [`run     ${run.id}`]),
    `state   ${state}${report.reason === null ? "" : ` (${report.reason})`}`,
    `mode    ${run.mode}: ${why}`,
  ];
  if (note !== null) lines.push(`note    ${note}`);
  if (run.result !== undefined) lines.push(`result  ${indented(run.result)}`);
  const { failure, reason } = report;
  if (failure !== null) {
    const place = failure.pointer === undefined ? "" : ` at ${failure.pointer}`;
    const code = failure.code === undefined ? "" : ` [${failure.code}]`;
    lines.push(inLine(`why     ${failureText(failure)}${code}${place}`));
  }
  lines.push(`nodes   ${nodesOf(report)}`);
  lines.push(`model   ${modelOf(report)}`);
  if (at !== null) lines.push(`host    ${hostOf(report, run.receipts.length)}`);
  lines.push(
    `time    ${report.active_ms.toFixed(1)} ms active of ${report.total_ms.toFixed(1)} ms`,
  );
  if (observation !== null) lines.push(`memory  ${observationText(observation)}`);
  for (const question of pending) lines.push("", ...questionLines(question));
  if (pending.length > 0) lines.push("", howToAnswer(ended, at));
  if (at !== null) {
    for (const request of requests) lines.push("", ...requestText(request, at));
    lines.push(...uncertainLines(uncertainOf(state, run.id, at), run.id, at));
  }
  lines.push(...endLines(ended, at, phase, reason));
  if (problem !== null) {
    lines.push(`error: ${problem.message}`);
    if (problem.hint !== null) lines.push(`hint: ${problem.hint}`);
  }
  return lines.join("\n");
}

/** A recipe has many nodes, and tools and expressions do not know in which they stand. */
export function failureText({ node, message }: RunFailure): string {
  return node === null ? message : `${node}: ${message}`;
}

function endLines(
  { run, state, exit, problem }: Ended,
  at: OpenHost | null,
  phase: Phase | null,
  reason: RunReport["reason"],
): readonly string[] {
  if (problem !== null || state === "verified") return [];
  if (isTerminal(state)) return reason === null ? [] : [`hint: ${REASON_NOTES[reason].todo}`];
  if (at === null || !at.stored) return [];
  const left = exit === "cancelled" ? [`hint: go on with  ${resumeRun(run.id, at.file)}`] : [];
  if (phase === null) return left;
  const observe = `rote memory observe ${run.id} --host ${at.file} --phase ${phase}`;
  return [...left, `hint: once it is verified, observe it with  ${observe}`];
}

function uncertainOf(
  state: Ended["state"],
  run: string,
  at: OpenHost | null,
): readonly FrozenOperation[] {
  return at === null || state !== "uncertain" ? [] : unreconciled(at.host, run);
}

export function uncertainLines(
  operations: readonly FrozenOperation[],
  run: string,
  { file }: OpenHost,
): readonly string[] {
  if (operations.length === 0) return [];
  const several = operations.length > 1 ? " --operation DIGEST" : "";
  return [
    ...operations.flatMap(({ operation, digest }) => [
      "",
      `uncertain  ${operation.tool.name} at ${operation.node}, ${digest}`,
      `arguments  ${indented(operation.arguments, 11)}`,
    ]),
    `hint: find out at the target, then  rote runs reconcile ${run} --host ${file} --key KEY --found done|not_done --evidence TEXT${several}`,
  ];
}

function howToAnswer({ run }: Ended, at: OpenHost | null): string {
  const form = 'one {"node": .., "prompt"?: .., "answer": ..} a line';
  if (at === null || !at.stored) return `hint: answer with --answers FILE.jsonl, ${form}`;
  const resume = `${resumeRun(run.id, at.file)} --answers FILE.jsonl`;
  return `hint: answer with  ${resume}\nhint: a file of answers has ${form}`;
}

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

function hostOf({ broker_attempts, target_entries }: RunReport, receipts: number): string {
  const entries = count(target_entries, "entry", "entries");
  return `${count(broker_attempts, "call")} of tools, ${entries} at targets, ${count(receipts, "receipt")}`;
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
    ...(instructions === null ? [] : [inLine(`        ${instructions}`)]),
    `prompt  ${indented(prompt)}`,
    `type    ${JSON.stringify(answer_type)}`,
  ];
}

/** JSON that continues below its label. */
function indented(value: JsonValue, by = 8): string {
  const short = JSON.stringify(value);
  if (short.length <= 72) return short;
  return JSON.stringify(value, null, 2).replaceAll("\n", `\n${" ".repeat(by)}`);
}
