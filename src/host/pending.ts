/** Requests for approval that wait, over all runs of the journal. */
import type { JsonValue } from "../base/json.ts";
import type { Appended } from "../model/journal.ts";
import type { Journal } from "../ports/journal.ts";
import { type OpenRequest, requestFrom } from "./request.ts";

/** Runs looked at, most recently updated first. */
const MOST_RUNS = 10_000;

export function pendingRequests(journal: Journal): readonly OpenRequest[] {
  return journal
    .runs(MOST_RUNS)
    .filter(({ state }) => state === null)
    .flatMap(({ run }) => openIn(journal, journal.read(run)));
}

/** The last request of each node that nothing has answered yet. */
function openIn(journal: Journal, entries: readonly Appended[]): readonly OpenRequest[] {
  const open = new Map<string, Appended>();
  const nodes = new Map<string, string>();
  for (const appended of entries) {
    const body = appended.entry.body as { readonly [member: string]: JsonValue };
    switch (appended.entry.type) {
      case "approval_requested": {
        const node = String(body["node"]);
        open.set(node, appended);
        for (const digest of body["operations"] as readonly string[]) nodes.set(digest, node);
        break;
      }
      case "approved":
        open.delete(String(body["node"]));
        break;
      case "admitted": {
        const node = nodes.get(String(body["digest"]));
        if (node !== undefined) open.delete(node);
        break;
      }
      default:
        break;
    }
  }
  return [...open.values()].map((appended) => requestFrom(journal, appended));
}
