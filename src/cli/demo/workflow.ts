/**
 * The second part of the demonstration: a workflow that reads evidence and writes into a workpaper. What it opens and
 * what it writes is approved by a reviewer, who has a process and a key file of her own; the operator has neither her
 * key nor her passphrase, and she none of the host's keys.
 */
import { copyFileSync, readFileSync } from "node:fs";
import { type JsonValue, readJson } from "../../base/json.ts";
import type { Phase } from "../../model/memory.ts";
import { fault } from "../fault.ts";
import type { Outcome } from "../spec.ts";
import { count } from "../table.ts";
import { addTo, type DemoCounts, listIn, member, textIn } from "./counts.ts";
import type { Stage } from "./stage.ts";

export const WORKFLOW = "recalculation";
/** The host's own name, in everything that is signed for it. */
const ORIGIN = "demo.example/workpapers";
const REVIEWER = "alice";
const RECIPE = `./${WORKFLOW}/recipe.json`;
const HOST = ["--host", "./host/host.mjs"] as const;
const STORE = ["--store", "./host/store", "--trust", "./trust.json"] as const;
const HER_PASSPHRASE = ["--passphrase-file", "./reviewer/passphrase"] as const;
const HER_KEY = ["--key", `./reviewer/${REVIEWER}.key`, "--as", REVIEWER, ...HER_PASSPHRASE];
/** Of five observed runs. */
const LADDER: readonly Phase[] = ["training", "training", "training", "shadow", "canary"];

/** Makes the reviewer's key in her process, and a host with fresh keys, a trust store and documents. */
export async function openDemoHost(stage: Stage, passphrase: string): Promise<void> {
  const made = await stage.reviewer({
    say: "The reviewer makes a key of her own. The host's owner learns its public half only:",
    words: ["keys", "generate", `./reviewer/${REVIEWER}.key`, ...HER_PASSPHRASE],
    exit: "verified",
    show: ["public ", "id "],
  });
  const [, key = ""] = /^\s*public +(\S+)$/m.exec(made.text) ?? [];
  const { prepareWorkflows } = await import("../../app/workflows/prepare-workflows.ts");
  prepareWorkflows(stage.place("./host"), {
    origin: ORIGIN,
    passphrase,
    approvers: [{ name: REVIEWER, public: key }],
    documents: [WORKFLOW],
    // The passphrases of these keys are random and long: nobody guesses them, however fast.
    rounds: 20_000,
  });
  // A copy of the host's trust store, as its owner would hand it to reviewers and auditors.
  copyFileSync(stage.place("./host/trust.json"), stage.place("./trust.json"));
}

/** Climbs the ladder, runs compiled, and once more on what was tested before. Resolves to the compiled run. */
export async function playWorkflow(stage: Stage, counts: DemoCounts): Promise<string> {
  const lines = inputsIn(stage);
  const play = (at: number, how: Pick<Playing, "detail" | "mode">) =>
    played({ stage, counts, inputs: lines[at], ...how });
  for (const [at, phase] of LADDER.entries()) {
    const first = at === 0;
    const told = await play(at, { detail: first });
    await stage.operator({
      words: ["memory", "observe", told.run, ...HOST, "--phase", phase],
      exit: "verified",
      ...(first ? { say: "A verified run is evidence:", show: ["counted as"] } : {}),
    });
    if (first) stage.say("\nFour more in the same way, each on an engagement of its own:");
    else stage.say(`    ${summaryOf(told)}; counted as ${phase}`);
  }
  const qualified = await stage.operator({
    say: "Now the evidence suffices:",
    words: ["memory", "qualify", RECIPE, ...HOST],
    exit: "verified",
    show: ["ok ", "qualification-"],
  });
  addTo(counts, qualified);
  stage.say("\nThe sixth run is compiled. No approval is learned: it asks for them again.");
  const compiled = await play(5, { detail: false, mode: "compiled" });
  stage.say(`    ${summaryOf(compiled)}`);
  stage.say("\nOn the same engagement once more: what was tested is not written a second time.");
  stage.say(`    ${summaryOf(await play(5, { detail: false, mode: "compiled" }))}`);
  return compiled.run;
}

interface Playing {
  readonly stage: Stage;
  readonly counts: DemoCounts;
  readonly inputs: JsonValue | undefined;
  /** Show every command. */
  readonly detail: boolean;
  readonly mode?: "compiled";
}

interface Played {
  readonly run: string;
  readonly outcome: Outcome;
  /** Operations of each approval. */
  readonly approved: readonly number[];
}

/** One run with all its approvals, each by a process of the reviewer. */
async function played({ stage, counts, inputs, detail, mode }: Playing): Promise<Played> {
  const given = Object.entries(inputs ?? {}).flatMap(([name, value]) => [
    "--input",
    `${name}=${String(value)}`,
  ]);
  const asked = mode === undefined ? [] : ["--mode", mode];
  let outcome = await stage.operator({
    words: ["run", RECIPE, ...HOST, ...given, ...asked],
    exit: "waiting",
    ...(detail
      ? {
          say: "A guided run stops before it opens the engagement document: nobody has approved that.",
          show: ["state ", "asks    "],
        }
      : {}),
  });
  const run = textIn(outcome.json, "run");
  const approved: number[] = [];
  while (outcome.exit === "waiting") {
    for (const request of listIn(outcome.json, "requests")) {
      await approve(stage, request, detail);
      approved.push(listIn(request, "operations").length);
    }
    outcome = await stage.operator({
      words: ["runs", "resume", run, ...HOST],
      exit: ["waiting", "verified"],
      ...(detail ? { show: ["state ", "asks    ", '"exceptions"', "host    "] } : {}),
    });
  }
  addTo(counts, outcome);
  return { run, outcome, approved };
}

/** Signs exactly what the request shows, by its digest. */
async function approve(stage: Stage, request: JsonValue, detail: boolean): Promise<void> {
  const words = ["approvals", "approve", textIn(request, "nonce"), ...STORE, ...HER_KEY, "--yes"];
  await stage.reviewer({
    words,
    exit: "verified",
    ...(detail
      ? {
          say: "In a process of her own the reviewer is shown what exactly she signs:",
          show: ["requested by", "step:", "tool:", "ok "],
        }
      : {}),
  });
}

function summaryOf({ outcome, approved }: Played): string {
  const { json } = outcome;
  const rows = listIn(member(json, "result"), "rows").map((row) => textIn(row, "status"));
  const of = (status: string) => rows.filter((one) => one === status).length;
  const engagement = textIn(member(json, "result"), "engagement");
  const known = of("already_tested");
  const times = approved.length === 1 ? "once" : "twice";
  return [
    `${engagement}, ${textIn(json, "mode")}: asked ${times}, for ${approved.join(" and ")} operation${approved.at(-1) === 1 ? "" : "s"}`,
    `${count(of("written"), "row")} written${known === 0 ? "" : `, ${known} there already`}`,
    textIn(json, "state"),
  ].join(", ");
}

function inputsIn(stage: Stage): readonly JsonValue[] {
  const text = readFileSync(stage.place(`./${WORKFLOW}/inputs.jsonl`), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => {
      const read = readJson(line);
      if (read.ok) return read.value;
      throw fault("package_incomplete", "the shipped inputs cannot be read", "install rote again");
    });
}
