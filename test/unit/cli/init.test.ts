import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { main } from "../../../src/cli/program.ts";

const places: string[] = [];
afterAll(() => {
  for (const place of places) rmSync(place, { recursive: true, force: true });
});

function fresh(): string {
  const place = mkdtempSync(join(tmpdir(), "rote-init-"));
  places.push(place);
  return place;
}

/** Somebody types `rote init`, and `meanwhile` happens while the passphrase is asked for. */
async function init(directory: string, meanwhile: () => void) {
  const out: string[] = [];
  const code = await main(["init", "recalculation", directory, "--json"], {
    data: (text) => void out.push(text),
    print: () => undefined,
    note: () => undefined,
    progress: () => undefined,
    watched: false,
    standardInput: async function* () {},
    ask: async () => {
      meanwhile();
      return "correct horse battery staple";
    },
    environment: {},
    interrupted: new AbortController().signal,
  });
  return { code, said: JSON.parse(out.join("")) };
}

describe("rote init", () => {
  it.each(["approver.key", "host", "notes.txt"])(
    "takes nothing away that others put into the folder while the passphrase was asked for: %s",
    async (name) => {
      const directory = join(fresh(), "deep/books");
      const { code, said } = await init(directory, () => {
        mkdirSync(directory, { recursive: true });
        if (name === "host") mkdirSync(join(directory, name), { recursive: true });
        else writeFileSync(join(directory, name), "theirs");
      });
      expect([code, said.error.code]).toEqual([1, "file_exists"]);
      expect(readdirSync(directory)).toEqual([name]);
    },
  );

  it("takes nothing away that others put there while it fills the folder", async () => {
    const directory = join(fresh(), "books");
    const theirs = join(directory, "approver.key");
    const claimed = join(directory, "rote-init.unfinished");
    const put = async () => {
      // As soon as the folder is claimed, which is looked for between any two steps of the command.
      while (!existsSync(claimed)) {
        for (let step = 0; step < 200 && !existsSync(claimed); step += 1) await Promise.resolve();
        if (!existsSync(claimed)) await new Promise((next) => setImmediate(next));
      }
      writeFileSync(theirs, "theirs", { flag: "wx" });
    };
    let putting: Promise<void> | undefined;
    const { code, said } = await init(directory, () => {
      putting ??= put();
    });
    await putting;
    expect([code, said.error.code]).toEqual([1, "file_exists"]);
    expect(readdirSync(directory)).toEqual(["approver.key"]);
    expect(readFileSync(theirs, "utf8")).toBe("theirs");
  });

  it.skipIf(process.platform === "win32")(
    "makes no host where others could put another in its place (modes of Unix)",
    async () => {
      const directory = fresh();
      for (const mode of [0o777, 0o775]) {
        chmodSync(directory, mode);
        const { code, said } = await init(directory, () => expect.unreachable());
        expect([code, said.error.code]).toEqual([1, "store_not_private"]);
        expect(said.error.message).toContain(directory);
        expect(readdirSync(directory)).toEqual([]);
      }
      const later = join(directory, "made-meanwhile");
      const { code, said } = await init(later, () => {
        if (existsSync(later)) return;
        mkdirSync(later);
        chmodSync(later, 0o777);
      });
      expect([code, said.error.code]).toEqual([1, "store_not_private"]);
      expect(readdirSync(later)).toEqual([]);
      rmSync(later, { recursive: true });
      chmodSync(directory, 0o755);
      expect((await init(directory, () => undefined)).code).toBe(0);
    },
  );

  it.skipIf(process.getuid?.() !== 0)(
    "makes no host in a folder of somebody else's, who could put another in its place (as root)",
    async () => {
      const directory = fresh();
      chownSync(directory, 12_345, 12_345);
      const { code, said } = await init(directory, () => expect.unreachable());
      expect([code, said.error.code]).toEqual([1, "store_not_private"]);
      expect(said.error.message).toContain("belongs to user 12345");
      expect(readdirSync(directory)).toEqual([]);
    },
  );

  it("says how to get into a folder whose name a shell would take apart", async () => {
    const place = fresh();
    const directory = join(place, "Anna's books");
    const { code, said } = await init(directory, () => undefined);
    expect([code, existsSync(join(directory, "host/host.mjs"))]).toEqual([0, true]);
    expect(said.next[0]).toBe(`cd '${place}/Anna'\\''s books'`);
  });
});
