/** Runs every program of examples/. Each asserts what it shows and exits non-zero when it is not so. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const programs = readdirSync(join(ROOT, "examples"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .sort();

// What they leave for whoever runs one by hand is of no use here.
const scratch = mkdtempSync(join(tmpdir(), "rote-examples-"));
const env = { ...process.env, TMPDIR: scratch, TEMP: scratch, TMP: scratch };
let failed = programs.length === 0 ? 1 : 0;
for (const program of programs) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", "tsx", join(ROOT, "examples", program)],
    { cwd: ROOT, encoding: "utf8", env },
  );
  process.stdout.write(`${status === 0 ? "passed" : "failed"} examples/${program}\n`);
  if (status === 0) continue;
  failed += 1;
  process.stdout.write(`${stdout}${stderr}\n`);
}
rmSync(scratch, { recursive: true, force: true });
process.exitCode = failed > 0 ? 1 : 0;
