/** The licences of what is bundled, as they ask for: with the copyright, beside every copy. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { OutputChunk } from "rolldown";

/** Of every package that one of the chunks has a module of. */
export function noticesOf(root: string, chunks: readonly OutputChunk[]): string {
  const modules = chunks.flatMap(({ moduleIds }) => moduleIds).map((id) => relative(root, id));
  const names = modules.flatMap((id) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1] ?? []);
  const told = [...new Set(names)].sort().map((name) => noticeOf(join(root, "node_modules", name)));
  return ["What this package holds of others, and their licences.\n", ...told].join("\n");
}

function noticeOf(folder: string): string {
  const { name, version, license } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  ) as { readonly name: string; readonly version: string; readonly license: string };
  const file = readdirSync(folder).find((entry) => /^licen[cs]e(?:\.\w+)?$/i.test(entry));
  if (file === undefined) throw new Error(`${name} has no file with its licence`);
  const text = readFileSync(join(folder, file), "utf8").trim();
  return `${"-".repeat(80)}\n${name} ${version} (${license})\n\n${text}\n`;
}
