/** What a run was made from, as far as its operations must agree with it. */
import { digestBytes, digestOf } from "../base/digest.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts";
import { TAGS } from "../base/tags.ts";
import type { Bodies } from "./bodies.ts";
import { readCanonical } from "./canonical.ts";
import { type Context, type Placed, placeOf, report } from "./context.ts";

export interface NodeFacts {
  readonly kind: string;
  readonly tool: string | null;
  readonly each: boolean;
  /** Stands behind an approval: never done without one. */
  readonly fenced: boolean;
}

export interface RecipeFacts {
  readonly nodes: ReadonlyMap<string, NodeFacts>;
  /** Bare hexadecimal digest. */
  readonly policy: string | null;
}

type Started = Bodies["run_started"];

/** Recipes in memory at most; runs of one recipe share it. */
const MOST_KEPT = 64;

export interface Recipes {
  /** Reads recipe and verifier of a run and compares them with what its start says; undefined when they are not there. */
  of(started: Started, placed: Placed): Promise<RecipeFacts | undefined>;
}

export function createRecipes(context: Context): Recipes {
  const kept = new Map<string, RecipeFacts | undefined>();
  return {
    async of(started, placed) {
      const { plan, verifier, environment, recipe_blob, verifier_blob } = started;
      const name = [plan, verifier, environment, recipe_blob, verifier_blob].join(" ");
      if (kept.has(name)) return kept.get(name);
      const facts = await read(context, started, placed);
      if (kept.size >= MOST_KEPT) kept.clear();
      kept.set(name, facts);
      return facts;
    },
  };
}

async function read(
  context: Context,
  started: Started,
  placed: Placed,
): Promise<RecipeFacts | undefined> {
  const { blobs } = context;
  const differs = (message: string) => report(context, placed, "document_malformed", message);
  const rule = await blobs.read(started.verifier_blob, placeOf(placed), "verifier");
  if (rule !== undefined && digestBytes(TAGS.verifier, rule) !== started.verifier) {
    differs(`the verifier that is kept is not ${started.verifier}`);
  }
  const bytes = await blobs.read(started.recipe_blob, placeOf(placed), "recipe");
  if (bytes === undefined) return undefined;
  if (digestBytes(TAGS.plan, bytes) !== started.plan) {
    differs(`the recipe that is kept is not ${started.plan}`);
  }
  const json = readCanonical(bytes);
  if (!json.ok || !isJsonObject(json.value) || !Array.isArray(json.value["nodes"])) {
    differs("the recipe that is kept is not one");
    return undefined;
  }
  const { environment = null, nodes } = json.value;
  if (!isJsonObject(environment) || digestOfParts(environment) !== started.environment) {
    differs(`the recipe that is kept is not bound to the environment ${started.environment}`);
  }
  const policy = isJsonObject(environment) ? environment["policy"] : null;
  return {
    nodes: nodesIn(nodes as readonly JsonValue[]),
    policy: typeof policy === "string" ? policy : null,
  };
}

function digestOfParts(parts: JsonObject): string {
  return digestOf(TAGS.environment, parts);
}

function nodesIn(nodes: readonly JsonValue[]): ReadonlyMap<string, NodeFacts> {
  const found = nodes.filter(isJsonObject);
  const steps = found.map((node) => node["step"]).filter(isJsonObject);
  const fenced = new Set(
    steps.flatMap((step): readonly JsonValue[] => {
      const effects = step["kind"] === "approval" ? step["effects"] : null;
      return Array.isArray(effects) ? effects : [];
    }),
  );
  return new Map(
    found.map((node): [string, NodeFacts] => {
      const step = isJsonObject(node["step"]) ? node["step"] : {};
      const { kind, tool } = step;
      return [
        String(node["id"]),
        {
          kind: String(kind),
          tool: typeof tool === "string" ? tool : null,
          each: Object.hasOwn(node, "each"),
          fenced: fenced.has(node["id"] ?? null),
        },
      ];
    }),
  );
}
