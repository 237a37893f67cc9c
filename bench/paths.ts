import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository, from the compiled file as well as from the source. */
export const ROOT = repository(dirname(fileURLToPath(import.meta.url)));

function repository(start: string): string {
  let folder = start;
  while (!existsSync(join(folder, "tsconfig.bench.json"))) {
    const up = dirname(folder);
    if (up === folder) throw new Error(`no repository above ${start}`);
    folder = up;
  }
  return folder;
}
