import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isOwnerDead, processOwner } from "../../../src/os/owner.ts";

/** The own name with one part changed: machine, boot, process namespace, process, start. */
function renamed(part: number, to: string): string {
  return processOwner()
    .split("|")
    .map((text, at) => (at === part ? to : text))
    .join("|");
}

function goneProcess(): string {
  return String(spawnSync(process.execPath, ["--version"]).pid);
}

describe("the owner of a lease", () => {
  it("is alive as long as its process is, and has one name", () => {
    expect(isOwnerDead(processOwner())).toBe(false);
    expect(processOwner()).toBe(processOwner());
  });

  it("is dead when its process is gone", () => {
    expect(isOwnerDead(renamed(3, goneProcess()))).toBe(true);
  });

  it.skipIf(!existsSync("/proc/self/stat"))(
    "is dead when another process has its number, where the system tells when it started",
    () => {
      expect(isOwnerDead(renamed(4, "1"))).toBe(true);
    },
  );

  it("is not taken for dead where its number means nothing here: another machine, boot or container", () => {
    const gone = goneProcess();
    for (const part of [0, 1, 2]) {
      const elsewhere = renamed(part, "elsewhere").split("|").with(3, gone).join("|");
      expect(isOwnerDead(elsewhere)).toBe(false);
    }
    for (const odd of ["", "|", "a|b|c|d|e", renamed(3, "x"), renamed(3, "")]) {
      expect(isOwnerDead(odd)).toBe(false);
    }
  });
});
