import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeDocument } from "../../../src/cli/files.ts";

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "rote-files-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe.skipIf(process.platform === "win32")(
  "a file that is for its owner (modes of Unix)",
  () => {
    it("is readable by nobody else, also where it takes the place of one that others could read", () => {
      const fresh = join(directory, "fresh");
      writeDocument(fresh, "private\n", false, 0o600);
      expect(statSync(fresh).mode & 0o777).toBe(0o600);
      const old = join(directory, "old");
      writeFileSync(old, "public\n");
      chmodSync(old, 0o644);
      writeDocument(old, "private\n", true, 0o600);
      expect(statSync(old).mode & 0o777).toBe(0o600);
      expect(readdirSync(directory).sort()).toEqual(["fresh", "old"]);
    });
  },
);
