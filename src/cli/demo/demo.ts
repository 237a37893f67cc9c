/**
 * The demonstration: real commands, on the shipped recipes, in a directory of their own. Each step is a command line
 * that can be typed again; each says how it has to end, and the first that ends otherwise ends the demonstration.
 */
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { moduleFromHome } from "../../base/code-home.ts";
import { quoted } from "../../base/quoted.ts";
import { type Call, type Outcome, textOption } from "../spec.ts";
import { judgeRecord } from "./audit.ts";
import { type AllCounts, addTo, countsOf, countsTable } from "./counts.ts";
import { prepareDemo } from "./files.ts";
import { createStage } from "./stage.ts";
import { STORY } from "./story.ts";
import { openDemoHost, playWorkflow, WORKFLOW } from "./workflow.ts";

export async function run(call: Call): Promise<Outcome> {
  const out = textOption(call.options, "out");
  const { directory, passphrase } = prepareDemo(out === undefined ? null : resolve(out));
  const stage = createStage(call, directory);
  const rote = `${quoted(process.execPath)} ${quoted(fileURLToPath(moduleFromHome("cli/main")))}`;
  stage.say(`The commands below are real and work in\n  cd ${quoted(directory)}`);
  stage.say(`with\n  alias rote=${quoted(rote)}`);
  const counts: AllCounts = new Map();
  for (const chapter of STORY) {
    stage.say(`\n${chapter.title}`);
    for (const step of chapter.steps) {
      addTo(countsOf(counts, chapter.recipe), await stage.operator(step));
    }
  }
  stage.say(
    `\n== ${WORKFLOW}: evidence in, rows of a workpaper out, both under a reviewer's approval`,
  );
  await openDemoHost(stage, passphrase);
  const own = countsOf(counts, WORKFLOW);
  const compiled = await playWorkflow(stage, own);
  stage.say("\n== the record: exported, audited, and with one byte changed");
  const audited = await judgeRecord(stage, compiled, own);
  return {
    exit: "verified",
    json: {
      directory,
      bundle: stage.place("./bundle"),
      trust: stage.place("./trust.json"),
      reviewer_processes: stage.processes(),
      steps: [...stage.steps],
      recipes: [...counts].map(([recipe, one]) => ({ recipe, ...one })),
      audit: audited.counts,
      receipt: audited.receipt,
      tampered: audited.tampered,
    },
    text: `\n${countsTable(counts)}\n\n${farewell(directory, stage.processes())}`,
  };
}

function farewell(directory: string, processes: number): string {
  return [
    `The reviewer signed in ${processes - 1} processes of her own, with a key that only they opened. The model was a script`,
    "(answers.jsonl), so its calls are counted and nothing was saved. Everything is in",
    `  cd ${quoted(directory)}`,
    "Look further with",
    "  rote audit ./bundle --trust ./trust.json",
    "  rote runs list --host ./host/host.mjs",
    `  rote memory status ${WORKFLOW}/recipe.json --host ./host/host.mjs`,
    "  rote graph ./line-total/recipe.json",
  ].join("\n");
}
