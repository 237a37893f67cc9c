import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** Directories of a test file: made on demand, removed together. */
export function directories(): { fresh(): string; remove(): void } {
  const made: string[] = [];
  return {
    fresh() {
      const directory = mkdtempSync(path.join(tmpdir(), "rote-test-"));
      made.push(directory);
      return path.join(directory, "store");
    },
    remove() {
      for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true });
    },
  };
}
