/** Runs that a host's journal has, as what they were when they were started: from the journal alone where need be. */

import { RoteError } from "../base/error.ts";
import { isJsonObject, type JsonValue } from "../base/json.ts";
import { type Body, type Host, kept, partsOf } from "../host/index.ts";
import { startedBody } from "../model/run-entry.ts";
import { systemClock } from "../os/clock.ts";
import type { Journal } from "../ports/journal.ts";
import type { Qualification } from "../ports/qualification.ts";
import { type Models, type Run, resumeRun } from "../run/index.ts";
import { Procedure } from "./procedure.ts";
import { ProcedureMemory } from "./procedure-memory.ts";
import { entriesOf } from "./run-record.ts";

/**
 * The procedure that a run was started with, compiled from the normal forms that the journal keeps, and only if that
 * gives the digests under which it was started.
 *
 * @throws RoteError `unknown_run` `journal_damaged`, `other_semantics` when this version compiles it to something else
 */
export function procedureIn(host: Host, run: string): Procedure {
  const { journal } = partsOf(host);
  const started = startOf(host, run);
  const recipe = blobIn(journal, started["recipe_blob"]);
  const verifier = verifierFrom(blobIn(journal, started["verifier_blob"]));
  const { plan, verifier: rule, procedure } = compiled(recipe, verifier, run);
  if (plan === started["plan"] && rule === started["verifier"]) return procedure;
  throw new RoteError(
    "other_semantics",
    `This version of Rote reads the recipe of the run ${run} differently; the run stays as it is.`,
    { run, plan: started["plan"] ?? null, compiled: plan },
  );
}

/**
 * A run made again from the journal, guided or compiled. `procedure`: what it was started with; left out, it is taken
 * from the journal. A compiled run whose qualification does not stand any more can be resumed, and is then ended as
 * `not_qualified` by the next step that it takes.
 *
 * @throws RoteError as `procedure.resume` and `procedureIn`
 */
export async function resumeIn(host: Host, run: string, procedure?: Procedure): Promise<Run> {
  const started = startOf(host, run);
  const chosen = procedure ?? procedureIn(host, run);
  if (started["mode"] !== "compiled") return chosen.resume(host, run);
  const { plan, verifier } = chosen;
  const qualified =
    plan.environment === null
      ? undefined
      : await ProcedureMemory.at(host).recall(chosen, { environment: plan.environment });
  const wanted = String(started["qualification"]);
  if (qualified?.id === wanted) return qualified.resume(host, run);
  return resumeRun(plan, verifier, host, run, { clock: systemClock, qualification: lost(wanted) });
}

/** The model behind each role that the run was started with. @throws RoteError `unknown_run` `journal_damaged` */
export function modelsIn(host: Host, run: string): Models {
  const started = startedBody.safeParse(startOf(host, run));
  if (started.success) return started.data.models;
  throw new RoteError("journal_damaged", `The start of ${run} is not what this version writes.`);
}

/** What a run goes on under when nobody vouches for it any more: it may end, and nothing else. */
function lost(id: string): Qualification {
  return { id, learned: [], stands: () => false, demote: () => undefined };
}

function startOf(host: Host, run: string): Body {
  const [first] = entriesOf(partsOf(host), run);
  if (first?.entry.type === "run_started") return first.entry.body as Body;
  if (first?.entry.type === "agent_started") {
    throw new RoteError("other_kind", `The run ${run} is of an agent, not of a recipe.`, { run });
  }
  throw new RoteError("journal_damaged", `The run ${run} does not begin with its start.`, { run });
}

/** @throws RoteError `journal_damaged` */
function blobIn(journal: Journal, sha256: JsonValue | undefined): JsonValue {
  return kept(journal, { document_blob: sha256 ?? null }, "document") ?? null;
}

/** From its normal form: a verifier without an id was a bare expression, and is read as one. */
export function verifierFrom(normal: JsonValue): JsonValue {
  if (!isJsonObject(normal) || Object.hasOwn(normal, "id")) return normal;
  return normal["result"] ?? null;
}

function compiled(recipe: JsonValue, verifier: JsonValue, run: string) {
  try {
    const procedure = new Procedure(recipe, { verifier });
    return { procedure, plan: procedure.digest, verifier: procedure.verifier.digest };
  } catch (cause) {
    if (!(cause instanceof RoteError)) throw cause;
    throw new RoteError(
      "other_semantics",
      `This version of Rote does not compile the recipe of the run ${run}: ${cause.message}`,
      { run },
      cause,
    );
  }
}
