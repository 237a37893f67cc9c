import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  brokenLinks,
  carryOut,
  filesOf,
  noteTaken,
  pattern,
  readPage,
  settle,
} from "../support/page.ts";

const page = readPage("docs/tutorial.md");
/** What the reader takes over from what was printed last: a run and a request are called otherwise every time. */
const taken = new Map<string, string>();
let folder: string;

const filled = (text: string) =>
  [...taken].reduce((all, [word, value]) => all.replaceAll(word, value), text);

describe("the tutorial", () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "rote-tutorial-"));
    settle(page, folder);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("names the files that it has its reader save", () => {
    expect(filesOf(page)).toEqual([
      "invoices.jsonl",
      "recipe.json",
      "verifier.json",
      "keys.sh",
      "tools.mjs",
      "review.mjs",
      "host.mjs",
      "rest.jsonl",
      "approve-all.sh",
      "go-on.mjs",
      "signature.sh",
    ]);
    expect(page.sessions.length).toBe(21);
    expect(brokenLinks(page, "docs")).toEqual([]);
  });

  it.each(page.sessions)("prints what the page says: $command", ({ command, printed }) => {
    const told = carryOut(folder, filled(command));
    expect(told).toMatch(pattern(printed.map(filled)));
    noteTaken(taken, told);
  });
});
