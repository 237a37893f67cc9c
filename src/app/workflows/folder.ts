/** What stands where in the folder of a host for the workflows, and what its tools are. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { placeFromHome } from "../../base/code-home.ts";
import type { ToolCategory } from "../../model/trust.ts";
import type { Workflow } from "../../model/workflows.ts";
import type { Tool } from "../../ports/tool.ts";
import type { ToolWords } from "../../tools/definition.ts";
import type { FileRegistration } from "../../tools/file-sources.ts";
import { registerFiles } from "../../tools/file-sources.ts";
import { fileTool } from "../../tools/files.ts";
import type { Workpaper } from "../../tools/workpaper.ts";

/** Recipes as the package ships them. */
export const RECIPES = fileURLToPath(placeFromHome("../recipes"));

/** Permission that opening an engagement document needs; the policy lets nobody have it without an approval. */
export const OPEN_ENGAGEMENT = "evidence:read:engagement";

/** Names of files and directories in the folder. */
export const PLACES = {
  keys: "keys",
  passphrase: "keys/host-passphrase",
  trust: "trust.json",
  policy: "policy.json",
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
export const READING: { readonly [kind in keyof SourceList]: ToolWords } = {
  engagements: {
    name: "engagement.read",
    description: "Opens an engagement document: what was agreed to be tested, and how.",
  },
  evidence: {
    name: "evidence.read",
    description: "Reads one record of evidence, with the digest of its file and its place there.",
  },
};

export interface Reviewed {
  readonly tool: Tool;
  readonly category: ToolCategory;
  /** Whether the target refuses an operation for good once it was asked and did not know it. */
  readonly fenced: boolean;
}

/**
 * All tools of the host, in the order of their reviews, with what a reviewer has to say of them. What a tool is does not
 * depend on what it reads or writes, so it can be reviewed before there is anything.
 */
export function toolsOver(workpaper: Workpaper): readonly Reviewed[] {
  const none = registerFiles([]);
  return [
    { tool: fileTool(none, READING.engagements), category: "read", fenced: false },
    { tool: fileTool(none, READING.evidence), category: "read", fenced: false },
    { tool: workpaper.read, category: "read", fenced: false },
    { tool: workpaper.append, category: "effect", fenced: true },
  ];
}

/** Documents that are shipped with a workflow: engagements are JSON, evidence is JSON Lines. */
export function shippedDocuments(workflow: Workflow): readonly string[] {
  return readdirSync(join(RECIPES, workflow, "documents")).sort();
}
