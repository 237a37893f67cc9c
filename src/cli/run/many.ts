import { RoteError } from "../../base/error.ts";
import type { JsonValue } from "../../base/json.ts";
import { EXIT_CODES, type ExitName } from "../../model/stop.ts";
import { failureOf, fault } from "../fault.ts";
import { readChunks } from "../files.ts";
import type { Session } from "../session.ts";
import type { Call, Outcome } from "../spec.ts";
import { jsonText, type Terminal } from "../terminal.ts";
import { type InputLine, inputsFromBytes, linesOf } from "./inputs.ts";
import { type Ended, runOnce } from "./once.ts";
import {
  addLine,
  type Line,
  newTally,
  progressText,
  type Tally,
  tallyJson,
  tallyText,
  worse,
} from "./tally.ts";
import { failureText, observationJson, observationText, problemJson } from "./told.ts";

/** Runs between two looks at the event loop, where Ctrl-C is noticed. */
const BREATH = 16;
/** Runs between two lines of progress that nobody watches. */
const UNWATCHED = 1000;

/** One run for each line of a file; a bad line is told by its number and stops nothing. */
export async function runMany(call: Call, session: Session, file: string): Promise<Outcome> {
  const { terminal } = call;
  const tally = newTally();
  if (!call.json) terminal.print(`${heading(session)}\n`);
  try {
    for await (const line of linesOf(readChunks(file, "inputs", terminal))) {
      if (terminal.interrupted.aborted) break;
      const told = await runLine(session, line, terminal);
      addLine(tally, told);
      if (call.json) terminal.data(`${jsonText(told.json)}\n`);
      await showProgress(tally, terminal);
    }
  } catch (error) {
    // Interrupted while waiting for input: what has been done is still told.
    if (!terminal.interrupted.aborted) throw error;
  }
  if (terminal.watched) terminal.progress("");
  // Nothing run is nothing verified: an empty file is more likely a broken export than no work.
  if (tally.lines === 0 && !terminal.interrupted.aborted) throw noLines(file);
  const exit = terminal.interrupted.aborted ? worse(tally.worst, "cancelled") : tally.worst;
  return {
    exit,
    json: {
      summary: {
        mode: session.mode,
        why: session.why,
        note: session.ready.note,
        ...tallyJson(tally),
      },
    },
    text: tallyText(tally, terminal.interrupted.aborted),
    oneLine: true,
  };
}

function noLines(file: string): RoteError {
  return fault(
    "bad_input",
    `inputs ${file}: there is no input line, so nothing was run`,
    "write one object with a member for each input on each line",
    { file },
  );
}

async function showProgress(tally: Tally, terminal: Terminal): Promise<void> {
  if (tally.lines % BREATH === 0) {
    if (terminal.watched) terminal.progress(`${progressText(tally)} ..`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (!terminal.watched && tally.lines % UNWATCHED === 0) {
    terminal.note(`${progressText(tally)}\n`);
  }
}

function heading({ mode, why, ready, phase }: Session): string {
  const lines = [`mode    ${mode}: ${why}`];
  if (ready.note !== null) lines.push(`note    ${ready.note}`);
  if (phase !== null) lines.push(`phase   ${phase}`);
  return lines.join("\n");
}

async function runLine(session: Session, line: InputLine, terminal: Terminal): Promise<Line> {
  if ("tooLong" in line)
    return unstarted(line.number, "document_too_large", "the line is too long");
  const inputs = inputsFromBytes(line.bytes);
  if (!inputs.ok) return unstarted(line.number, "bad_input", inputs.error);
  try {
    const ended = await runOnce(session, inputs.value, { terminal, wait: false, tell: false });
    return endedLine(line.number, ended, session.at !== null);
  } catch (error) {
    if (!(error instanceof RoteError)) throw error;
    // Hints are about the command line as a whole, and would be said once a line.
    const failure = { ...failureOf(error), hint: null };
    const { code, message, exit } = failure;
    return {
      ...unstarted(line.number, code, message, exit),
      json: lineJson(line.number, exit, { error: problemJson(failure) }),
    };
  }
}

function unstarted(
  number: number,
  code: string,
  message: string,
  exit: ExitName = "problem",
): Line {
  return {
    number,
    exit,
    state: "not started",
    reason: code,
    message,
    json: lineJson(number, exit, { error: { code, message } }),
    reused: 0,
    learned: 0,
    calls: 0,
    observed: null,
  };
}

function endedLine(
  number: number,
  { run, state, exit, observation, problem }: Ended,
  kept: boolean,
): Line {
  const { report } = run;
  const result = run.result;
  const reason = problem?.code ?? report.reason ?? "";
  const failedPhase = observation?.outcome === "failed" ? observationText(observation) : null;
  const failed = report.failure === null ? null : failureText(report.failure);
  // Whoever goes on with it has to name it.
  const left = kept && report.reason === null ? report.run : null;
  return {
    number,
    exit,
    state,
    reason,
    message: problem?.message ?? failedPhase ?? failed ?? left,
    json: lineJson(number, exit, {
      state,
      reason: report.reason,
      ...(result === undefined ? {} : { result }),
      mode: report.mode,
      run: report.run,
      reused_pure_nodes: report.reused_pure_nodes,
      learned_model_hits: report.learned_model_hits,
      model_calls: report.model_calls,
      active_ms: report.active_ms,
      ...(report.failure === null ? {} : { failure: { ...report.failure } }),
      ...(observation === null ? {} : { observation: observationJson(observation) }),
      ...(problem === null ? {} : { error: problemJson(problem) }),
    }),
    reused: report.reused_pure_nodes,
    learned: report.learned_model_hits,
    calls: report.model_calls,
    observed: observation?.outcome ?? (problem !== null && state === "verified" ? "refused" : null),
  };
}

function lineJson(
  line: number,
  exit: ExitName,
  more: { readonly [key: string]: JsonValue },
): { readonly [key: string]: JsonValue } {
  return { line, exit, exit_code: EXIT_CODES[exit].code, ...more };
}
