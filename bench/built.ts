import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "./paths.ts";

/** A file of the package as it ships, after building it anew. */
export function builtEntry(file: string): string {
  const built = spawnSync("npm", ["run", "-s", "build"], { cwd: ROOT, stdio: ["ignore", 2, 2] });
  if (built.status !== 0) throw new Error("the build failed");
  return join(ROOT, "dist", file);
}
