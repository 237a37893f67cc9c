import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Every file that is or could be committed. */
const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: ROOT,
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => file !== "" && existsSync(join(ROOT, file)));
const sources = files.filter((file) => /^src\/.*\.ts$/.test(file));
const text = (file: string) => readFileSync(join(ROOT, file), "utf8");

/** Lines of the files that match, as file:line. Comments count unless `code` is set. */
function places(among: readonly string[], pattern: RegExp, { code = false } = {}): string[] {
  return among.flatMap((file) =>
    text(file)
      .split("\n")
      .flatMap((line, index) => {
        const read = code ? line.replace(/(^\s*\/?\*.*$)|(\/\/.*$)/, "") : line;
        return pattern.test(read) ? [`${file}:${index + 1}`] : [];
      }),
  );
}

describe("the tree", () => {
  it("has sources to look at", () => {
    expect(sources.length).toBeGreaterThan(20);
  });

  it("no file of code is longer than 400 lines", () => {
    const code = files.filter((file) => /\.([cm]?[jt]s|sh)$|^\.ci\//.test(file));
    for (const folder of ["src", "test", "bench", "scripts", "examples", ".ci"]) {
      expect(code.some((file) => file.startsWith(`${folder}/`))).toBe(true);
    }
    const long = code.filter((file) => text(file).trimEnd().split("\n").length > 400);
    expect(long).toEqual([]);
  });

  it("names no package registry and no folder of one machine", () => {
    const hosts = ["registry\\.npmjs", "deb\\.debian", "pypi"].map((host) => `${host}\\.org`);
    const folders = "(^|[^A-Za-z0-9._-])/(work|farm|root|home/[a-z]+)/";
    expect(places(files, new RegExp([...hosts, folders].join("|")))).toEqual([]);
  });

  it("time, randomness and timers come through ports: only src/os asks the machine", () => {
    const asks =
      /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bperformance\.now\(|\bhrtime\b|\brandomUUID\(|\bset(Timeout|Interval)\(/;
    // The command also names temporary files and lets signals in between two runs; no result depends on either.
    const asksInside = new RegExp(`${asks.source}|\\brandom(Bytes|Fill\\w*)\\(|\\bsetImmediate\\b`);
    const pure = sources.filter((file) => !file.startsWith("src/os/"));
    const inside = pure.filter((file) => !file.startsWith("src/cli/"));
    expect(places(pure, asks, { code: true })).toEqual([]);
    expect(places(inside, asksInside, { code: true })).toEqual([]);
    expect(places(["src/os/clock.ts"], asks, { code: true })).not.toEqual([]);
    expect(places(["src/os/random.ts"], asksInside, { code: true })).not.toEqual([]);
  });

  it("sources hold no loose ends", () => {
    const loose = /\bas any\b|: any\b|\bas unknown as\b|\b(TODO|FIXME|XXX|HACK)\b|\bB\d{3}\b/;
    expect(places(sources, loose)).toEqual([]);
  });

  it("no folder or file is called for what it is not about", () => {
    const vague = /(^|\/)(utils?|helpers?|common|misc|manager|service)(\.[a-z]+)?(\/|$)/;
    expect(files.filter((file) => vague.test(file))).toEqual([]);
  });

  it("every decision has a status and a line in the list of decisions", () => {
    const decisions = files.filter((file) => /^docs\/decisions\/\d{4}-.*\.md$/.test(file));
    const list = text("docs/decisions/README.md");
    expect(decisions.length).toBeGreaterThan(6);
    expect(decisions.filter((file) => !list.includes(`(${file.split("/").at(-1)})`))).toEqual([]);
    expect(decisions.filter((file) => !/^Status: \w/m.test(text(file)))).toEqual([]);
  });

  it("tests neither mock modules nor sleep nor stay switched off", () => {
    const tests = files.filter(
      (file) => /^test\/.*\.ts$/.test(file) && !file.endsWith("tree.test.ts"),
    );
    expect(
      places(tests, /\bvi\.(mock|fn|spyOn|doMock)\(|\b(it|test|describe)\.(only|todo|skip)\(/),
    ).toEqual([]);
    expect(places(tests, /new Promise\([^)]*\) => setTimeout/)).toEqual([]);
  });
});
