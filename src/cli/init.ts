/**
 * Makes the folder of a workflow: recipe and verifier, inputs, a host with sample documents, and fresh keys. The folder
 * is made whole or not at all, and says so of itself while it is not; what stands in it afterwards is its owner's to change.
 */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isJsonObject, type JsonValue, readJson } from "../base/json.ts";
import { quoted } from "../base/quoted.ts";
import { ACTOR, WORKFLOW_NOTES, WORKFLOWS, type Workflow } from "../model/workflows.ts";
import { fault, usageFault } from "./fault.ts";
import { codeOf, isVacant } from "./files.ts";
import { originOf, refuseOddName } from "./keys/trust-file.ts";
import { newPassphrase } from "./passphrase.ts";
import { type Call, type Outcome, textOption } from "./spec.ts";
import { table } from "./table.ts";

const HOST = "host";
const INPUTS = "inputs";
const COPIED = ["recipe.json", "verifier.json"] as const;
/** There from the first moment to the last: who is killed takes nothing back. */
const UNFINISHED = "rote-init.unfinished";
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
  if (!vacant) throw filledBefore(directory);
  refuseShared(directory);
}

/** Whoever may write into the folder could put another host in the place of the one that is made there. */
function refuseShared(directory: string): void {
  const found = statSync(directory, { throwIfNoEntry: false });
  const user = process.getuid?.();
  if (found === undefined || user === undefined) return;
  if (found.uid !== user && found.uid !== 0) {
    const message = `${directory} belongs to user ${found.uid}, who could exchange the host in it`;
    throw fault("store_not_private", message, "name a new directory", { file: directory });
  }
  if ((found.mode & 0o022) === 0) return;
  const message = `others may write into ${directory}, and could exchange the host in it`;
  const hint = `name a new directory, or take that away: chmod go-w ${quoted(directory)}`;
  throw fault("store_not_private", message, hint, { file: directory });
}

function filledBefore(
  directory: string,
  unfinished = existsSync(join(directory, UNFINISHED)),
): Error {
  const what = unfinished
    ? "was not finished by the command that makes it"
    : "is not an empty directory";
  const message = `${directory} ${what}, and is left as it is`;
  const hint = unfinished
    ? `unless that is still at work, nothing in it is of use: rm -r ${quoted(directory)}, and type the same again`
    : "name a new one: rote init WORKFLOW DIRECTORY";
  return fault("file_exists", message, hint, { file: directory });
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
  // Somebody may have made it while the passphrase was asked for.
  refuseShared(directory);
  // A name is ours once it was made by us, and not before: what somebody else puts there at this moment is theirs.
  const ours: string[] = [];
  try {
    claim(directory);
    ours.push(UNFINISHED);
    // Asking for the passphrase took its time, and somebody else may have used it.
    if (readdirSync(directory).length > 1) throw filledBefore(directory, false);
    const all = await fill(making, ours);
    rmSync(join(directory, UNFINISHED), { force: true });
    return all;
  } catch (error) {
    for (const name of ours) rmSync(join(directory, name), { recursive: true, force: true });
    if (first !== undefined) removeEmpty(resolve(directory), resolve(first));
    throw error instanceof Error && "syscall" in error ? unwritable(directory, error) : error;
  }
}

/** A folder is filled by one command, whoever else is at it. */
function claim(directory: string): void {
  const text = "This folder is not whole: rote init is at work in it, or was killed.\n";
  try {
    writeFileSync(join(directory, UNFINISHED), text, { flag: "wx" });
  } catch (error) {
    throw codeOf(error) === "EEXIST" ? filledBefore(directory) : error;
  }
}

/** From the innermost up, as far as nothing is in it. */
function removeEmpty(innermost: string, first: string): void {
  for (let place = innermost; place.startsWith(first); place = dirname(place)) {
    try {
      rmdirSync(place);
    } catch {
      return;
    }
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

async function fill(
  { directory, workflow, approver, origin, passphrase }: Making,
  ours: string[],
): Promise<Made> {
  // What hosts are made of is loaded only now: most that can be wrong is said without it.
  const [{ RECIPES }, { prepareWorkflows }, { generateKey, publicKeyText }] = await Promise.all([
    import("../app/workflows/folder.ts"),
    import("../app/workflows/prepare-workflows.ts"),
    import("../app/keys.ts"),
  ]);
  makeHost(directory);
  ours.push(HOST);
  const key = generateKey(join(directory, `${approver}.key`), passphrase);
  ours.push(`${approver}.key`);
  prepareWorkflows(join(directory, HOST), {
    origin,
    passphrase,
    approvers: [{ name: approver, public: publicKeyText(key) }],
    documents: [workflow],
  });
  for (const name of COPIED) {
    const file = openSync(join(directory, name), "wx");
    ours.push(name);
    try {
      writeFileSync(file, readFileSync(join(RECIPES, workflow, name)));
    } finally {
      closeSync(file);
    }
  }
  mkdirSync(join(directory, INPUTS));
  ours.push(INPUTS);
  const lines = readFileSync(join(RECIPES, workflow, "inputs.jsonl"), "utf8")
    .trimEnd()
    .split("\n");
  const inputs = lines.map((line) => {
    const read = readJson(line);
    const name = `${INPUTS}/${engagementOf(read.ok ? read.value : null)}.json`;
    writeFileSync(join(directory, name), `${line}\n`, { flag: "wx" });
    return name;
  });
  return { inputs };
}

function makeHost(directory: string): void {
  try {
    mkdirSync(join(directory, HOST), { mode: 0o700 });
  } catch (error) {
    throw codeOf(error) === "EEXIST" ? filledBefore(directory, false) : error;
  }
}

function engagementOf(inputs: JsonValue): string {
  const engagement = isJsonObject(inputs) ? inputs["engagement"] : undefined;
  if (typeof engagement === "string") return engagement;
  throw fault("package_incomplete", "the shipped inputs cannot be read", "install rote again");
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
