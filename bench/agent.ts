import { costs } from "./agent/costs.ts";
import { stageOf } from "./agent/dramas.ts";
import { peers, ROTE } from "./agent/methods.ts";
import { rawScore } from "./agent/raw.ts";
import type { Scenario, Score } from "./agent/scenario.ts";
import { SCENARIOS } from "./agent/scenarios.ts";
import { rounded } from "./measure.ts";
import type { Row } from "./row.ts";

export const name = "agent";

/**
 * An agent loop in trouble: the eight scenarios of the seed and harder ones, at a minimal loop, Rote, LangGraph.js's
 * prebuilt agent and the OpenAI Agents SDK. A loop that is still at it after six turns is ended by a harness outside of
 * it, which is not counted as containment. Then what a turn costs beside the model.
 */
export async function rows(): Promise<readonly Row[]> {
  const methods = [ROTE, ...peers()];
  return [...(await scores(methods)), ...(await costs(methods))];
}

async function scores(methods: readonly (typeof ROTE)[]): Promise<readonly Row[]> {
  const stages = methods.map((method) => ({ method: method.method, ...stageOf(method) }));
  const players = [{ method: "minimal loop", score: rawScore }, ...stages];
  const found: { readonly method: string; readonly scenario: Scenario; readonly score: Score }[] =
    [];
  try {
    for (const scenario of SCENARIOS) {
      process.stderr.write(`${scenario.name} ..\n`);
      for (const { method, score } of players) {
        found.push({ method, scenario, score: await score(scenario) });
      }
    }
  } finally {
    for (const { close } of stages) close();
  }
  const totals = (["seed", "harder"] as const).flatMap((set) =>
    players.map(({ method }) => {
      const of = found.filter((one) => one.method === method && one.scenario.set === set);
      return totalRow(
        method,
        set,
        of.map(({ score }) => score),
      );
    }),
  );
  return [
    ...found.map(({ method, scenario, score }) => scoreRow(method, scenario, score)),
    ...totals,
  ];
}

/** A cell that a method cannot fill says why. */
function scoreRow(method: string, { name: scenario, set }: Scenario, score: Score): Row {
  const { cannot } = score;
  return {
    method,
    case: scenario,
    set,
    contained: cannot ?? yes(score.contained),
    resumed: cannot ?? yes(score.resumed),
    terminal: cannot ?? yes(score.terminal),
    trace: cannot ?? yes(score.trace),
    duplicate_side_effects: score.duplicates,
    steps: score.steps === null ? null : rounded(score.steps),
    reason: score.reason,
  };
}

/** Shares of those scenarios in which it can be told. */
function totalRow(method: string, set: string, scores: readonly Score[]): Row {
  const played = scores.filter(({ cannot }) => cannot === null);
  const sum = (of: "duplicates" | "steps") =>
    played.reduce((total, score) => total + (score[of] ?? 0), 0);
  const cannot = scores.length - played.length;
  return {
    method,
    case: `all of ${set}`,
    set,
    contained: share(played.map(({ contained }) => contained)),
    resumed: share(played.map(({ resumed }) => resumed)),
    terminal: share(played.map(({ terminal }) => terminal)),
    trace: share(played.map(({ trace }) => trace)),
    duplicate_side_effects: sum("duplicates"),
    steps: rounded(sum("steps") / played.length),
    reason: cannot === 0 ? null : `without ${cannot}`,
  };
}

function yes(value: boolean | null): string | null {
  if (value === null) return null;
  return value ? "yes" : "no";
}

function share(values: readonly (boolean | null)[]): string | null {
  const told = values.filter((value) => value !== null);
  if (told.length === 0) return null;
  return `${Math.round((100 * told.filter(Boolean).length) / told.length)} %`;
}
