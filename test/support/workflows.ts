/** Hosts for the shipped workflows: the folder that a user prepares, a real workpaper, and a reviewer beside it. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createHost, type HostOptions } from "../../src/app/create-host.ts";
import { loadHostModule } from "../../src/app/host-module.ts";
import { publicKeyText } from "../../src/app/keys.ts";
import { Procedure } from "../../src/app/procedure.ts";
import { RECIPES } from "../../src/app/workflows/folder.ts";
import { prepareWorkflows } from "../../src/app/workflows/prepare-workflows.ts";
import { sha256Hex } from "../../src/base/digest.ts";
import type { JsonValue } from "../../src/base/json.ts";
import { bindRecipe } from "../../src/compile/index.ts";
import type { Host } from "../../src/host/index.ts";
import type { Environment } from "../../src/model/environment.ts";
import type { Value } from "../../src/model/value.ts";
import type { Workflow } from "../../src/model/workflows.ts";
import { systemClock } from "../../src/os/clock.ts";
import { systemRandom } from "../../src/os/random.ts";
import type { Run } from "../../src/run/index.ts";
import { startRun } from "../../src/run/index.ts";
import { decision, KEYS } from "./host.ts";
import { type Inputs, readRecipe, readVerifier } from "./recipes.ts";
import { short } from "./tool-calls.ts";

export const PREPARING = {
  origin: "tests.example/workflows",
  passphrase: "correct horse battery",
  approvers: [{ name: "alice", public: publicKeyText(KEYS.alice) }],
  // Nobody guesses here.
  rounds: 1000,
} as const;

/** What a workflow reads, for tests that have documents of their own. */
export interface OwnDocuments {
  readonly evidence: readonly JsonValue[];
  /** Without the commitment to the evidence, which is filled in. */
  readonly engagements: readonly { readonly id: string; readonly [member: string]: JsonValue }[];
}

/** Registers documents of a test beside none of the shipped ones, and returns inputs for its engagements. */
export function prepareWith(folder: string, { evidence, engagements }: OwnDocuments): Inputs[] {
  prepareWorkflows(folder, { ...PREPARING, documents: [] });
  const write = (name: string, text: string) =>
    writeFileSync(join(folder, "documents", name), text);
  const lines = evidence.map((record) => `${JSON.stringify(record)}\n`).join("");
  write("own-evidence.jsonl", lines);
  const source = { source: "own-evidence", sha256: sha256Hex(Buffer.from(lines)) };
  const inputs = engagements.map((engagement) => {
    const text = JSON.stringify({ ...engagement, evidence: source });
    write(`${engagement.id}.json`, text);
    return { engagement: engagement.id, sha256: sha256Hex(Buffer.from(text)) };
  });
  const sources = {
    engagements: engagements.map(({ id }) => ({ source: id, file: `documents/${id}.json` })),
    evidence: [{ source: "own-evidence", file: "documents/own-evidence.jsonl", id: "id" }],
  };
  writeFileSync(join(folder, "sources.json"), JSON.stringify(sources));
  return inputs;
}

export interface WorkflowHost {
  readonly host: Host;
  readonly options: HostOptions;
  close(): Promise<void>;
}

/** The host of a folder; `change` for what a test wants otherwise. */
export async function hostIn(
  folder: string,
  change: (options: HostOptions) => HostOptions = (options) => options,
): Promise<WorkflowHost> {
  const opened = await loadHostModule(join(folder, "host.mjs"));
  try {
    const options = change(opened.options);
    const host = await createHost(options);
    return {
      host,
      options,
      async close() {
        await host.close();
        await opened.close();
      },
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

export interface Bound {
  readonly procedure: Procedure;
  readonly environment: Environment;
}

/** The workflow bound to a host; other documents than the shipped ones for what a test changes in them. */
export function boundTo(
  host: Host,
  workflow: Workflow,
  { recipe = readRecipe(workflow), verifier = readVerifier(workflow) }: Documents = {},
): Bound {
  const environment = host.environment(new Procedure(recipe, { verifier }).plan);
  return { procedure: new Procedure(bindRecipe(recipe, environment), { verifier }), environment };
}

export interface Documents {
  readonly recipe?: JsonValue;
  readonly verifier?: JsonValue;
}

/** Approves whatever the run waits for until it ends; the nodes that it waited at. */
export async function approveAll(run: Run, host: Host): Promise<readonly string[]> {
  const pauses: string[] = [];
  while ((await run.advanceAsync(host)) === "awaiting_approval") {
    const request = run.pendingRequest;
    if (request === null) throw new Error("it waits for nothing");
    pauses.push(`${request.node} ${request.operations.length}`);
    await host.fileDecision(decision(request, KEYS.alice, "alice"));
  }
  return pauses;
}

/** The entries of the workpaper of a host. */
export async function entriesIn({ options }: WorkflowHost): Promise<readonly Entry[]> {
  const read = options.tools.find(({ tool }) => tool.definition.name === "workpaper.read");
  if (read === undefined) throw new Error("there is no workpaper");
  const answer = (await short(read.tool, { from: 1, count: 100 })) as {
    readonly entries: readonly Entry[];
  };
  return answer.entries;
}

export interface Entry {
  readonly position: number;
  readonly key: string;
  readonly operation: string;
  readonly content: Row;
}

export interface Finding {
  readonly kind: string;
  readonly left: string;
  readonly right: string;
  readonly evidence: string;
  readonly line?: string;
  readonly requirement?: string;
}

export interface Row {
  readonly key: string;
  readonly engagement: string;
  readonly evidence: {
    readonly id: string;
    readonly source: string;
    readonly sha256: string;
    readonly from: string;
    readonly count: string;
  };
  readonly findings: readonly Finding[];
  readonly [member: string]: unknown;
}

export interface WorkflowResult {
  readonly engagement: string;
  readonly sha256: string;
  readonly population: string;
  readonly exceptions: string;
  readonly rows: readonly {
    readonly status: "written" | "already_tested";
    readonly position: string;
    readonly operation: string;
    readonly row: Row;
  }[];
}

export function resultOf(run: Run): WorkflowResult {
  if (run.result === undefined) throw new Error(JSON.stringify(run.report.failure));
  return run.result as unknown as WorkflowResult;
}

/** What a verifier was shown in one run. */
export interface Shown {
  readonly beforeEffect: Value[];
  readonly result: Value[];
}

/** A run whose verifier keeps what it is shown; it judges as it always does. */
export function startWatched({ procedure, environment }: Bound, inputs: Inputs, shown: Shown): Run {
  const { plan, verifier } = procedure;
  const { result, beforeEffect } = verifier;
  const watched = {
    ...verifier,
    result: { ...result, evaluate: watching(result.evaluate, shown.result) },
    beforeEffect:
      beforeEffect === null
        ? null
        : { ...beforeEffect, evaluate: watching(beforeEffect.evaluate, shown.beforeEffect) },
  };
  return startRun(plan, watched, inputs, {
    mode: "guided",
    environment,
    clock: systemClock,
    random: systemRandom,
  });
}

type Evaluate = Bound["procedure"]["verifier"]["result"]["evaluate"];

function watching(evaluate: Evaluate, kept: Value[]): Evaluate {
  return (sources) => {
    kept.push(sources.inputs[0] ?? null);
    return evaluate(sources);
  };
}

/** A shipped document by its name, as parsed JSON. */
export function shippedDocument(workflow: Workflow, name: string): JsonValue {
  return JSON.parse(readFileSync(join(RECIPES, workflow, "documents", name), "utf8")) as JsonValue;
}

/** The file that all evidence of a workflow's shipped documents is in. */
export function shippedEvidence(workflow: Workflow): Buffer {
  const documents = join(RECIPES, workflow, "documents");
  const [file] = readdirSync(documents).filter((name) => name.endsWith(".jsonl"));
  if (file === undefined) throw new Error(`${workflow} has no evidence`);
  return readFileSync(join(documents, file));
}

export const PHASES = ["training", "training", "training", "shadow", "canary"] as const;
