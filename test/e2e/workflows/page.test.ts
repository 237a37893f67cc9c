/** docs/workflows.md, carried out: in this process where a line is of the command alone. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  brokenLinks,
  carryOut,
  filesOf,
  noteTaken,
  pattern,
  readPage,
  type Session,
  settle,
} from "../../support/page.ts";
import { Folder, rote } from "../cli/rote.ts";

const page = readPage("docs/workflows.md");
const named = (name: string): readonly Session[] =>
  page.sessions.filter((session) => session.name === name);
/** What the reader takes over from what was printed last. */
const taken = new Map<string, string>();
const filled = (text: string) =>
  [...taken].reduce((all, [word, value]) => all.replaceAll(word, value), text);

let folder: Folder;
let cwd: string;

async function printed(command: string): Promise<string> {
  const [, place] = /^cd (\S+)$/.exec(command) ?? [];
  if (place !== undefined) {
    cwd = join(cwd, place);
    return "";
  }
  if (!/^rote [^$'"|&;]*$/.test(command)) return carryOut(cwd, command, folder.path);
  const { stdout, stderr } = await rote(command.split(" ").slice(1), { cwd });
  return `${stdout}${stderr}`.replaceAll(/ +$/gm, "");
}

/** Carries out a line of the page and notes what later lines need of it. */
async function typed(command: string): Promise<string> {
  const told = await printed(filled(command));
  noteTaken(taken, told);
  return told;
}

/** The line of the page that begins so, with one word for another. */
async function again(beginning: string, change: (line: string) => string = (line) => line) {
  const session = page.sessions.find(({ command }) => command.startsWith(beginning));
  if (session === undefined) throw new Error(`the page has no ${beginning}`);
  return await typed(change(session.command));
}

beforeAll(() => {
  folder = new Folder();
  cwd = folder.path;
  settle(page, folder.path);
});
afterAll(() => folder.remove());

const prints = async ({ command, printed: wanted }: Session): Promise<void> => {
  expect(await typed(command)).toMatch(pattern(wanted.map(filled)));
};

describe("the page about workflows", () => {
  it("names files and commands, and links to what is there", () => {
    expect(filesOf(page)).toEqual(["october.json"]);
    expect(page.sessions.map(({ name }) => name).filter((name) => name !== "")).toEqual([
      "ladder",
      "ladder",
      "own",
    ]);
    expect(page.sessions.length).toBe(15);
    expect(brokenLinks(page, "docs")).toEqual([]);
  });

  const untilLadder = page.sessions.findIndex(({ name }) => name === "ladder");

  it.each(page.sessions.slice(0, untilLadder))("prints what it says: $command", prints);

  it("climbs the ladder as it says", async () => {
    for (const [engagement, phase] of [
      ["assets-02", "training"],
      ["assets-03", "training"],
      ["assets-04", "shadow"],
      ["assets-05", "canary"],
    ] as const) {
      await again("rote run recipe.json", (line) => line.replace("assets-01", engagement));
      for (let pause = 0; pause < 2; pause += 1) {
        await again("rote approvals approve");
        await again("rote runs resume");
      }
      const told = await again("rote memory observe", (line) => line.replace("training", phase));
      expect(told).toContain(`counted as ${phase}`);
    }
  });

  it.each(named("ladder"))("prints what it says: $command", prints);

  it.each(page.sessions.slice(untilLadder).filter(({ name }) => name === ""))(
    "prints what it says: $command",
    prints,
  );

  it("takes documents of its reader", async () => {
    const own = page.blocks.find(({ name }) => name === "own-source")?.text ?? "";
    const list = join(cwd, "host/sources.json");
    const sources = JSON.parse(readFileSync(list, "utf8")) as { readonly engagements: unknown[] };
    sources.engagements.push(JSON.parse(own));
    writeFileSync(list, JSON.stringify(sources));
    const document = readFileSync(join(folder.path, "october.json"));
    writeFileSync(join(cwd, "host/documents/october.json"), document);
    for (const session of named("own")) await prints(session);
    for (let pause = 0; pause < 2; pause += 1) {
      await again("rote approvals approve");
      const told = await again("rote runs resume");
      if (pause === 1) expect(told).toContain("state   verified (completed)");
    }
  });
});
