/** Environments: what a procedure was made for, as digests. Needs no schema library, so that it loads at once. */
import { type Digest, digestOf } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import { isJsonObject, type JsonValue } from "../base/json.ts";
import { TAGS } from "../base/tags.ts";
import { ENVIRONMENT_FIELDS, type Environment } from "../model/environment.ts";
import { kindOf } from "./json-object.ts";
import { type DocumentLimits, readSource } from "./source.ts";

/** Tags of the documents whose digests make an environment. */
const ENVIRONMENT_TAGS = {
  policy: TAGS.policy,
  tools: TAGS.tools,
  credentials: TAGS.credentials,
  evidence: TAGS.evidence,
} as const;

/** The environment of a host that has nothing: digests of empty documents. */
export const EMPTY_ENVIRONMENT: Environment = Object.freeze({
  policy: digestOfEmpty(ENVIRONMENT_TAGS.policy),
  tools: digestOfEmpty(ENVIRONMENT_TAGS.tools),
  credentials: digestOfEmpty(ENVIRONMENT_TAGS.credentials),
  evidence: digestOfEmpty(ENVIRONMENT_TAGS.evidence),
  host_configuration: null,
});

/** Bare hexadecimal digits, as environments are written. */
function digestOfEmpty(tag: string): string {
  return digestOf(tag, {}).slice("sha256:".length);
}

/** One digest for a whole environment: what qualifications and runs are tied to. */
export function environmentDigest(environment: Environment): Digest {
  const { policy, tools, credentials, evidence, host_configuration } = environment;
  return digestOf(TAGS.environment, {
    policy,
    tools,
    credentials,
    evidence,
    host_configuration,
  });
}

/**
 * The recipe with this environment filled in, in place of any it had. The rest is taken over as it is, judged only by
 * `compileRecipe`.
 *
 * @throws RoteError `recipe_invalid` when the source is no JSON object.
 */
export function bindRecipe(
  source: unknown,
  environment: Environment,
  limits: DocumentLimits = {},
): JsonValue {
  const read = readSource(source, limits);
  if (!read.ok) {
    const [problem] = read.error;
    throw new RoteError("recipe_invalid", problem?.message ?? "not JSON", {
      diagnostics: read.error.map((one) => ({ ...one, related: one.related ?? [] })),
    });
  }
  const { document } = read.value;
  if (!isJsonObject(document)) {
    throw new RoteError("recipe_invalid", `a recipe is an object, this is ${kindOf(document)}`);
  }
  const { policy, tools, credentials, evidence, host_configuration } = environment;
  const bound = { policy, tools, credentials, evidence, host_configuration };
  const recipe: { [key: string]: JsonValue } = Object.create(null);
  for (const [key, value] of Object.entries(document)) {
    // Where people look for it: above what depends on it.
    if (key === "inputs") recipe["environment"] = bound;
    if (key !== "environment") recipe[key] = value;
  }
  recipe["environment"] = bound;
  return recipe;
}

/** The parts in which two environments differ, by name. */
export function differingParts(
  left: Environment,
  right: Environment,
): readonly (keyof Environment)[] {
  return ENVIRONMENT_FIELDS.filter((field) => left[field] !== right[field]);
}

export function environmentDiffers(changed: readonly string[]): string {
  return `the environment differs from the recipe's: ${changed.join(", ")}`;
}
