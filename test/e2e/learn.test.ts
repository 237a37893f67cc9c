import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

it("examples/learn.ts runs on its own, prints 7200 and the report, and exits with 0", () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", "tsx", "examples/learn.ts"],
    // Node warns where both are set.
    { cwd: ROOT, encoding: "utf8", env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined } },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const lines = stdout.split("\n");
  expect(lines[0]).toBe("7200");
  expect(stdout).toContain("independently_verified: true");
  expect(stdout).toContain("reused_pure_nodes: 1");
  const memory = /^Memory: (.*)$/m.exec(stdout)?.[1] ?? "";
  expect(memory).toMatch(/rote-learn-/);
  rmSync(dirname(memory), { recursive: true });
});
