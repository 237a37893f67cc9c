/** Requests for approval that wait, over all runs of the journal. */
import { verdictOn } from "./decisions.ts";
import type { HostParts } from "./parts.ts";
import { type OpenRequest, openRequestsIn } from "./request.ts";

/** Runs looked at that have not ended, most recently updated first: those that have hide none that waits. */
const MOST_RUNS = 10_000;

export function pendingRequests(parts: HostParts): readonly OpenRequest[] {
  const { journal } = parts;
  return journal
    .runs(MOST_RUNS, true)
    .flatMap(({ run }) => openRequestsIn(journal, journal.read(run)))
    .filter((request) => verdictOn(parts, request).kind === "waiting");
}
