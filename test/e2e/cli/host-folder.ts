/** A folder with a host, its application module, a recipe with two effects behind one approval, and people's keys. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { encryptKey } from "../../../src/base/encrypted-key.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import type { PrivateKey } from "../../../src/base/sign.ts";
import type { PolicyDocument } from "../../../src/model/policy.ts";
import { KEYS, madeTool, ORIGIN, POLICY, registration, trust } from "../../support/host.ts";
import { PAY_TWICE, PAY_TWICE_VERIFIER } from "../../support/pay-twice.ts";
import { type Ended, Folder, rote, roteProcess } from "./rote.ts";

/** What the module of the application says. The target is a file with a line for each payment. */
function moduleText(folder: string, policy: PolicyDocument): string {
  return `
import { createHash, createPrivateKey, createPublicKey } from "node:crypto";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";

const folder = ${JSON.stringify(folder)};
const read = (name) => JSON.parse(readFileSync(join(folder, name), "utf8"));
const seed = (n) => {
  const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.alloc(32, n)]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const publicKey = createPublicKey(key);
  const spki = publicKey.export({ format: "der", type: "spki" });
  const id = "sha256:" + createHash("sha256").update(spki).digest("hex");
  return { key, publicKey: { id, raw: Uint8Array.from(spki.subarray(12)), key: publicKey } };
};
const behaviour = () => (existsSync(join(folder, "behaviour")) ? readFileSync(join(folder, "behaviour"), "utf8") : "");
const tools = {
  "bank.balance": async () => ({ kind: "done", result: { amount: "1000" } }),
  "bank.pay": async ({ arguments: args }) => {
    while (behaviour() === "held") await after(5);
    appendFileSync(join(folder, "ledger"), \`\${args.account} \${args.amount}\\n\`);
    if (behaviour() === "lost") throw new Error("connection reset");
    return { kind: "done", result: "paid " + args.amount };
  },
};
export const host = () => ({
  directory: join(folder, "store"),
  origin: ${JSON.stringify(ORIGIN)},
  identity: { name: "agent" },
  intent: null,
  warrant: null,
  trust: read("trust.json"),
  keys: { journal: seed(2), receipt: seed(3) },
  tools: read("tools.json").map(({ definition, review }) => ({ tool: { definition, call: tools[definition.name] }, review })),
  policy: ${JSON.stringify(policy)},
  budget: { run: {}, host: {} },
});
`;
}

/** Registered tools as the module finds them: definitions with their reviews. */
function registered(): JsonValue {
  const never = () => ({ kind: "done" as const, result: null });
  const tools = [
    registration(madeTool("bank.balance", never), "read", { repeatable: true }),
    registration(madeTool("bank.pay", never), "effect", {
      amount: { value: "/amount", currency: "/currency" },
    }),
  ];
  return tools.map(({ tool, review }) => ({
    definition: tool.definition as unknown as JsonValue,
    review,
  }));
}

export const PASSPHRASE = "correct horse battery staple";

export interface HostFolderOptions {
  readonly approvals?: Partial<PolicyDocument["approvals"]>;
  /** True to start a process for each command line. Default: all run in this process, on the same files. */
  readonly processes?: boolean;
}

export class HostFolder extends Folder {
  readonly #processes: boolean;

  constructor({ approvals = {}, processes = false }: HostFolderOptions = {}) {
    super();
    this.#processes = processes;
    const policy = { ...POLICY, approvals: { ...POLICY.approvals, ...approvals } };
    this.write("recipe.json", PAY_TWICE);
    this.write("verifier.json", PAY_TWICE_VERIFIER);
    this.write("trust.json", trust());
    this.write("tools.json", registered());
    this.write("host.mjs", moduleText(this.path, policy));
    this.key("alice", KEYS.alice);
    this.key("bob", KEYS.bob);
  }

  /** A key file of a person, encrypted with the passphrase in `passphrase`. Few rounds, since nobody guesses here. */
  key(name: string, key: PrivateKey): void {
    const secrets = { passphrase: PASSPHRASE, salt: new Uint8Array(16), iv: new Uint8Array(16) };
    this.private(`${name}.key`, encryptKey(key, { ...secrets, rounds: 1_000 }));
    this.private("passphrase", `${PASSPHRASE}\n`);
  }

  private private(name: string, text: string): void {
    chmodSync(this.write(name, text), 0o600);
  }

  /** Payments that are `lost` were made and answer with an error; those that are `held` wait for another word. */
  behave(how: "lost" | "held" | ""): void {
    writeFileSync(join(this.path, "behaviour"), how);
  }

  /** Payments at the target, in order. */
  ledger(): readonly string[] {
    const file = join(this.path, "ledger");
    return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
  }

  rote(...words: readonly string[]): Promise<Ended> {
    return (this.#processes ? roteProcess : rote)(words, { cwd: this.path });
  }

  /** The same with --json, read. */
  // biome-ignore lint/suspicious/noExplicitAny: documents of commands are looked at member by member
  async json(...words: readonly string[]): Promise<any> {
    const { code, stdout, stderr } = await this.rote(...words, "--json");
    const document = JSON.parse(stdout);
    if (document.exit_code !== code) throw new Error(`${code} is not ${document.exit_code}`);
    return { ...document, stderr };
  }

  start(account: string, ...words: readonly string[]) {
    return this.json("run", "recipe.json", ...AT, "--input", `account=${account}`, ...words);
  }
}

export const AT = ["--host", "host.mjs"] as const;
/** How a reviewer names the store, who has no module of the host. */
export const STORE = ["--store", "store", "--trust", "trust.json"] as const;

/** How somebody signs. */
export function as(name: string): readonly string[] {
  return ["--key", `${name}.key`, "--as", name, "--passphrase-file", "passphrase", "--yes"];
}
