/** What stands where in the folder of a host for the workflows, and what its tools are. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { placeFromHome } from "../../base/code-home.ts";
import type { ToolCategory } from "../../model/trust.ts";
import type { Tool } from "../../ports/tool.ts";
import type { FileRegistration, FileSources } from "../../tools/file-sources.ts";
import { fileTool } from "../../tools/files.ts";
import type { Workpaper } from "../../tools/workpaper.ts";

/** The shipped procedures that read evidence and write into a workpaper. */
export const WORKFLOWS = ["transaction-testing", "recalculation", "control-testing"] as const;
export type Workflow = (typeof WORKFLOWS)[number];

/** Recipes as the package ships them. */
export const RECIPES = fileURLToPath(placeFromHome("../recipes"));

/** Permission that opening an engagement document needs; the policy lets nobody have it without an approval. */
export const OPEN_ENGAGEMENT = "evidence:read:engagement";

/** Names of files and directories in the folder. */
export const PLACES = {
  keys: "keys",
  passphrase: "keys/host-passphrase",
  trust: "trust.json",
  rules: "rules.json",
  reviews: "reviews.json",
  sources: "sources.json",
  documents: "documents",
  workpaper: "workpaper",
  store: "store",
  module: "host.mjs",
} as const;

/** The registered documents, by who may read them how; files are relative to the folder. */
export interface SourceList {
  readonly engagements: readonly FileRegistration[];
  readonly evidence: readonly FileRegistration[];
}

/** Engagement documents are opened after an approval, evidence is not; neither tool can read what is the other's. */
export function readingTools(engagements: FileSources, evidence: FileSources): readonly Tool[] {
  return [
    fileTool(engagements, {
      name: "engagement.read",
      description: "Opens an engagement document: what was agreed to be tested, and how.",
    }),
    fileTool(evidence, {
      name: "evidence.read",
      description: "Reads one record of evidence, with the digest of its file and its place there.",
    }),
  ];
}

export interface Reviewed {
  readonly tool: Tool;
  readonly category: ToolCategory;
  /** Whether the target refuses an operation for good once it was asked and did not know it. */
  readonly fenced: boolean;
}

/** All tools of the host with what a reviewer has to say of them. */
export function toolsOver(reading: readonly Tool[], workpaper: Workpaper): readonly Reviewed[] {
  return [
    ...reading.map((tool) => ({ tool, category: "read", fenced: false }) as const),
    { tool: workpaper.read, category: "read", fenced: false },
    { tool: workpaper.append, category: "effect", fenced: true },
  ];
}

/** Documents that are shipped with a workflow: engagements are JSON, evidence is JSON Lines. */
export function shippedDocuments(workflow: Workflow): readonly string[] {
  return readdirSync(join(RECIPES, workflow, "documents")).sort();
}
