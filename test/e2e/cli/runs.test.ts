import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AT, HostFolder } from "./host-folder.ts";

let folder: HostFolder;
beforeEach(() => {
  folder = new HostFolder();
});
afterEach(() => folder.remove());

describe("a run at a host", () => {
  it("waits for approval, prints exactly what is to be approved, and ends with the code of waiting (B038)", async () => {
    const plain = await folder.rote("run", "recipe.json", ...AT, "--input", "account=7");
    expect([plain.code, plain.stderr]).toEqual([8, ""]);
    expect(plain.stdout).toContain("state   awaiting_approval");
    expect(plain.stdout).toContain("tool: bank.pay (effect)");
    expect(plain.stdout).toMatch(/rote approvals approve \S{22} --host host\.mjs/);
    expect(folder.ledger()).toEqual([]);
    const listed = await folder.json("runs", "list", ...AT);
    expect(listed.runs).toMatchObject([{ recipe: "pay-twice", state: "awaiting_approval" }]);
    const shown = await folder.json("runs", "show", listed.runs[0].run, ...AT);
    expect(plain.stdout).toContain(shown.requests[0].text);
    expect(shown.entries.map((entry: { type: string }) => entry.type)).toEqual([
      "run_started",
      "admitted",
      "receipt",
      "approval_requested",
    ]);
  });
});
