import { canonicalText } from "../base/canonical.ts";
import type { JsonValue } from "../base/json.ts";
import { quoted } from "../base/quoted.ts";
import { bindRecipe, EMPTY_ENVIRONMENT } from "../compile/index.ts";
import { ENVIRONMENT_FIELDS, type Environment } from "../model/environment.ts";
import type { Plan } from "../model/plan.ts";
import { environmentFor, loadRecipe } from "./documents.ts";
import { writeDocument } from "./files.ts";
import { withHost } from "./host.ts";
import { environmentAt } from "./ready.ts";
import { type Call, type Outcome, switchOption, textOption } from "./spec.ts";
import { jsonText } from "./terminal.ts";

/**
 * Fills in the environment digests. Without --host and --environment they are those of empty documents, whatever the
 * recipe was bound to before: that is what binding to no host means.
 */
export async function run(call: Call): Promise<Outcome> {
  const file = call.arguments[0] ?? "";
  const recipe = await loadRecipe(file, call.terminal);
  const environment = await wanted(call, recipe.plan);
  const differing = differences(recipe.plan.environment, environment);
  if (switchOption(call.options, "check")) return checked(file, differing);
  const text = `${jsonText(bindRecipe(recipe.bytes, environment), 2)}\n`;
  const json = { recipe: file, environment: { ...environment }, changed: [...differing] };
  const out = textOption(call.options, "out");
  if (out === undefined) {
    const document: JsonValue = JSON.parse(text) as JsonValue;
    return { exit: "verified", json: { ...json, bound: document }, text, exact: true };
  }
  writeDocument(out, text, switchOption(call.options, "force"));
  return { exit: "verified", json: { ...json, out }, text: `wrote ${out}` };
}

async function wanted(call: Call, plan: Plan): Promise<Environment> {
  const { options, terminal } = call;
  if (textOption(options, "host") !== undefined) {
    return await withHost(call, async ({ host }) => environmentAt(host, plan, options));
  }
  const named = textOption(options, "environment");
  return named === undefined ? EMPTY_ENVIRONMENT : await environmentFor(plan, options, terminal);
}

function checked(file: string, differing: readonly string[]): Outcome {
  const bound = differing.length === 0;
  const text = bound
    ? `ok ${file} is bound to this environment`
    : `${file} is not bound to this environment: ${differing.join(", ")}\nhint: rote bind ${quoted(file)} --out FILE`;
  return {
    exit: bound ? "verified" : "denied",
    json: { recipe: file, bound, changed: [...differing] },
    text,
  };
}

function differences(was: Environment | null, wanted: Environment): readonly string[] {
  if (was === null) return ["unbound"];
  return ENVIRONMENT_FIELDS.filter(
    (field) => canonicalText(was[field]) !== canonicalText(wanted[field]),
  );
}
