import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { checkHealth, nodeVersion, wallClock } from "../../../src/app/health.ts";
import { ProcedureMemory } from "../../../src/app/procedure-memory.ts";
import type { Clock } from "../../../src/ports/clock.ts";

function clock(wallMs: number, monotonic: readonly number[] = [1, 2]): Clock {
  const ticks = [...monotonic];
  return { wallMs: () => wallMs, monotonicMs: () => ticks.shift() ?? 0 };
}

describe("what rote needs from the machine", () => {
  it.each([
    ["18.20.8", "fail"],
    ["20.18.3", "fail"],
    ["20.19.0", "ok"],
    ["22.1.0", "ok"],
    ["24.0.0", "ok"],
  ])("Node %s: %s", (version, status) => {
    expect(nodeVersion(version).status).toBe(status);
  });

  it.each([
    ["1970", clock(0), "fail"],
    ["2100", clock(4_102_444_800_001), "fail"],
    ["one that goes back", clock(Date.parse("2026-06-01"), [2, 1]), "fail"],
    ["one that is not the file system's", clock(Date.parse("2031-06-01")), "warn"],
  ])("a clock that says %s is found", (_, wrong, status) => {
    expect(wallClock(wrong, tmpdir())).toMatchObject({ name: "clock", status });
  });

  it("a file that is gone before it is looked at keeps no memory from being well", async () => {
    const place = mkdtempSync(path.join(tmpdir(), "rote-health-"));
    const directory = path.join(place, "memory");
    await (await ProcedureMemory.create(directory)).close();
    // Listed, and not there: as the log of writes when its last process closes the store just now.
    symlinkSync("nowhere", path.join(directory, "gone"));
    const checks = await checkHealth({ directory });
    rmSync(place, { recursive: true });
    expect(checks.slice(-2)).toMatchObject([
      { name: "memory files", status: "ok" },
      { name: "memory", status: "ok" },
    ]);
  });

  it("everything that is not well says what to do", async () => {
    const checks = await checkHealth({ directory: "/no/such/directory", clock: clock(0) });
    expect(checks.map((check) => check.name)).toContain("memory files");
    for (const { status, todo } of checks) expect(todo === null).toBe(status === "ok");
    expect(checks.filter((check) => check.status === "fail").map((check) => check.name)).toEqual([
      ...["durability", "clock", "memory files"],
    ]);
  });
});
