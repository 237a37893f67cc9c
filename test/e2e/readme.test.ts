import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { brokenLinks, carryOut, filesOf, pattern, readPage, settle } from "../support/page.ts";

const page = readPage("README.md");
let folder: string;

describe("README", () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "rote-readme-"));
    settle(page, folder);
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("names files and commands to try", () => {
    expect(filesOf(page)).toEqual(["recipe.json", "verifier.json", "orders.jsonl", "ladder.ts"]);
    expect(page.sessions.length).toBe(6);
  });

  it.each(page.sessions)("prints what the page says: $command", ({ name, command, printed }) => {
    const recipe = join(folder, "recipe.json");
    const text = readFileSync(recipe, "utf8");
    if (name === "misspelt") writeFileSync(recipe, text.replace('"multiply"', '"multipy"'));
    try {
      expect(carryOut(folder, command)).toMatch(pattern(printed));
    } finally {
      writeFileSync(recipe, text);
    }
  });

  it("links only to files that are there", () => {
    expect(page.text.match(/\]\(/g)?.length).toBeGreaterThan(8);
    expect(brokenLinks(page)).toEqual([]);
  });
});
