import { statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Folder, rote } from "./rote.ts";

describe("rote demo", () => {
  let place: Folder;
  beforeAll(() => {
    place = new Folder();
  });
  afterAll(() => place.remove());

  it("climbs the ladder, has a reviewer approve, audits, tampers, and leaves a bundle and a trust store", async () => {
    const setting = { cwd: place.path };
    const { code, stdout } = await rote(["demo", "--out", "shown", "--json"], setting);
    const document = JSON.parse(stdout);
    expect([code, document.exit_code, document.error]).toEqual([0, 0, undefined]);
    expect(document).toMatchObject({
      directory: join(place.path, "shown"),
      bundle: join(place.path, "shown/bundle"),
      trust: join(place.path, "shown/trust.json"),
      // One for the key, one for each approval.
      reviewer_processes: 14,
      audit: {
        runs: { started: 7, open: 0, ended: { verified: 7 } },
        approvals: { requests: 13, approved: 13, rejected: 0 },
        admissions: { effect: 23, open: 0 },
      },
      tampered: { file: "tampered/journal.jsonl" },
    });
    const counted = document.recipes.map((one: { [name: string]: unknown }) => [
      one["recipe"],
      one["guided"],
      one["compiled"],
      one["guidedCalls"],
      one["compiledCalls"],
      one["learned"],
      one["reused"],
      one["approvals"],
      one["effects"],
    ]);
    expect(counted).toEqual([
      ["line-total", 11, 1, 0, 0, 0, 1, 0, 0],
      ["recalculation-straight-line", 5, 5, 0, 0, 0, 0, 0, 0],
      ["expense-posting", 5, 5, 5, 4, 1, 0, 0, 0],
      ["recalculation", 5, 2, 0, 0, 0, 0, 13, 23],
    ]);

    const audited = async (name: string) =>
      JSON.parse(
        (await rote(["audit", name, "--trust", "shown/trust.json", "--json"], setting)).stdout,
      );
    expect(await audited("shown/bundle")).toMatchObject({ exit_code: 0, clean: true });
    const { line, findings } = document.tampered;
    expect(await audited("shown/tampered")).toMatchObject({ exit_code: 3, findings });
    expect(findings).toContainEqual(
      expect.objectContaining({ code: "operation_differs", index: [line, line] }),
    );
    const receipt = ["receipt", "verify", "shown/receipt.json", "--trust", "shown/trust.json"];
    expect((await rote(receipt, setting)).code).toBe(0);

    const commands = document.steps as readonly { command: string; by: string }[];
    const approving = commands.filter(({ by }) => by === "reviewer").slice(1);
    expect(approving).toHaveLength(13);
    for (const { command } of approving) {
      expect(command).toMatch(/^rote approvals approve \S{22} --store \.\/host\/store /);
      expect(command).not.toContain("host.mjs");
    }
    expect(statSync(join(place.path, "shown/memory")).mode & 0o777).toBe(0o700);
    const words = ["run", "shown/line-total/recipe.json", "--memory", "shown/memory", "--json"];
    const next = await rote([...words, "--input", "quantity=7", "--input", "price=1200"], setting);
    expect(JSON.parse(next.stdout)).toMatchObject({ mode: "compiled", result: "8400" });

    const again = await rote(["demo", "--out", "shown"], setting);
    expect(again.code).toBe(1);
    expect(again.stderr).toContain("is not an empty directory");
  });
});
