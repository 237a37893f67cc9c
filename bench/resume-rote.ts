/**
 * The two processes of a run in `resume.ts`. Rote is what ships, used as the tutorial shows it: a bound recipe out of a
 * file, and an approval that somebody else has signed.
 */
import { createHash, createPrivateKey, createPublicKey } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HostOptions, JsonValue, KeyId, Models, PrivateKey, Run, Tool } from "../src/index.ts";

/** What both need, made by who owns the keys to it. */
export interface Setting {
  /** URL of the package. */
  readonly core: string;
  readonly options: Omit<HostOptions, "directory" | "keys" | "tools">;
  /** Of the host's keys, in base64. */
  readonly seeds: { readonly journal: string; readonly receipt: string };
  readonly definition: Tool["definition"];
  readonly review: JsonValue;
  readonly recipe: unknown;
  readonly verifier: unknown;
  readonly models: Models;
  /** Of one half of the run. */
  readonly answers: readonly JsonValue[];
}

/** Up to the approval. Leaves the bound recipe and the request. */
export async function begin(directory: string, setting: Setting): Promise<void> {
  const { recipe, verifier, models } = setting;
  const { bindRecipe, Procedure } = await packageOf(setting);
  const host = await hostOf(directory, setting);
  const environment = host.environment(new Procedure(recipe, { verifier }).plan);
  const bound = JSON.stringify(bindRecipe(recipe, environment));
  writeFileSync(join(directory, "bound.json"), bound);
  const run = new Procedure(bound, { verifier }).start({}, { environment, models });
  await toEnd(run, await run.advanceAsync(host), host, setting, "awaiting_approval");
  writeFileSync(join(directory, "request.json"), JSON.stringify(run.pendingRequest));
}

/** From the approval to the result. */
export async function goOn(
  directory: string,
  setting: Setting,
  approval: JsonValue,
): Promise<void> {
  const { Procedure } = await packageOf(setting);
  const host = await hostOf(directory, setting);
  const recipe = readFileSync(join(directory, "bound.json"));
  const procedure = new Procedure(recipe, { verifier: setting.verifier });
  const [known] = host.runs(1);
  if (known === undefined) throw new Error("there is no run to go on with");
  const run = await procedure.resume(host, known.run);
  await toEnd(run, await run.advanceAsync(host, { approval }), host, setting, "verified");
}

type Host = Awaited<ReturnType<typeof hostOf>>;

async function toEnd(
  run: Run,
  reached: Run["state"],
  host: Host,
  { answers }: Setting,
  wanted: Run["state"],
): Promise<void> {
  let state = reached;
  for (const answer of answers) {
    if (state !== "awaiting_model") break;
    state = await run.advanceAsync(host, { model: { answer } });
  }
  if (state !== wanted) throw new Error(`the run is ${state}, not ${wanted}`);
}

async function packageOf({ core }: Setting) {
  return (await import(core)) as typeof import("../src/index.ts");
}

async function hostOf(directory: string, setting: Setting) {
  const { createHost } = await packageOf(setting);
  const tool: Tool = {
    definition: frozen(setting.definition),
    call: async () => ({ kind: "done", result: "published" }),
  };
  return createHost({
    ...setting.options,
    directory: join(directory, "store"),
    keys: { journal: keyOf(setting.seeds.journal), receipt: keyOf(setting.seeds.receipt) },
    tools: [{ tool, review: setting.review }],
  });
}

/** As the definitions of real tools are. */
function frozen<T>(value: T): T {
  for (const member of Object.values(value ?? {})) {
    if (typeof member === "object") frozen(member);
  }
  return Object.freeze(value);
}

/** A key of the host out of its seed, in base64: files of keys are slow to open on purpose. */
function keyOf(seed: string): PrivateKey {
  const prefix = Buffer.from("302e020100300506032b657004220420", "hex");
  const der = Buffer.concat([prefix, Buffer.from(seed, "base64")]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const publicKey = createPublicKey(key);
  const spki = publicKey.export({ format: "der", type: "spki" });
  const id = `sha256:${createHash("sha256").update(spki).digest("hex")}` as KeyId;
  return { key, publicKey: { id, raw: Uint8Array.from(spki.subarray(12)), key: publicKey } };
}
