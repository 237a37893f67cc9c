/** The documents a command is about: recipe, verifier, environment. Read, compiled, and told when wrong. */
import { dirname, join } from "node:path";
import type { RoteError } from "../base/error.ts";
import { type JsonValue, readJson } from "../base/json.ts";
import { compileRecipe, EMPTY_ENVIRONMENT, formatDiagnostics } from "../compile/index.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { ENVIRONMENT_FIELDS, type Environment } from "../model/environment.ts";
import type { Plan } from "../model/plan.ts";
import { RECIPE_LIMITS } from "../model/recipe-limits.ts";
import { fault } from "./fault.ts";
import { codeOf, MAX_DOCUMENT_BYTES, readDocument, STANDARD_INPUT } from "./files.ts";
import { type OptionValues, textOption } from "./spec.ts";
import type { Terminal } from "./terminal.ts";

export interface RecipeFile extends DocumentFile {
  readonly plan: Plan;
}

/** A document as read, before anything is made of it. */
export interface DocumentFile {
  readonly file: string;
  readonly bytes: Uint8Array;
}

/** @throws RoteError `recipe_invalid` with all diagnostics. */
export async function loadRecipe(file: string, terminal: Terminal): Promise<RecipeFile> {
  const bytes = await readRecipe(file, terminal);
  const compiled = compileRecipe(bytes);
  if (!compiled.ok) throw invalid("recipe", file, compiled.error);
  return { file, bytes, plan: compiled.value };
}

export async function readRecipe(file: string, terminal: Terminal): Promise<Uint8Array> {
  return await readDocument(file, "recipe", RECIPE_LIMITS.bytes, terminal);
}

/** The file named by --verifier, else verifier.json beside the recipe; undefined when there is none. */
export async function readVerifier(
  recipe: string,
  options: OptionValues,
  terminal: Terminal,
): Promise<DocumentFile | undefined> {
  const named = textOption(options, "verifier");
  if (named === undefined && recipe === STANDARD_INPUT) return undefined;
  const file = named ?? join(dirname(recipe), "verifier.json");
  try {
    return { file, bytes: await readDocument(file, "verifier", RECIPE_LIMITS.bytes, terminal) };
  } catch (error) {
    if (named === undefined && codeOf(error) === "file_not_found") return undefined;
    throw error;
  }
}

export function verifierMissing(recipe: string): RoteError {
  return fault(
    "verifier_missing",
    `recipe ${recipe} has no verifier.json beside it, and no --verifier is given`,
    "a run is verified by a rule that is kept apart from its recipe; name it with --verifier",
  );
}

/** A document that does not compile, with every problem in the message and in the data. */
export function invalid(
  what: "recipe" | "verifier",
  file: string,
  diagnostics: readonly Diagnostic[],
): RoteError {
  return fault(`${what}_invalid`, `${what} ${file} does not compile`, undefined, {
    details: formatDiagnostics(diagnostics, { file }),
    file,
    diagnostics: diagnostics.map(diagnosticJson),
  });
}

export function diagnosticJson(diagnostic: Diagnostic): JsonValue {
  return Object.fromEntries(
    Object.entries(diagnostic).filter(
      (entry): entry is [string, JsonValue] => entry[1] !== undefined,
    ),
  );
}

export async function environmentFor(
  plan: Plan,
  options: OptionValues,
  terminal: Terminal,
): Promise<Environment> {
  const file = textOption(options, "environment");
  if (file === undefined) return plan.environment ?? EMPTY_ENVIRONMENT;
  const bytes = await readDocument(file, "environment", MAX_DOCUMENT_BYTES, terminal);
  const read = readJson(bytes);
  if (!read.ok) throw environmentInvalid(file, `line ${read.error.line}: ${read.error.message}`);
  return environmentFrom(file, read.value);
}

const HEX_DIGEST = /^[0-9a-f]{64}$/;

function environmentFrom(file: string, value: JsonValue): Environment {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw environmentInvalid(file, "expected an object");
  }
  const object = value as { readonly [key: string]: JsonValue };
  const unknown = Object.keys(object).find(
    (key) => !(ENVIRONMENT_FIELDS as readonly string[]).includes(key),
  );
  if (unknown !== undefined) throw environmentInvalid(file, `unknown member "${unknown}"`);
  const digest = (field: string): string => {
    const text = object[field];
    if (typeof text === "string" && HEX_DIGEST.test(text)) return text;
    throw environmentInvalid(file, `"${field}" must be a digest of 64 lower-case hex digits`);
  };
  const host = object["host_configuration"] ?? null;
  return {
    policy: digest("policy"),
    tools: digest("tools"),
    credentials: digest("credentials"),
    evidence: digest("evidence"),
    host_configuration: host === null ? null : digest("host_configuration"),
  };
}

function environmentInvalid(file: string, what: string): RoteError {
  return fault(
    "environment_invalid",
    `environment ${file}: ${what}`,
    `an environment has the members ${ENVIRONMENT_FIELDS.join(", ")}`,
    { file },
  );
}
