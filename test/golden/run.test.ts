import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { ModelAnswer, RunReport } from "../../src/model/run.ts";
import { compiled, ENVIRONMENT, started } from "../support/pure-procedure.ts";

/**
 * One folder per case: recipe, verifier, inputs, the answers in the order in which they are given, and what came of it.
 * `UPDATE=1` writes `expected.json` anew, to be reviewed as a diff; `FILTER=name` chooses cases.
 */
const FOLDER = fileURLToPath(new URL("run/", import.meta.url));

const filter = process.env["FILTER"] ?? "";
const cases = readdirSync(FOLDER).filter((name) => name.includes(filter));

function read(name: string, file: string): unknown {
  return JSON.parse(readFileSync(`${FOLDER}${name}/${file}`, "utf8"));
}

function outcome(name: string): unknown {
  const identity = { provider: "scripted", name: "golden" };
  const { run } = started(
    compiled(read(name, "recipe.json"), read(name, "verifier.json")),
    read(name, "inputs.json"),
    { models: { default: identity, clerk: identity } },
  );
  run.advancePure({ environment: ENVIRONMENT });
  const answers = existsSync(`${FOLDER}${name}/answers.json`)
    ? (read(name, "answers.json") as readonly ModelAnswer[])
    : [];
  for (const model of answers) run.advancePure({ environment: ENVIRONMENT, model });
  return { result: run.result ?? null, pending: run.pending, report: timeless(run.report) };
}

function timeless({ total_ms: _, active_ms: __, ...report }: RunReport): unknown {
  return report;
}

describe("golden runs", () => {
  it("are there", () => {
    expect(cases.length).toBeGreaterThan(filter === "" ? 9 : 0);
  });

  it.each(cases)("%s ends as it did", (name) => {
    const text = `${JSON.stringify(outcome(name), null, 2)}\n`;
    const file = `${FOLDER}${name}/expected.json`;
    if (process.env["UPDATE"] === "1") writeFileSync(file, text);
    expect(text).toBe(readFileSync(file, "utf8"));
  });
});
