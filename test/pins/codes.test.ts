import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { ERROR_CODES } from "../../src/model/codes.ts";

const SOURCE = fileURLToPath(new URL("../../src/", import.meta.url));

const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !/^model\/(host-|agent-)?codes\.ts$/.test(file))
  .map((file) => ({ file, text: readFileSync(`${SOURCE}${file}`, "utf8") }));

/** First arguments of every place that makes a `RoteError`, directly or through the command's `fault`. */
const made = files.flatMap(({ file, text }) =>
  [...text.matchAll(/(?:new RoteError|\bfault)\(\s*([^,)]*)/g)]
    .map(([, argument = ""]) => ({ file, argument: argument.trim() }))
    .filter(({ argument }) => !argument.startsWith("code: string")),
);

const literals = (text: string) => [...text.matchAll(/"([a-z_]+)"/g)].map(([, code = ""]) => code);

/** Places that pass a code on; the codes they pass are literals elsewhere. */
const PASSING_ON = [
  "app/key-file.ts",
  "app/procedure-memory.ts",
  "app/procedure.ts",
  "cli/documents.ts",
  "cli/fault.ts",
  "host/judge.ts",
  "store/bundle/directory.ts",
  "store/sqlite/failure.ts",
];

it("every error is made with a code of the closed list", () => {
  expect(made.length).toBeGreaterThan(40);
  const unlisted = made.flatMap(({ file, argument }) =>
    literals(argument)
      .filter((code) => !Object.hasOwn(ERROR_CODES, code))
      .map((code) => `${file}: ${code}`),
  );
  expect(unlisted).toEqual([]);
});

it("codes that are no literal come from the few places that pass one on", () => {
  const others = made.filter(({ argument }) => literals(argument).length === 0);
  expect([...new Set(others.map(({ file }) => file))].sort()).toEqual(PASSING_ON);
});

it("every code of the list is used", () => {
  const used = new Set(files.flatMap(({ text }) => literals(text)));
  const documents = ["recipe", "verifier"].map((what) => `${what}_invalid`);
  const unused = Object.keys(ERROR_CODES).filter(
    (code) => !used.has(code) && !documents.includes(code),
  );
  expect(unused).toEqual([]);
});
