/**
 * One folder per case in compile/: recipe.json, and beside it what compiling it gives, plan.json or diagnostics.json
 * (with diagnostics.txt, what people see). UPDATE=1 rewrites the expectations, FILTER=name selects cases.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { compileRecipe, formatDiagnostics } from "../../src/compile/index.ts";
import { planToJson } from "../support/plan-json.ts";

const FOLDER = new URL("compile/", import.meta.url);
const UPDATE = process.env["UPDATE"] === "1";
const FILTER = process.env["FILTER"] ?? "";
const EXPECTATIONS = ["plan.json", "diagnostics.json", "diagnostics.txt"];

function compiled(name: string): ReadonlyMap<string, string> {
  const source = readFileSync(new URL(`${name}/recipe.json`, FOLDER));
  const result = compileRecipe(source);
  if (result.ok) {
    return new Map([["plan.json", `${JSON.stringify(planToJson(result.value), null, 2)}\n`]]);
  }
  return new Map([
    ["diagnostics.json", `${JSON.stringify(result.error, null, 2)}\n`],
    ["diagnostics.txt", `${formatDiagnostics(result.error, { file: "recipe.json" })}\n`],
  ]);
}

function expected(name: string): ReadonlyMap<string, string> {
  const files = EXPECTATIONS.map((file) => [file, new URL(`${name}/${file}`, FOLDER)] as const);
  return new Map(
    files.filter(([, url]) => existsSync(url)).map(([file, url]) => [file, readFileSync(url, "utf8")]),
  );
}

describe("compiling gives exactly what is on file", () => {
  const names = readdirSync(FOLDER).filter((name) => name.includes(FILTER));
  it.each(names)("%s", (name) => {
    const actual = compiled(name);
    if (UPDATE) {
      for (const file of EXPECTATIONS) {
        const text = actual.get(file);
        const url = new URL(`${name}/${file}`, FOLDER);
        if (text === undefined) rmSync(url, { force: true });
        else writeFileSync(url, text);
      }
    }
    expect(actual).toEqual(expected(name));
  });
});
