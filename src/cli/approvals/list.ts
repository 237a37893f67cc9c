import type { Call, Outcome } from "../spec.ts";
import { table } from "../table.ts";
import { withReview } from "./review.ts";
import { requestedMs, reviewJson } from "./told.ts";

/** What waits for a reviewer. Changes nothing. */
export async function run(call: Call): Promise<Outcome> {
  return await withReview(call, async ({ review, place }) => {
    const pending = review.pending();
    const rows = pending.map((asked) => {
      const { request, requestedBy, required, decisions, totals } = asked;
      const approved = decisions.filter((one) => one.counts && one.decision === "approve");
      const { nonce, node, operations, expires } = request;
      return [
        nonce,
        operations.length,
        totals.amounts.map((one) => `${one.currency} ${one.minor_units}`).join(", "),
        `${node} of ${operations[0]?.operation.run ?? ""}`,
        requestedBy,
        new Date(requestedMs(asked)).toISOString(),
        expires === null ? "never" : new Date(expires * 1000).toISOString(),
        `${approved.length} of ${required}`,
      ];
    });
    const head = ["request", "operations", "total", "at", "by", "since", "expires", "approved"];
    const text =
      rows.length === 0
        ? "nothing waits for approval"
        : `${table(head, rows)}\nhint: look at one with  rote approvals show REQUEST ${place}`;
    return {
      exit: "verified",
      json: { host: review.origin, requests: pending.map(reviewJson) },
      text,
    };
  });
}
