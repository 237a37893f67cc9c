/** Requests for approval, told to whoever decides about them. */
import type { FiledDecision, ReviewRequest } from "../../app/review-request.ts";
import type { Totals } from "../../app/totals.ts";
import type { JsonValue } from "../../base/json.ts";
import { count } from "../table.ts";
import { requestHead, requestJson } from "../waiting.ts";

export function reviewJson(asked: ReviewRequest): { readonly [key: string]: JsonValue } {
  const { request, status, required, requestedBy, decisions, totals } = asked;
  return {
    ...requestJson(request),
    status,
    required,
    requested_by: requestedBy,
    requested_ms: requestedMs(asked),
    decisions: decisions.map((one) => ({ ...one })),
    totals: { ...totals, amounts: totals.amounts.map((one) => ({ ...one })) },
  };
}

/** The text between the rules is what a signature covers; everything else is this command's own word. */
export function reviewText(asked: ReviewRequest): readonly string[] {
  const { request, status, required, requestedBy, decisions, totals } = asked;
  const counted = decisions.filter((one) => one.counts && one.decision === "approve").length;
  const wanted = status === "waiting" ? `, ${counted} of ${count(required, "approval")}` : "";
  return [
    `run     ${request.run}`,
    `asked   by ${requestedBy} at ${new Date(requestedMs(asked)).toISOString()}`,
    `status  ${status.replaceAll("_", " ")}${wanted}`,
    ...decisions.map((one) => `decided ${decisionText(one)}`),
    ...requestHead(request),
    ...totalLines(totals),
  ];
}

export function requestedMs({ request }: ReviewRequest): number {
  return request.operations[0]?.operation.requested_at ?? 0;
}

function decisionText({ decision, approver, filed_ms: filed, counts }: FiledDecision): string {
  const at = new Date(filed).toISOString();
  return `${decision} by ${approver} at ${at}${counts ? "" : " (does not count any more)"}`;
}

export function totalLines({ amounts, without, unreadable }: Totals): readonly string[] {
  const sums = amounts.map(
    ({ currency, minor_units, operations }) =>
      `total   ${currency} ${minor_units} in minor units, ${count(operations, "operation")}`,
  );
  if (unreadable > 0) sums.push(`warn    ${count(unreadable, "amount")} cannot be read`);
  if (amounts.length > 0 && without > 0) {
    sums.push(`note    ${count(without, "operation")} without a reviewed amount`);
  }
  return sums;
}
