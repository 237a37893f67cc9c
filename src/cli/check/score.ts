/** `check --score`: sample runs, and the share of altered results that the verifier refuses. */
import { type Sample, scoreVerifier, type VerifierScore } from "../../app/score.ts";
import type { JsonValue } from "../../base/json.ts";
import type { Run } from "../../run/index.ts";
import type { DocumentFile } from "../documents.ts";
import { fault } from "../fault.ts";
import { MAX_DOCUMENT_BYTES, readChunks, readDocument } from "../files.ts";
import { loadModel } from "../models.ts";
import { readyFrom } from "../ready.ts";
import { inputsFromBytes, type JsonObject, linesOf } from "../run/inputs.ts";
import { runOnce } from "../run/once.ts";
import { isLines } from "../run/run.ts";
import type { Session } from "../session.ts";
import { type Call, type Outcome, switchOption, textOption } from "../spec.ts";
import { count, table } from "../table.ts";

/** Survivors listed for people; JSON has them all. */
const TOLD = 30;

export async function scoreOutcome(
  call: Call,
  recipe: DocumentFile,
  verifier: DocumentFile,
): Promise<Outcome> {
  const { options, terminal } = call;
  const ready = await readyFrom(recipe, verifier, options, terminal);
  const model = await loadModel(options, terminal);
  const session: Session = {
    ready,
    model,
    memory: null,
    phase: null,
    qualified: null,
    insists: false,
    mode: "guided",
    why: "samples are run guided",
    at: null,
  };
  const moving = { terminal, wait: false, tell: false };
  const samples: Sample[] = [];
  for await (const { place, inputs } of sampleInputs(call)) {
    const { run, exit } = await runOnce(session, inputs, moving);
    const { result } = run;
    if (exit !== "verified" || result === undefined) return unverified(place, run, exit);
    samples.push({ inputs, result });
  }
  if (samples.length === 0) {
    throw fault("bad_input", "there is no sample input", "name a file with at least one");
  }
  const { plan, verifier: rule } = ready.procedure;
  const score = scoreVerifier(plan, rule, samples);
  return { exit: "verified", json: { score: scoreJson(score) }, text: scoreText(score) };
}

interface PlacedInputs {
  readonly place: string;
  readonly inputs: JsonObject;
}

async function* sampleInputs(call: Call): AsyncGenerator<PlacedInputs> {
  const { options, terminal } = call;
  const file = textOption(options, "inputs") ?? "";
  if (!isLines(file, switchOption(options, "lines"))) {
    const bytes = await readDocument(file, "inputs", MAX_DOCUMENT_BYTES, terminal);
    yield readInputs(file, bytes);
    return;
  }
  for await (const line of linesOf(readChunks(file, "inputs", terminal))) {
    const place = `${file}:${line.number}`;
    if ("tooLong" in line) throw fault("document_too_large", `${place}: the line is too long`);
    yield readInputs(place, line.bytes);
  }
}

function readInputs(place: string, bytes: Uint8Array): PlacedInputs {
  const read = inputsFromBytes(bytes);
  if (!read.ok) throw fault("bad_input", `${place}: ${read.error}`);
  return { place, inputs: read.value };
}

/** Only verified results can be altered into wrong ones; a sample that fails says more than any score. */
function unverified(place: string, run: Run, exit: Outcome["exit"]): Outcome {
  const { state, reason, failure } = run.report;
  const why = failure === null ? "" : `: ${failure.message}`;
  const message = `sample ${place} ended ${state}${reason === null ? "" : ` (${reason})`}${why}`;
  return {
    exit,
    json: { score: null, sample: { place, state, reason } },
    text: `error: no score, since ${message}`,
  };
}

export function scoreJson(score: VerifierScore): JsonValue {
  return {
    ...score,
    survivors: score.survivors.map((one) => ({ ...one, example: { ...one.example } })),
  };
}

/** `what`: what was altered, and what that was taken from. */
export function scoreText(
  { samples, possible, tried, caught, survivors }: VerifierScore,
  what = { altered: "result", from: "sample" },
): string {
  const share = tried === 0 ? "nothing could be altered" : `${percent(caught, tried)} caught`;
  const left = possible > tried ? ` (of ${possible} possible ones)` : "";
  const lines = [
    `score   ${share}: ${caught} of ${count(tried, `altered ${what.altered}`)}${left}, from ${count(samples, what.from)}`,
  ];
  if (survivors.length === 0) return lines.join("\n");
  lines.push("", `The verifier accepts these wrong ${what.altered}s:`, "");
  const rows = survivors
    .slice(0, TOLD)
    .map((one) => [
      one.place === "" ? "(the result)" : one.place,
      one.change,
      one.accepted,
      one.tried,
      `sample ${one.example.sample + 1} at ${one.example.pointer === "" ? "the result" : one.example.pointer}`,
    ]);
  lines.push(table(["place", "change", "accepted", "tried", "for example"], rows));
  if (survivors.length > TOLD)
    lines.push(`and ${survivors.length - TOLD} more (--json has them all)`);
  return lines.join("\n");
}

/** Rounded down, so that 100 % is said only of all. */
function percent(part: number, whole: number): string {
  return `${(Math.floor((part / whole) * 1000) / 10).toFixed(1)} %`;
}
