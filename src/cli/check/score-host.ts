/** `check --score --host`: the verified runs of a host's journal, and the share of what is altered in them that is refused. */
import { procedureIn, resumeIn } from "../../app/journalled.ts";
import { acceptsShown, type ShownScore, scoreShown } from "../../app/score.ts";
import type { JsonValue } from "../../base/json.ts";
import { type Shown, shownToVerifier } from "../../run/index.ts";
import type { DocumentFile } from "../documents.ts";
import { fault } from "../fault.ts";
import { type OpenHost, withHost } from "../host.ts";
import { readyFrom } from "../ready.ts";
import type { Call, Outcome } from "../spec.ts";
import { scoreJson, scoreText } from "./score.ts";

/** Runs of the journal that are looked at, the latest first. */
const MOST_RUNS = 1000;
/** Samples taken of them. */
const MOST_SAMPLES = 20;

export function hostScoreOutcome(
  call: Call,
  recipe: DocumentFile,
  verifier: DocumentFile,
): Promise<Outcome> {
  return withHost(call, async (at) => {
    const { host } = at;
    const { procedure } = await readyFrom(recipe, verifier, call.options, call.terminal, { host });
    const { plan, verifier: rule } = procedure;
    const shown = await shownAt(at, plan.digest);
    if (shown.length === 0) {
      throw fault(
        "bad_input",
        `the host has no verified run of exactly ${plan.id} as it is now`,
        "run it first; a run is of this recipe when both are bound to the same environment",
      );
    }
    const refused = shown.find(({ seen }) => !acceptsShown(rule, seen));
    if (refused !== undefined) {
      return {
        exit: "rejected",
        json: { score: null, sample: { run: refused.run } },
        text: `error: no score, since the verifier refuses the verified run ${refused.run} as it was`,
      };
    }
    const score = scoreShown(
      plan,
      rule,
      shown.map(({ seen }) => seen),
    );
    return { exit: "verified", json: shownJson(score), text: shownText(score) };
  });
}

function shownJson({ result, before_effect }: ShownScore): { readonly [key: string]: JsonValue } {
  return {
    score: scoreJson(result),
    before_effect: before_effect === null ? null : scoreJson(before_effect),
  };
}

function shownText({ result, before_effect }: ShownScore): string {
  const results = scoreText(result, { altered: "result", from: "run" });
  if (before_effect === null) return results;
  const what = { altered: "proposal", from: "effect" };
  return `${results}\n${scoreText(before_effect, what)}`;
}

interface ShownRun {
  readonly run: string;
  readonly seen: Shown;
}

async function shownAt({ host }: OpenHost, plan: string | null): Promise<readonly ShownRun[]> {
  const found: ShownRun[] = [];
  const verified = host.runs(MOST_RUNS).filter((one) => one.state === "verified");
  for (const { run } of verified.filter((one) => one.plan === plan).slice(0, MOST_SAMPLES)) {
    const made = await resumeIn(host, run, procedureIn(host, run));
    try {
      const seen = shownToVerifier(made);
      if (seen !== undefined) found.push({ run, seen });
    } finally {
      await made.closeAsync();
    }
  }
  return found;
}
