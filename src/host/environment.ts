/** Digests of what a procedure depends on at this host, and of nothing else. */

import { digestOf } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import { ENVIRONMENT_FIELDS, type Environment } from "../model/environment.ts";
import { checkToolReview } from "../trust/tool-review.ts";
import { definitionOf } from "./judge.ts";
import type { HostParts } from "./parts.ts";

/** `tools` are the names of the tools that the procedure calls. */
export function environmentFor(parts: HostParts, tools: readonly string[]): Environment {
  const names = [...new Set(tools)].sort();
  const now = Math.floor(parts.clock.wallMs() / 1000);
  const definitions = names.map((name): JsonValue => {
    const registered = parts.tools.get(name);
    const review =
      registered?.review == null
        ? undefined
        : checkToolReview(registered.review, parts.journal.origin, parts.trust(), now);
    return {
      name,
      definition: definitionOf(registered),
      category: review?.ok === true ? review.value.review.category : null,
    };
  });
  const credentials = names.flatMap((name) => parts.tools.get(name)?.credentials ?? []);
  return {
    policy: bare(parts.policy.digest),
    tools: bare(digestOf("rote-tools/v1", definitions)),
    credentials: bare(digestOf("rote-credentials/v1", [...new Set(credentials)].sort())),
    evidence: bare(parts.evidence),
    host_configuration: parts.hostConfiguration === null ? null : bare(parts.hostConfiguration),
  };
}

/** The parts in which two environments differ, by name. */
export function differingParts(left: Environment, right: Environment): readonly string[] {
  return ENVIRONMENT_FIELDS.filter((field) => left[field] !== right[field]);
}

function bare(digest: string): string {
  return digest.slice("sha256:".length);
}
