import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Public vectors and documents that tests read but the repository does not carry: a folder `shared` beside it, or
 * the folder named by `ROTE_SHARED`. Where it is absent, suites skip themselves and say so in their title.
 */
const root =
  process.env["ROTE_SHARED"] ?? fileURLToPath(new URL("../../../shared", import.meta.url));

/** Absolute path of a file of the shared data, given with forward slashes. */
export function sharedPath(relative: string): string {
  return path.join(root, ...relative.split("/"));
}

/** True when every one of the given files or folders is there. */
export function sharedPresent(...relative: readonly string[]): boolean {
  return relative.every((one) => existsSync(sharedPath(one)));
}
