/** The shipped procedures that read evidence and write into a workpaper. Loads nothing: the table of commands reads it. */
export const WORKFLOWS = ["transaction-testing", "recalculation", "control-testing"] as const;
export type Workflow = (typeof WORKFLOWS)[number];

/** What each of them tests, for whoever has to choose one. */
export const WORKFLOW_NOTES: { readonly [workflow in Workflow]: string } = {
  "transaction-testing": "bills against what was ordered and delivered",
  recalculation: "depreciation that was booked against the same, calculated anew",
  "control-testing": "approvals of payments against limits of authority",
};

/** Who acts at a host for them: whoever this is cannot approve. */
export const ACTOR = "workflow-runner";
