import type { JsonValue } from "../../base/json.ts";
import { compileRecipe, compileVerifier, formatDiagnostics } from "../../compile/index.ts";
import { typeName } from "../../expression/index.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import type { Plan, Verifier } from "../../model/plan.ts";
import {
  type DocumentFile,
  diagnosticJson,
  readRecipe,
  readVerifier,
  verifierMissing,
} from "../documents.ts";
import { usageFault } from "../fault.ts";
import { type Call, type Outcome, switchOption, textOption } from "../spec.ts";
import { count } from "../table.ts";

/** Compiles a recipe and its verifier; with --score also measures the verifier. */
export async function run(call: Call): Promise<Outcome> {
  const { options, terminal } = call;
  const file = call.arguments[0] ?? "";
  const score = switchOption(options, "score");
  const named = ["inputs", "host"].filter((name) => textOption(options, name) !== undefined);
  if (score && named.length === 0) {
    throw usageFault(
      "--score needs sample inputs, or a host whose runs are the samples",
      "add --inputs FILE.jsonl, or --host FILE",
    );
  }
  if (named.length === 2) {
    throw usageFault("--inputs and --host both say what the samples are", "give one of them");
  }
  if (!score && textOption(options, "host") !== undefined) {
    throw usageFault("--host goes with --score", "add --score, or leave it out");
  }
  const recipe = await readRecipe(file, terminal);
  const compiled = compileRecipe(recipe);
  if (!compiled.ok) return refused("recipe", file, compiled.error, null);
  const plan = compiled.value;
  const read = await readVerifier(file, options, terminal);
  if (read === undefined) {
    if (score) throw verifierMissing(file);
    const note = "no verifier was checked: there is no verifier.json beside the recipe";
    return {
      exit: "verified",
      json: { recipe: planJson(file, plan), verifier: null, diagnostics: [] },
      text: `${planText(file, plan)}\nnote: ${note}; name one with --verifier`,
    };
  }
  const verifier = compileVerifier(read.bytes, plan);
  if (!verifier.ok) return refused("verifier", read.file, verifier.error, planJson(file, plan));
  const checked = {
    recipe: planJson(file, plan),
    verifier: verifierJson(read.file, verifier.value),
    diagnostics: [],
  };
  const text = `${planText(file, plan)}\n${verifierText(read.file, verifier.value)}`;
  if (!score) return { exit: "verified", json: checked, text };
  const scored = await scoredBy(call, { file, bytes: recipe }, read);
  return {
    exit: scored.exit,
    json: { ...checked, ...scored.json },
    text: `${text}\n\n${scored.text}`,
  };
}

async function scoredBy(call: Call, recipe: DocumentFile, verifier: DocumentFile) {
  if (textOption(call.options, "host") === undefined) {
    const { scoreOutcome } = await import("./score.ts");
    return await scoreOutcome(call, recipe, verifier);
  }
  const { hostScoreOutcome } = await import("./score-host.ts");
  return await hostScoreOutcome(call, recipe, verifier);
}

function refused(
  what: "recipe" | "verifier",
  file: string,
  diagnostics: readonly Diagnostic[],
  recipe: JsonValue,
): Outcome {
  const listed = diagnostics.map((diagnostic) => {
    const told = diagnosticJson(diagnostic);
    return { document: what, file, ...(told as { [key: string]: JsonValue }) };
  });
  const problems = count(diagnostics.length, "problem");
  return {
    exit: "problem",
    json: { recipe, verifier: null, diagnostics: listed },
    text: `${formatDiagnostics(diagnostics, { file }).trimEnd()}\n\n${problems} in ${what} ${file}`,
  };
}

function planJson(file: string, plan: Plan): JsonValue {
  return {
    file,
    id: plan.id,
    plan: plan.digest,
    bound: plan.environment !== null,
    needs_host: plan.needsHost,
    nodes: plan.nodes.length,
    kinds: Object.fromEntries(kindsOf(plan)),
    inputs: Object.fromEntries(plan.inputs.map((input) => [input.name, typeName(input.reading)])),
    result: typeName(plan.result),
  };
}

function verifierJson(file: string, verifier: Verifier): JsonValue {
  return {
    file,
    id: verifier.id,
    verifier: verifier.digest,
    before_effect: verifier.beforeEffect !== null,
  };
}

function planText(file: string, plan: Plan): string {
  const kinds = kindsOf(plan).map(([kind, number]) => `${number} ${kind}`);
  const width = Math.max(0, ...plan.inputs.map(({ name }) => name.length));
  const inputs = plan.inputs.map((input, index) => {
    const label = index === 0 ? "inputs" : "      ";
    return `   ${label}  ${input.name.padEnd(width)}  ${typeName(input.reading)}`;
  });
  const bound = plan.environment !== null;
  return [
    `ok ${file}`,
    `   recipe  ${plan.id}${plan.title === null ? "" : ` (${plan.title})`}`,
    `   plan    ${plan.digest ?? "none, since the recipe is unbound: `rote bind` fills its environment in"}`,
    `   nodes   ${plan.nodes.length}: ${kinds.join(", ")}`,
    ...(inputs.length === 0 ? ["   inputs  none"] : inputs),
    `   result  ${typeName(plan.result)}`,
    `   bound   ${bound ? "yes" : "no"}`,
    ...(plan.needsHost ? ["   host    needed: it reads, has effects or asks for approval"] : []),
  ].join("\n");
}

function verifierText(file: string, verifier: Verifier): string {
  const name = verifier.id === null ? "" : `   verifier  ${verifier.id}\n`;
  return `ok ${file}\n${name}   digest  ${verifier.digest}`;
}

/** How many nodes of each kind, in the order in which kinds first occur. */
function kindsOf(plan: Plan): readonly (readonly [string, number])[] {
  const kinds = new Map<string, number>();
  for (const { step } of plan.nodes) kinds.set(step.kind, (kinds.get(step.kind) ?? 0) + 1);
  return [...kinds];
}
