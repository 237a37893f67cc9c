/** Payments with their approvals, and what they need. */
import { fieldsOf, listOf, oneOf, optional } from "./expressions.ts";

export const types = {
  tier: fieldsOf({
    tier: "text",
    above: optional("integer"),
    up_to: optional("integer"),
    required: listOf("text"),
  }),
  limits: fieldsOf({ currency: "text", tiers: listOf("tier") }),
  approval: fieldsOf({
    requirement: "text",
    evidence: "text",
    by: optional("text"),
    recorded: "date",
  }),
  payment: fieldsOf({
    id: "text",
    date: "date",
    amount: "integer",
    currency: "text",
    requested_by: optional("text"),
    approvals: listOf("approval"),
  }),
  evidenced: fieldsOf({ requirement: "text", evidence: "text" }),
  finding: fieldsOf({
    kind: oneOf("currency", "late_approval", "missing_approval", "self_approval"),
    requirement: optional("text"),
    left: "text",
    right: "text",
    evidence: "text",
  }),
  row: fieldsOf({
    key: "text",
    engagement: "text",
    evidence: "place",
    payment: "text",
    date: "date",
    amount: "integer",
    currency: "text",
    tier: optional("text"),
    evidenced: listOf("evidenced"),
    findings: listOf("finding"),
  }),
};
