/** Digests of what a procedure depends on at this host, and of nothing else. */

import { digestOf } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import { TAGS } from "../base/tags.ts";
import type { Environment } from "../model/environment.ts";
import { checkToolReview } from "../trust/tool-review.ts";
import { definitionOf } from "./judge.ts";
import type { HostParts } from "./parts.ts";
import { judgedNow, type Moment } from "./time.ts";

/** `tools` are the names of the tools that the procedure calls, each once, in order. */
export function environmentFor(
  parts: HostParts,
  tools: readonly string[],
  moment?: Moment,
): Environment {
  // Without tools there is nothing signed to look at: asked at every step, so what is not needed is not read.
  const signed =
    tools.length === 0 ? undefined : (moment ?? { trust: parts.trust(), now: judgedNow(parts) });
  const definitions = tools.map((name) => {
    const registered = parts.tools.get(name);
    const review =
      registered?.review == null || signed === undefined
        ? undefined
        : checkToolReview(registered.review, parts.journal.origin, signed.trust, signed.now);
    return {
      name,
      definition: definitionOf(registered),
      category: review?.ok === true ? review.value.review.category : null,
    };
  });
  const kept = keptBy(parts);
  // Everything else that an environment is made of stays as it is for as long as the host lives.
  const key = definitions.map((one) => `${one.name} ${one.definition} ${one.category}`).join("\n");
  const known = kept.get(key);
  if (known !== undefined) return known;
  const environment = Object.freeze(environmentOf(parts, tools, definitions));
  if (kept.size >= MOST_KEPT) kept.clear();
  kept.set(key, environment);
  return environment;
}

const environments = new WeakMap<HostParts, Map<string, Environment>>();
const MOST_KEPT = 1_000;

function keptBy(parts: HostParts): Map<string, Environment> {
  const kept = environments.get(parts) ?? new Map<string, Environment>();
  environments.set(parts, kept);
  return kept;
}

function environmentOf(
  parts: HostParts,
  tools: readonly string[],
  definitions: JsonValue,
): Environment {
  const credentials = tools.flatMap((name) => parts.tools.get(name)?.credentials ?? []);
  return {
    policy: bare(parts.policy.digest),
    tools: bare(digestOf(TAGS.tools, definitions)),
    credentials: bare(digestOf(TAGS.credentials, [...new Set(credentials)].sort())),
    evidence: bare(parts.evidence),
    host_configuration: parts.hostConfiguration === null ? null : bare(parts.hostConfiguration),
  };
}

function bare(digest: string): string {
  return digest.slice("sha256:".length);
}
