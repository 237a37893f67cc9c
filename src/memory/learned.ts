/**
 * Which model answers count as learned, and whether a guided run agrees with them.
 *
 * - L1 Learned is an answer that was the same wherever its node was asked (over the elements of its `each` too) in
 *   every qualifying run, asked at least once in each, by one model.
 * - L2 Qualifying are the clean runs since the last demotion. What contradicts counts from everywhere: failed runs,
 *   signals, and runs before a demotion.
 * - L3 An answer `varied` when the prompts of the training runs were not one and the same set, and after that a shadow
 *   run and then a canary run each asked a prompt that no run before it had asked. L1 says that they agreed. Different
 *   elements of one run do not count as variation: runs are what is independent.
 * - L4 A shadow or canary run is compared as if its answers stood for any prompt already when training varied: that is
 *   what it puts to the test.
 */
import { canonicalText } from "../base/canonical.ts";
import type { Digest } from "../base/digest.ts";
import { compareText } from "../base/text.ts";
import type { Mismatch, Observation, ProcedureRecord, StoredExchange } from "../model/memory.ts";
import type { LearnedAnswer, ModelIdentity, RunEvidence } from "../model/run.ts";
import { learnedForExchange } from "../run/learned.ts";

/** Prompts listed for an answer that stands for any prompt; they are information only. */
const LISTED_PROMPTS = 64;

/** Observations after the last demotion. */
export function sinceDemotion(record: ProcedureRecord): readonly Observation[] {
  const barrier = record.demotions.at(-1)?.barrier ?? 0n;
  return record.observations.filter((one) => one.seq > barrier);
}

/** The learned answers of a record, by node. */
export function learnedFrom(record: ProcedureRecord): readonly LearnedAnswer[] {
  return answersOf(record, "shown");
}

/** The same, as a shadow or canary run puts them to the test (L4). */
export function candidatesFrom(record: ProcedureRecord): readonly LearnedAnswer[] {
  return answersOf(record, "trained");
}

/** What has to have happened for an answer to stand for any prompt: trained with several, or shown since as well. */
type Width = "trained" | "shown";

function answersOf(record: ProcedureRecord, width: Width): readonly LearnedAnswer[] {
  const fresh = sinceDemotion(record);
  const qualifying = fresh.filter((one) => one.clean);
  const runs = qualifying.map((one) => byNode(one.models));
  const first = runs[0];
  if (first === undefined) return [];
  const learned: LearnedAnswer[] = [];
  const everything = byNode([
    ...record.observations.flatMap((one) => one.models),
    ...record.signals.flatMap((one) => one.models),
  ]);
  for (const node of [...first.keys()].sort(compareText)) {
    const perRun = runs.map((run) => run.get(node) ?? []);
    if (perRun.some((exchanges) => exchanges.length === 0)) continue;
    const answer = oneAnswer(perRun.flat(), everything.get(node) ?? []);
    if (answer === undefined) continue;
    const prompts = new Map(
      qualifying.map((one, place) => [one, new Set(perRun[place]?.map(({ prompt }) => prompt))]),
    );
    learned.push({ node, ...answer, ...promptsOf(fresh, prompts, width) });
  }
  return learned;
}

export interface Comparison {
  readonly mismatches: readonly Mismatch[];
  /** Learned answers that would have been used and agreed. */
  readonly agreed: number;
}

/** What compiled mode would have used in a guided run, beside what the run did. Nothing is ever put in its place. */
export function compare(learned: readonly LearnedAnswer[], evidence: RunEvidence): Comparison {
  const mismatches: Mismatch[] = [];
  let agreed = 0;
  for (const exchange of evidence.models) {
    const used = learnedForExchange(learned, exchange);
    if (used === undefined) continue;
    if (canonicalText(used.answer) === canonicalText(exchange.answer)) agreed += 1;
    else mismatches.push({ node: exchange.node, index: exchange.index, kind: "model" });
  }
  for (const twin of evidence.twins) {
    if (!twin.agreed) mismatches.push({ node: twin.node, index: null, kind: "twin" });
  }
  return { mismatches, agreed };
}

/** True when whatever `before` stood for, `after` stands for with the same answer. */
export function covers(after: readonly LearnedAnswer[], before: readonly LearnedAnswer[]): boolean {
  return before.every((old) => {
    const now = after.find((one) => one.node === old.node);
    if (now === undefined || !sameModel(now.model, old.model)) return false;
    if (canonicalText(now.answer) !== canonicalText(old.answer)) return false;
    if (now.varied) return true;
    return !old.varied && old.prompts.every((prompt) => now.prompts.includes(prompt));
  });
}

function byNode(exchanges: readonly StoredExchange[]): Map<string, StoredExchange[]> {
  const nodes = new Map<string, StoredExchange[]>();
  for (const exchange of exchanges) {
    const of = nodes.get(exchange.node);
    if (of === undefined) nodes.set(exchange.node, [exchange]);
    else of.push(exchange);
  }
  return nodes;
}

function oneAnswer(
  qualifying: readonly StoredExchange[],
  everything: readonly StoredExchange[],
): Pick<LearnedAnswer, "answer" | "model"> | undefined {
  const [first] = qualifying;
  if (first === undefined) return undefined;
  if (!qualifying.every((exchange) => sameModel(exchange.model, first.model))) return undefined;
  const text = canonicalText(first.answer);
  const contradicted = everything.some(
    (exchange) => sameModel(exchange.model, first.model) && canonicalText(exchange.answer) !== text,
  );
  return contradicted ? undefined : { answer: first.answer, model: first.model };
}

/** `asked` has the prompts of the qualifying runs. */
function promptsOf(
  fresh: readonly Observation[],
  asked: ReadonlyMap<Observation, ReadonlySet<Digest>>,
  width: Width,
): Pick<LearnedAnswer, "prompts" | "varied"> {
  const all = new Set<Digest>();
  let first: ReadonlySet<Digest> | undefined;
  const shown = { training: false, shadow: false, canary: false };
  for (const observation of fresh) {
    const { phase } = observation;
    const prompts = asked.get(observation);
    if (prompts === undefined) {
      // A failed run takes back what was shown before it, as it does in the ladder.
      if (phase !== "training") shown.canary = false;
      if (phase === "shadow") shown.shadow = false;
      continue;
    }
    const unseen = [...prompts].some((prompt) => !all.has(prompt));
    if (phase === "training") {
      first ??= prompts;
      if (!sameSet(first, prompts)) shown.training = true;
    } else if (phase === "shadow") {
      if (shown.training && unseen) shown.shadow = true;
    } else if (shown.shadow && unseen) {
      shown.canary = true;
    }
    for (const prompt of prompts) all.add(prompt);
  }
  const varied = width === "trained" ? shown.training : shown.canary;
  const prompts = [...all].sort(compareText);
  return { prompts: varied ? prompts.slice(0, LISTED_PROMPTS) : prompts, varied };
}

function sameSet(left: ReadonlySet<Digest>, right: ReadonlySet<Digest>): boolean {
  return left.size === right.size && [...left].every((prompt) => right.has(prompt));
}

function sameModel(left: ModelIdentity, right: ModelIdentity): boolean {
  return left.provider === right.provider && left.name === right.name;
}
