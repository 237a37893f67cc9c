/** A host for the workflows out of the folder that `prepareWorkflows` made. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { RoteError } from "../../base/error.ts";
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  readJson,
} from "../../base/json.ts";
import {
  type Budget,
  budgetSchema,
  type PolicyDocument,
  policySchema,
} from "../../model/policy.ts";
import {
  evidenceDocument,
  type FileRegistration,
  type FileSources,
  registerFiles,
} from "../../tools/file-sources.ts";
import { openWorkpaper } from "../../tools/workpaper.ts";
import type { HostOptions } from "../create-host.ts";
import { loadKey } from "../key-file.ts";
import { OPEN_ENGAGEMENT, PLACES, readingTools, type SourceList, toolsOver } from "./folder.ts";

export interface OpenedWorkflows {
  /** For `createHost`. */
  readonly options: HostOptions;
  /** Gives the workpaper back; after the host was closed. */
  close(this: void): void;
}

/**
 * @throws RoteError `host_invalid` naming the file that is not as it should be, `bad_source` for a document that is not
 * what was registered, and as `loadKey` and `openWorkpaper`
 */
export function openWorkflows(directory: string): OpenedWorkflows {
  const folder = resolve(directory);
  const { origin, policy, budget } = rulesIn(folder);
  const reviews = reviewsIn(folder);
  const { engagements, evidence, all } = registered(folder, sourcesIn(folder));
  const passphrase = textIn(folder, PLACES.passphrase).trim();
  const key = (name: string) => loadKey(join(folder, PLACES.keys, `${name}.key`), passphrase);
  const trust = jsonIn(folder, PLACES.trust);
  const keys = { journal: key("journal"), receipt: key("receipt") };
  const workpaper = openWorkpaper(join(folder, PLACES.workpaper), { mode: "open" });
  const tools = toolsOver(readingTools(engagements, evidence), workpaper).map(({ tool }) => tool);
  const options: HostOptions = {
    directory: join(folder, PLACES.store),
    origin,
    identity: { name: "workflow-runner" },
    intent: {
      statement: "Test what the engagement documents say, and write it into the workpaper",
      tools: tools.map(({ definition }) => definition.name),
    },
    warrant: null,
    trust,
    keys,
    tools: tools.map((tool) => ({
      tool,
      review: reviews.get(tool.definition.name) ?? null,
      ...(tool.definition.name === "engagement.read" ? { permissions: [OPEN_ENGAGEMENT] } : {}),
    })),
    policy,
    budget,
    evidence: evidenceDocument(all),
  };
  return { options, close: workpaper.close };
}

interface Registered {
  readonly engagements: FileSources;
  readonly evidence: FileSources;
  readonly all: FileSources;
}

function registered(folder: string, { engagements, evidence }: SourceList): Registered {
  const at = (one: FileRegistration) => ({ ...one, file: resolve(folder, one.file) });
  // Together, so that a name means one document.
  const all = registerFiles([...engagements, ...evidence].map(at));
  const named = (some: readonly FileRegistration[]): FileSources => {
    const names = new Set(some.map(({ source }) => source));
    return new Map([...all].filter(([source]) => names.has(source)));
  };
  return { engagements: named(engagements), evidence: named(evidence), all };
}

interface Rules {
  readonly origin: string;
  readonly policy: PolicyDocument;
  readonly budget: Budget;
}

function rulesIn(folder: string): Rules {
  const { origin, policy, budget } = membersIn(folder, PLACES.rules, [
    "origin",
    "policy",
    "budget",
  ]);
  const [allowed, spent] = [policySchema.safeParse(policy), budgetSchema.safeParse(budget)];
  if (typeof origin !== "string") throw unusable(folder, PLACES.rules, "it has no origin");
  if (!allowed.success) throw unusable(folder, PLACES.rules, "its policy is none");
  if (!spent.success) throw unusable(folder, PLACES.rules, "its budget is none");
  return { origin, policy: allowed.data, budget: spent.data };
}

function reviewsIn(folder: string): ReadonlyMap<string, JsonValue> {
  const listed = jsonIn(folder, PLACES.reviews);
  const wrong = () => unusable(folder, PLACES.reviews, "it is no list of names and reviews");
  if (!isJsonArray(listed)) throw wrong();
  return new Map(
    listed.map((one) => {
      if (!isJsonObject(one) || typeof one["name"] !== "string") throw wrong();
      return [one["name"], one["review"] ?? null] as const;
    }),
  );
}

function sourcesIn(folder: string): SourceList {
  const { engagements, evidence } = membersIn(folder, PLACES.sources, ["engagements", "evidence"]);
  return {
    engagements: registrationsIn(folder, engagements),
    evidence: registrationsIn(folder, evidence),
  };
}

const REGISTERED = ["sha256", "media_type", "id"] as const;

function registrationsIn(folder: string, list: JsonValue | undefined): FileRegistration[] {
  const wrong = () => unusable(folder, PLACES.sources, "it has no two lists of registrations");
  if (!isJsonArray(list)) throw wrong();
  return list.map((one) => {
    if (!isJsonObject(one)) throw wrong();
    const { source, file, ...others } = one;
    if (typeof source !== "string" || typeof file !== "string") throw wrong();
    const more: { [member in (typeof REGISTERED)[number]]?: string } = {};
    for (const [name, value] of Object.entries(others)) {
      const member = REGISTERED.find((known) => known === name);
      if (member === undefined || typeof value !== "string") throw wrong();
      more[member] = value;
    }
    return { source, file, ...more };
  });
}

function membersIn(folder: string, place: string, names: readonly string[]): JsonObject {
  const read = jsonIn(folder, place);
  if (isJsonObject(read) && Object.keys(read).sort().join() === names.toSorted().join())
    return read;
  throw unusable(folder, place, `it is no object of ${names.join(", ")}`);
}

function jsonIn(folder: string, place: string): JsonValue {
  const read = readJson(textIn(folder, place));
  if (read.ok) return read.value;
  throw unusable(folder, place, read.error.message);
}

function textIn(folder: string, place: string): string {
  try {
    return readFileSync(join(folder, place), "utf8");
  } catch (error) {
    throw unusable(folder, place, "it cannot be read", error);
  }
}

function unusable(folder: string, place: string, why: string, cause?: unknown): RoteError {
  const file = join(folder, place);
  return new RoteError("host_invalid", `The file ${file} is not valid: ${why}.`, { file }, cause);
}
