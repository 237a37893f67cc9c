/** The side of a process that plays: takes jobs one after the other, and dies or sleeps where it is told to. */
import { setTimeout as after } from "node:timers/promises";
import { costScript, spentBy } from "./cost-script.ts";
import type { Answer, CostJob, Job, Player, PlayJob, Said, Spent } from "./job.ts";
import { HARNESS_STEPS, type Scenario, type World } from "./scenario.ts";
import { SCENARIOS } from "./scenarios.ts";
import { recordAsked, recordEffect } from "./target.ts";

export function serve(player: Player): void {
  // What a tool that was given up on does later is nobody's business here.
  process.on("unhandledRejection", () => undefined);
  process.on("disconnect", () => process.exit(0));
  process.on("message", (job: Job) => {
    answerTo(player, job).then(say, (error: unknown) =>
      say({ problem: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    );
  });
  say({ ready: true });
}

function say(said: Said, then?: () => void): void {
  process.send?.(said, () => then?.());
}

async function answerTo(player: Player, job: Job): Promise<Answer> {
  switch (job.kind) {
    case "play":
      return { reason: await played(player, job) };
    case "look":
      return { kept: await player.look(scenarioOf(job.scenario), job.directory) };
    case "cost":
      return { spent: await spentOn(player, job) };
  }
}

/** Kept between the runs of one size, so that only the first one pays for what is built once. */
const built = new Map<string, ReturnType<typeof runOf>>();

async function spentOn(player: Player, job: CostJob): Promise<Spent> {
  const key = `${job.directory} ${job.turns}`;
  const made = built.get(key) ?? runOf(player, job);
  built.set(key, made);
  const { script, run } = await made;
  return spentBy(() => script.begin(job.limitMs), run);
}

async function runOf(player: Player, { directory, turns }: CostJob) {
  const script = costScript(turns);
  return { script, run: await player.cost(directory, script) };
}

function scenarioOf(name: string): Scenario {
  const found = SCENARIOS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no scenario is called ${name}`);
  return found;
}

function played(player: Player, job: PlayJob): Promise<string> {
  const { directory, die, sleeps = false, modelMs = 0 } = job;
  let [places, models] = [0, 0];
  const place = (): void => {
    places += 1;
    if (die?.at === "place" && places === die.nth) dead();
  };
  return new Promise((resolve, reject) => {
    const world: World = {
      effect(args) {
        const count = recordEffect(directory, args);
        place();
        return count;
      },
      async ask() {
        models += 1;
        if (recordAsked(directory) > HARNESS_STEPS) {
          // The harness outside has had enough.
          resolve("cut");
          await new Promise(() => undefined);
        }
        if (sleeps && models === 1) await asleep();
        await after(modelMs);
        if (die?.at === "model" && models === die.nth) dead();
        place();
      },
    };
    const scenario = scenarioOf(job.scenario);
    player.play({ scenario, directory, from: job.from, world, place }).then(resolve, reject);
  });
}

function dead(): never {
  process.kill(process.pid, "SIGKILL");
  for (;;);
}

/** Until somebody sends it SIGCONT. */
function asleep(): Promise<void> {
  return new Promise((resolve) => {
    say({ asleep: true }, () => {
      process.kill(process.pid, "SIGSTOP");
      resolve();
    });
  });
}
