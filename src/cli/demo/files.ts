/**
 * The files of the demonstration: shipped recipes, their sample inputs split by phase, two documents gone wrong, and
 * passphrases that nobody has to type.
 */
import { randomBytes } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { placeFromHome } from "../../base/code-home.ts";
import { fault } from "../fault.ts";
import { isVacant } from "../files.ts";
import { WORKFLOW } from "./workflow.ts";

const SHIPPED = fileURLToPath(placeFromHome("../recipes"));
const RECIPES = ["line-total", "recalculation-straight-line", "expense-posting"] as const;

/** Lines of inputs.jsonl per file, in order; the rest goes to the last. */
const PARTS = [
  ["training.jsonl", 3],
  ["shadow.jsonl", 1],
  ["canary.jsonl", 1],
  ["later.jsonl", Number.POSITIVE_INFINITY],
] as const;

export interface DemoFiles {
  readonly directory: string;
  /** For the keys of the host's owner, which the demonstration does not need again. */
  readonly passphrase: string;
}

/** Fills a new directory; null makes a temporary one. */
export function prepareDemo(wanted: string | null): DemoFiles {
  if (!existsSync(SHIPPED)) {
    throw fault(
      "package_incomplete",
      `the shipped recipes are not at ${SHIPPED}`,
      "install rote again",
    );
  }
  const directory = wanted === null ? mkdtempSync(join(tmpdir(), "rote-demo-")) : emptied(wanted);
  for (const recipe of RECIPES) copyRecipe(recipe, join(directory, recipe));
  goWrong(join(directory, "line-total"));
  cpSync(join(SHIPPED, WORKFLOW), join(directory, WORKFLOW), { recursive: true });
  mkdirSync(join(directory, "reviewer"), { mode: 0o700 });
  const file = join(directory, "reviewer", "passphrase");
  writeFileSync(file, `${passphraseFor()}\n`, { mode: 0o600 });
  return { directory: realpathSync(directory), passphrase: passphraseFor() };
}

function passphraseFor(): string {
  return randomBytes(24).toString("base64url");
}

function emptied(directory: string): string {
  if (!isVacant(directory)) {
    throw fault("file_exists", `${directory} is not an empty directory`, "name a new one");
  }
  mkdirSync(directory, { recursive: true });
  return directory;
}

function copyRecipe(recipe: string, to: string): void {
  cpSync(join(SHIPPED, recipe), to, { recursive: true });
  const lines = readFileSync(join(to, "inputs.jsonl"), "utf8").trimEnd().split("\n");
  let from = 0;
  for (const [name, count] of PARTS) {
    const part = lines.slice(from, from + count);
    from += part.length;
    writeFileSync(join(to, name), part.map((line) => `${line}\n`).join(""));
  }
}

/** A recipe that computes something else, and a verifier that says the same in other words. */
function goWrong(directory: string): void {
  const recipe = readFileSync(join(directory, "recipe.json"), "utf8");
  writeFileSync(join(directory, "recipe.wrong.json"), recipe.replaceAll('"multiply"', '"add"'));
  const verifier: unknown = JSON.parse(readFileSync(join(directory, "verifier.json"), "utf8"));
  const stricter = { op: "and", values: [verifier, true] };
  writeFileSync(join(directory, "verifier.changed.json"), JSON.stringify(stricter, null, 2));
}
