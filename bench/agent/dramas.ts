/** Puts a method that has processes of its own through a scenario: starts, kills, stops and resumes them. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import type { Answer, PlayJob } from "./job.ts";
import { type Process, start } from "./processes.ts";
import { duplicatesIn, type Lack, type Scenario, type Score } from "./scenario.ts";
import { countedIn } from "./target.ts";
import { isRight, tellsOf } from "./verdict.ts";

export interface Method {
  readonly method: string;
  /** The file that is started with Node. */
  readonly program: string;
  readonly lacks: readonly Lack[];
}

/** A model that is asked for so long that a process can be killed in the middle, and that two can be at work at once. */
const MODEL_MS = 20;
const SLOW_MODEL_MS = 600;
/** Processes that wait to be killed: as many as load at the same time. */
const SPARE = 2;
/** Behind all that a lease and a model's time can be together, see the limits of the scenario. */
const ASLEEP_MS = 2_500;

/** One process that lives, others that wait to be killed, and where they all work. */
export interface Stage {
  score(scenario: Scenario): Promise<Score>;
  close(): void;
}

type Part = Omit<PlayJob, "kind" | "scenario" | "directory">;

export function stageOf({ program, lacks }: Method): Stage {
  const root = mkdtempSync(join(tmpdir(), "rote-bench-agent-"));
  const living = start(program);
  // Started long before they are needed: most of their time is for loading modules.
  const mortals = Array.from({ length: SPARE }, () => start(program));
  const mortal = (): Process => {
    const [first] = mortals;
    if (first === undefined) throw new Error("there is always one");
    return first;
  };
  let folders = 0;

  /** Plays until the n-th place; false when it got to its end before. */
  async function killed(job: PlayJob): Promise<boolean> {
    const answer = await mortal().work(job);
    if (answer !== "killed") return false;
    mortals.shift();
    mortals.push(start(program));
    return true;
  }

  async function once(scenario: Scenario, dies?: PlayJob["die"]): Promise<Once | null> {
    folders += 1;
    const directory = join(root, String(folders));
    mkdirSync(directory);
    const job = (part: Part): PlayJob => ({
      kind: "play",
      scenario: scenario.name,
      directory,
      modelMs: dies === undefined ? 0 : MODEL_MS,
      ...part,
    });
    const reason = await ended(job, scenario, dies);
    if (reason === null) return null;
    const kept = await living.work({ kind: "look", scenario: scenario.name, directory });
    const counted = countedIn(directory);
    const record = keptIn(kept);
    return {
      reason,
      right: isRight(reason, scenario),
      trace: record === null ? null : tellsOf(record, counted, scenario),
      duplicates: duplicatesIn(counted, scenario),
      steps: counted.asked,
    };
  }

  async function ended(
    job: (part: Part) => PlayJob,
    scenario: Scenario,
    die: PlayJob["die"],
  ): Promise<string | null> {
    if (die !== undefined && !(await killed(job({ from: "start", die })))) return null;
    switch (scenario.drama) {
      case "boundaries":
      case "interrupt":
        return reasonIn(await living.work(job({ from: "resume" })));
      case "twice": {
        const both = job({ from: "resume", modelMs: SLOW_MODEL_MS });
        await mortal().ready;
        const answers = await Promise.all([living, mortal()].map((one) => one.work(both)));
        return best(answers.map(reasonIn), scenario);
      }
      case "stale": {
        const sleeper = mortal();
        const asleep = sleeper.asleep();
        const woken = sleeper.work(job({ from: "start", sleeps: true }));
        await asleep;
        await after(ASLEEP_MS);
        const reason = reasonIn(await living.work(job({ from: "resume" })));
        sleeper.wake();
        reasonIn(await woken);
        return reason;
      }
      case "reject": {
        const asked = reasonIn(await living.work(job({ from: "start" })));
        if (asked !== "approval_pending") return asked;
        return reasonIn(await living.work(job({ from: "reject" })));
      }
      default:
        return reasonIn(await living.work(job({ from: "start" })));
    }
  }

  /** At one place after the other, until it gets to its end before the next one. */
  async function boundaries(scenario: Scenario): Promise<readonly Once[]> {
    const found: Once[] = [];
    for (let nth = 1; ; nth += 1) {
      const one = await once(scenario, { at: "place", nth });
      if (one === null) return found;
      found.push(one);
    }
  }

  async function played(scenario: Scenario): Promise<readonly Once[]> {
    const { drama } = scenario;
    if (drama === "boundaries") return boundaries(scenario);
    // While it asks what comes behind the first effect.
    const die = ["interrupt", "twice"].includes(drama ?? "")
      ? ({ at: "model", nth: 2 } as const)
      : undefined;
    const one = await once(scenario, die);
    if (one === null) throw new Error(`${scenario.name}: it ended before it could be killed`);
    return [one];
  }

  return {
    async score(scenario) {
      const { needs } = scenario;
      if (needs !== undefined && lacks.includes(needs)) return unable(needs);
      return scoreOf(scenario, await played(scenario));
    },
    close() {
      living.close();
      for (const one of mortals) one.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

interface Once {
  readonly reason: string;
  readonly right: boolean;
  readonly trace: boolean | null;
  readonly duplicates: number;
  readonly steps: number;
}

const RESUMING = ["interrupt", "boundaries", "twice", "stale"];

/** Of several the worst counts. */
function scoreOf({ drama, runaway }: Scenario, all: readonly Once[]): Score {
  const duplicates = all.reduce((sum, one) => sum + one.duplicates, 0);
  const right = all.every((one) => one.right);
  const traces = all.map(({ trace }) => trace).filter((trace) => trace !== null);
  return {
    contained: runaway ? duplicates === 0 && all.every(({ reason }) => reason !== "cut") : null,
    resumed: RESUMING.includes(drama ?? "") ? right && duplicates === 0 : null,
    terminal: right,
    trace: traces.length === 0 ? null : traces.every(Boolean),
    duplicates,
    steps: all.reduce((sum, one) => sum + one.steps, 0) / all.length,
    reason: drama === "boundaries" ? `${all.length} boundaries` : (all[0]?.reason ?? null),
    cannot: null,
  };
}

function unable(cannot: Lack): Score {
  return {
    contained: null,
    resumed: null,
    terminal: null,
    trace: null,
    duplicates: null,
    steps: null,
    reason: null,
    cannot,
  };
}

function reasonIn(answer: Answer | "killed"): string {
  if (answer === "killed") throw new Error("it was killed where it should have lived");
  if ("reason" in answer) return answer.reason;
  throw new Error("problem" in answer ? answer.problem : "it answered something else");
}

function keptIn(answer: Answer | "killed") {
  if (answer !== "killed" && "kept" in answer) return answer.kept;
  throw new Error(answer !== "killed" && "problem" in answer ? answer.problem : "it kept silent");
}

/** One of them may have been kept out, which is as it should be. */
function best(reasons: readonly string[], scenario: Scenario): string {
  return reasons.find((reason) => isRight(reason, scenario)) ?? reasons.join(", ");
}
