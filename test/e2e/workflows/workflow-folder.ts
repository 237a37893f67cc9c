/** A workflow's folder as a user of the built package has it: prepared by it, with recipe, verifier and a reviewer's key. */
import { chmodSync, cpSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { RECIPES } from "../../../src/app/workflows/folder.ts";
import { encryptKey } from "../../../src/base/encrypted-key.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import type { Workflow } from "../../../src/model/workflows.ts";
import { KEYS } from "../../support/host.ts";
import { sampleInputs } from "../../support/recipes.ts";
import { PREPARING } from "../../support/workflows.ts";
import { Folder, MAIN, rote } from "../cli/rote.ts";

const BUILT = join(dirname(MAIN), "../app/workflows");
const PASSPHRASE = "correct horse battery staple";

type Preparing = typeof import("../../../src/app/workflows/prepare-workflows.ts");

export class WorkflowFolder extends Folder {
  readonly workflow: Workflow;

  private constructor(workflow: Workflow) {
    super();
    this.workflow = workflow;
  }

  static async prepared(workflow: Workflow): Promise<WorkflowFolder> {
    const folder = new WorkflowFolder(workflow);
    const file = pathToFileURL(join(BUILT, "prepare-workflows.js")).href;
    const { prepareWorkflows } = (await import(file)) as Preparing;
    prepareWorkflows(folder.host, { ...PREPARING, documents: [workflow] });
    for (const name of ["recipe.json", "verifier.json"]) {
      cpSync(join(RECIPES, workflow, name), join(folder.path, name));
    }
    const secrets = { passphrase: PASSPHRASE, salt: new Uint8Array(16), iv: new Uint8Array(16) };
    const key = encryptKey(KEYS.alice, { ...secrets, rounds: 1000 });
    chmodSync(folder.write("alice.key", key), 0o600);
    chmodSync(folder.write("passphrase", `${PASSPHRASE}\n`), 0o600);
    return folder;
  }

  get host(): string {
    return join(this.path, "host");
  }

  /** One line of the command, with --json, read. */
  // biome-ignore lint/suspicious/noExplicitAny: documents of commands are looked at member by member
  async json(...words: readonly string[]): Promise<any> {
    const { code, stdout } = await rote([...words, "--json"], { cwd: this.path });
    const document = JSON.parse(stdout);
    if (document.exit_code !== code) throw new Error(`${code} is not ${document.exit_code}`);
    return document;
  }

  /** Starts a run on one of the shipped inputs, at the host. */
  start(line: number, ...words: readonly string[]) {
    const inputs = Object.entries(sampleInputs(this.workflow)[line] ?? {});
    const given = inputs.flatMap(([name, value]) => ["--input", `${name}=${String(value)}`]);
    return this.json("run", "recipe.json", "--host", "host/host.mjs", ...given, ...words);
  }

  /** What a reviewer does who knows the store and the trust store, and not the host. */
  approve(nonce: string) {
    const store = ["--store", "host/store", "--trust", "host/trust.json"];
    const signing = ["--key", "alice.key", "--as", "alice", "--passphrase-file", "passphrase"];
    return this.json("approvals", "approve", nonce, ...store, ...signing, "--yes");
  }

  /** Changes one of the files in the host's folder. */
  change(name: string, edit: (document: JsonValue) => JsonValue): void {
    const file = join(this.host, name);
    const document = JSON.parse(readFileSync(file, "utf8")) as JsonValue;
    writeFileSync(file, JSON.stringify(edit(document)));
  }
}
