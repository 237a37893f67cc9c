/**
 * Makes the folder of a workflow: recipe and verifier, inputs, a host with sample documents, and fresh keys. The folder
 * is made whole or not at all; what stands in it afterwards is its owner's to change.
 */
import { randomBytes } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject, type JsonValue, readJson } from "../base/json.ts";
import { ACTOR, WORKFLOW_NOTES, WORKFLOWS, type Workflow } from "../model/workflows.ts";
import { fault, usageFault } from "./fault.ts";
import { codeOf, isVacant } from "./files.ts";
import { newPassphrase } from "./passphrase.ts";
import { type Call, type Outcome, textOption } from "./spec.ts";
import { table } from "./table.ts";
import { originOf, refuseOddName } from "./trust-file.ts";

const HOST = "host";
/** As a name, a file and in `--as`: whoever approves is called what they do, until somebody says who they are. */
const APPROVER = "approver";

export async function run(call: Call): Promise<Outcome> {
  const workflow = WORKFLOWS.find((name) => name === call.arguments[0]);
  if (workflow === undefined) return listed();
  const [, directory = workflow] = call.arguments;
  refuseFilled(directory);
  const approver = textOption(call.options, "as") ?? APPROVER;
  refuseOddName(approver, `--as ${approver}`);
  if (approver === ACTOR) {
    throw usageFault(
      `--as ${ACTOR} is who acts at this host, and who acts cannot approve`,
      "name a person",
    );
  }
  const origin = originOf(
    textOption(call.options, "origin") ?? `${workflow}/${randomBytes(4).toString("hex")}`,
  );
  const passphrase = await newPassphrase(call, `the keys of people in ${directory}`);
  const { inputs } = await filled({ directory, workflow, approver, origin, passphrase });
  return told({ directory, workflow, approver, origin, inputs });
}

function listed(): Outcome {
  const rows = WORKFLOWS.map((name) => [name, WORKFLOW_NOTES[name]]);
  return {
    exit: "verified",
    json: { workflows: WORKFLOWS.map((name) => ({ name, tests: WORKFLOW_NOTES[name] })) },
    text: `${table(["workflow", "tests"], rows)}\nhint: make a folder for one with  rote init WORKFLOW [DIRECTORY]`,
  };
}

/** Looked at before anybody is asked for a passphrase. */
function refuseFilled(directory: string): void {
  let vacant: boolean;
  try {
    vacant = isVacant(directory);
  } catch (error) {
    throw unwritable(directory, error);
  }
  if (vacant) return;
  const message = `${directory} is not an empty directory, and is left as it is`;
  const hint = "name a new one: rote init WORKFLOW DIRECTORY";
  throw fault("file_exists", message, hint, { file: directory });
}

function unwritable(directory: string, error: unknown): Error {
  const message = `cannot make ${directory}: ${codeOf(error)}`;
  return fault("not_writable", message, "name another one", { file: directory });
}

interface Wanted {
  readonly directory: string;
  readonly workflow: Workflow;
  readonly approver: string;
  readonly origin: string;
}

interface Making extends Wanted {
  readonly passphrase: string;
}

interface Made {
  /** Names of the inputs, in the order in which the ladder takes them. */
  readonly inputs: readonly string[];
}

/** Whatever keeps it from being whole leaves nothing of it, and no folder that was not there. */
async function filled(making: Making): Promise<Made> {
  const { directory } = making;
  const first = made(directory);
  try {
    return await fill(making);
  } catch (error) {
    const inside = () => readdirSync(directory).map((name) => join(directory, name));
    for (const place of first === undefined ? inside() : [first]) {
      rmSync(place, { recursive: true, force: true });
    }
    throw error instanceof Error && "syscall" in error ? unwritable(directory, error) : error;
  }
}

/** The first of the folders that had to be made; none where all were there. */
function made(directory: string): string | undefined {
  try {
    return mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw unwritable(directory, error);
  }
}

async function fill({ directory, workflow, approver, origin, passphrase }: Making): Promise<Made> {
  // What hosts are made of is loaded only now: most that can be wrong is said without it.
  const [{ RECIPES }, { prepareWorkflows }, { generateKey, publicKeyText }] = await Promise.all([
    import("../app/workflows/folder.ts"),
    import("../app/workflows/prepare-workflows.ts"),
    import("../app/keys.ts"),
  ]);
  const key = generateKey(join(directory, `${approver}.key`), passphrase);
  prepareWorkflows(join(directory, HOST), {
    origin,
    passphrase,
    approvers: [{ name: approver, public: publicKeyText(key) }],
    documents: [workflow],
  });
  for (const name of ["recipe.json", "verifier.json"]) {
    copyFileSync(join(RECIPES, workflow, name), join(directory, name));
  }
  mkdirSync(join(directory, "inputs"));
  const lines = readFileSync(join(RECIPES, workflow, "inputs.jsonl"), "utf8")
    .trimEnd()
    .split("\n");
  const inputs = lines.map((line) => {
    const read = readJson(line);
    const name = `inputs/${engagementOf(read.ok ? read.value : null)}.json`;
    writeFileSync(join(directory, name), `${line}\n`, { flag: "wx" });
    return name;
  });
  return { inputs };
}

function engagementOf(inputs: JsonValue): string {
  const engagement = isJsonObject(inputs) ? inputs["engagement"] : undefined;
  if (typeof engagement === "string") return engagement;
  throw fault("package_incomplete", "the shipped inputs cannot be read", "install rote again");
}

/** As a shell takes it. */
function quoted(path: string): string {
  return /^[\w./@%+,:=-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

function told({ directory, workflow, approver, origin, inputs }: Wanted & Made): Outcome {
  const store = `--store ${HOST}/store --trust ${HOST}/trust.json`;
  const [first = "", ...others] = inputs;
  const next = [
    `cd ${quoted(directory)}`,
    `rote run recipe.json --host ${HOST}/host.mjs --inputs ${first} --phase training`,
    `rote approvals list ${store}`,
    `rote approvals approve REQUEST ${store} --key ${approver}.key --as ${approver}`,
    `rote runs resume RUN --host ${HOST}/host.mjs`,
  ];
  const files = [
    ["recipe.json, verifier.json", "what is done, and the rule that its result is held against"],
    ["inputs/", `one file a run: ${first} and ${others.length} more`],
    [
      `${HOST}/host.mjs`,
      "the host: what may be read and written, under which rules; yours to change",
    ],
    [
      `${HOST}/documents/`,
      `sample documents, named in ${HOST}/sources.json: put your own beside them`,
    ],
    [`${HOST}/policy.json`, "what is allowed, and what somebody has to approve"],
    [`${HOST}/trust.json`, `whose signatures count: ${approver} approves`],
    [
      `${HOST}/keys/`,
      "the host's own keys; root and tool-reviewer are the owner's, under your passphrase",
    ],
    [
      `${approver}.key`,
      `the key of ${approver}, under your passphrase; in earnest it is elsewhere`,
    ],
  ] as const;
  const width = Math.max(...files.map(([name]) => name.length));
  return {
    exit: "verified",
    json: {
      directory,
      workflow,
      origin,
      approver,
      files: files.map(([name, what]) => ({ name, what })),
      inputs: [...inputs],
      next,
    },
    text: [
      `ok ${directory} is ready to run ${workflow}: ${WORKFLOW_NOTES[workflow]}`,
      ...files.map(([name, what]) => `   ${name.padEnd(width)}  ${what}`),
      "",
      "next:",
      ...next.map((line) => `   ${line}`),
      "",
      "A run waits twice: before it opens the engagement document, and before it writes. Approving can be done in a",
      "second terminal, also by somebody who has only the store, a copy of trust.json and a key. docs/workflows.md of",
      "the package goes on from here: the ladder, the audit, documents of your own.",
    ].join("\n"),
  };
}
