/**
 * The closed list of what an audit can find. Each code has a meaning and says what to do; docs/formats.md shows them. A
 * code is never reused for something else.
 */

import { AGENT_FINDING_CODES } from "./agent-finding-codes.ts";
import { ASK_FOR_ALL, ASK_HOST, CHANGED, type Explained } from "./explained.ts";

export const FINDING_CODES = {
  nothing_to_verify: {
    severity: "error",
    meaning: "There is no run in the record: nothing was verified, and silence is no proof.",
    todo: "Check that this is the right bundle, and that it was written to its end.",
  },
  file_missing: {
    severity: "error",
    meaning: "A file that every bundle has is not there.",
    todo: ASK_FOR_ALL,
  },
  file_unknown: {
    severity: "warning",
    meaning: "A file that nothing in the record names: it was verified by nothing.",
    todo: "Do not take it for a part of the record; ask who put it there.",
  },
  file_malformed: {
    severity: "error",
    meaning: "A file does not have the form it must have.",
    todo: ASK_FOR_ALL,
  },
  file_too_large: {
    severity: "error",
    meaning: "A file has more bytes than an audit reads of it, which is more than any host writes.",
    todo: "Ask for a copy from the host itself; somebody may have filled this one up.",
  },
  line_unfinished: {
    severity: "error",
    meaning: "The last line does not end: the file was cut off.",
    todo: ASK_FOR_ALL,
  },
  line_malformed: {
    severity: "error",
    meaning: "A line is not an entry: not JSON, too long, or other members than an entry has.",
    todo: CHANGED,
  },
  line_not_canonical: {
    severity: "error",
    meaning: "A line says what an entry may say in other bytes than its canonical ones.",
    todo: CHANGED,
  },
  entry_unknown: {
    severity: "error",
    meaning:
      "An entry has a type or a version that this auditor does not know, or stands on the wrong chain.",
    todo: "Use the auditor of the version that wrote it; if there is none, treat the record as changed.",
  },
  body_malformed: {
    severity: "error",
    meaning: "The body of an entry has unknown, missing or ill-typed members.",
    todo: CHANGED,
  },
  chain_genesis: {
    severity: "error",
    meaning: "A chain does not start at its beginning. No record can be shortened lawfully.",
    todo: ASK_FOR_ALL,
  },
  chain_gap: {
    severity: "error",
    meaning: "Entries of a chain are missing.",
    todo: ASK_FOR_ALL,
  },
  chain_repeat: {
    severity: "error",
    meaning: "An entry's place in its chain was taken before: it was repeated or moved.",
    todo: CHANGED,
  },
  chain_link: {
    severity: "error",
    meaning: "An entry does not name the hash of the one before it in its chain.",
    todo: CHANGED,
  },
  epoch_fell: {
    severity: "error",
    meaning: "An entry was written under a lease that had been overtaken.",
    todo: ASK_HOST,
  },
  epoch_rose: {
    severity: "error",
    meaning: "A process wrote to a run without saying first that it took the run over.",
    todo: ASK_HOST,
  },
  time_fell: {
    severity: "error",
    meaning: "An entry is older than the one before it in the log.",
    todo: CHANGED,
  },
  head_malformed: {
    severity: "error",
    meaning: "A tree head is not a signed note of the form it must have.",
    todo: CHANGED,
  },
  head_signature: {
    severity: "error",
    meaning: "A tree head is not signed by exactly one key that may sign this journal there.",
    todo: CHANGED,
  },
  head_origin: {
    severity: "error",
    meaning: "A tree head is of another journal.",
    todo: "Check that the files of the bundle belong together.",
  },
  head_order: {
    severity: "error",
    meaning: "A tree head is not larger than the one before it.",
    todo: CHANGED,
  },
  head_root: {
    severity: "error",
    meaning: "A tree head is of other entries than those that are here.",
    todo: CHANGED,
  },
  head_beyond: {
    severity: "error",
    meaning: "A tree head is of more entries than there are: the end was cut off.",
    todo: ASK_FOR_ALL,
  },
  head_missing: {
    severity: "error",
    meaning:
      "Behind the end of a run, and never more than 127 entries apart, tree heads must stand, and one does not.",
    todo: ASK_FOR_ALL,
  },
  tail_uncovered: {
    severity: "warning",
    meaning: "No tree head covers the last entries: nobody signed that they are the record.",
    todo: "Export again after the host has closed or come to rest.",
  },
  anchor_refused: {
    severity: "error",
    meaning: "A tree head that the auditor brought along is not a valid one of this journal.",
    todo: "Check where it came from.",
  },
  anchor_differs: {
    severity: "error",
    meaning:
      "A tree head that was kept outside contradicts the record: it was rewritten or cut off.",
    todo: "Treat the record as replaced; the outside copy is older than the change.",
  },
  host_start: {
    severity: "error",
    meaning: "The host's chain does not begin with its opening and a trust store.",
    todo: ASK_FOR_ALL,
  },
  other_host: {
    severity: "error",
    meaning: "Something is of another host than the one that the auditor's trust store is for.",
    todo: "Check that bundle and trust store belong together.",
  },
  trust_refused: {
    severity: "error",
    meaning:
      "A version of the trust store is malformed, wrongly signed, or does not follow from the one before.",
    todo: "Signatures under it count for nothing. Ask who holds the root keys.",
  },
  trust_unproven: {
    severity: "error",
    meaning: "Nothing that the auditor brought along vouches for a version of the trust store.",
    todo: "Get the trust store, with all its versions, from its owner and not from the bundle.",
  },
  trust_differs: {
    severity: "error",
    meaning: "The record has another trust store under the same version than the auditor.",
    todo: "Ask who holds the root keys; whoever wrote the record trusted other keys.",
  },
  trust_unlisted: {
    severity: "error",
    meaning: "The file of trust stores and the host's chain do not tell of the same versions.",
    todo: CHANGED,
  },
  run_start: {
    severity: "error",
    meaning: "A run does not begin with its one start.",
    todo: ASK_FOR_ALL,
  },
  ...AGENT_FINDING_CODES,
  run_after_end: {
    severity: "error",
    meaning: "Something stands behind the end of a run.",
    todo: CHANGED,
  },
  run_end_differs: {
    severity: "error",
    meaning: "A run ended in a state that its reason or its receipts contradict.",
    todo: ASK_HOST,
  },
  document_missing: {
    severity: "warning",
    meaning:
      "A document that an operation was judged by is not in the record, so the judgement cannot be repeated.",
    todo: "Get it from the host's owner and compare its digest.",
  },
  document_malformed: {
    severity: "error",
    meaning: "A document that an operation was judged by is not what its digest or its form says.",
    todo: CHANGED,
  },
  request_differs: {
    severity: "error",
    meaning:
      "What was shown for approval is not what the request says: operations, their digests or the text.",
    todo: "Treat approvals of it as given for something else.",
  },
  decision_refused: {
    severity: "error",
    meaning: "A decision that the host filed is not validly signed by an approver.",
    todo: ASK_HOST,
  },
  approval_unknown: {
    severity: "error",
    meaning: "An approval that was used is not on the host's chain, or no request asked for it.",
    todo: ASK_HOST,
  },
  approval_invalid: {
    severity: "error",
    meaning: "An approval that was used does not approve this, or did not count at that time.",
    todo: ASK_HOST,
  },
  approval_reused: {
    severity: "error",
    meaning: "An approval was used twice for one operation.",
    todo: ASK_HOST,
  },
  approval_missing: {
    severity: "error",
    meaning: "An operation was admitted with fewer approvals than its policy wants.",
    todo: ASK_HOST,
  },
  approval_overruled: {
    severity: "error",
    meaning: "An operation was admitted although an approver had rejected it.",
    todo: ASK_HOST,
  },
  operation_differs: {
    severity: "error",
    meaning: "An admitted operation is not the one that its digest names.",
    todo: CHANGED,
  },
  operation_foreign: {
    severity: "error",
    meaning:
      "An operation is of another run, recipe, verifier, environment or host than the run it stands in.",
    todo: ASK_HOST,
  },
  operation_repeated: {
    severity: "error",
    meaning: "The same place of a run was admitted twice.",
    todo: ASK_HOST,
  },
  key_repeated: {
    severity: "error",
    meaning:
      "An effect was admitted whose natural key was taken: the same deed may have been done twice.",
    todo: "Check with the target how often it was done.",
  },
  trust_outdated: {
    severity: "error",
    meaning:
      "An operation was judged by another trust store than the one in force, or by an expired one.",
    todo: ASK_HOST,
  },
  warrant_refused: {
    severity: "error",
    meaning: "An operation was admitted that its warrants do not cover.",
    todo: ASK_HOST,
  },
  intent_refused: {
    severity: "error",
    meaning: "An operation was admitted that what was asked for does not need.",
    todo: ASK_HOST,
  },
  tool_refused: {
    severity: "error",
    meaning: "An operation was admitted whose tool was not reviewed as what it was used for.",
    todo: ASK_HOST,
  },
  policy_refused: {
    severity: "error",
    meaning: "An operation was admitted by rules that its policy does not have, or that deny it.",
    todo: ASK_HOST,
  },
  budget_differs: {
    severity: "error",
    meaning: "What was reserved for an operation is not what it costs.",
    todo: ASK_HOST,
  },
  budget_exceeded: {
    severity: "error",
    meaning: "Operations were admitted beyond a limit.",
    todo: ASK_HOST,
  },
  receipt_signature: {
    severity: "error",
    meaning: "A receipt is not signed by exactly one key that may sign receipts there.",
    todo: "It proves nothing; ask who holds the receipt key.",
  },
  receipt_malformed: {
    severity: "error",
    meaning: "A receipt's statement has another form than a receipt has.",
    todo: "It proves nothing that this auditor could name.",
  },
  receipt_differs: {
    severity: "error",
    meaning:
      "A receipt says something else than the admission it is about, or than the entry it stands in.",
    todo: CHANGED,
  },
  receipt_unmatched: {
    severity: "error",
    meaning:
      "A receipt is about no admission that waits for one, or a refusal about an operation that is not kept.",
    todo: CHANGED,
  },
  receipt_missing: {
    severity: "error",
    meaning: "A run ended with an admission that no receipt answers.",
    todo: "Check with the target whether it was done.",
  },
  result_differs: {
    severity: "error",
    meaning: "A receipt is about another result than the one that is kept.",
    todo: CHANGED,
  },
  times_disagree: {
    severity: "warning",
    meaning: "A receipt's times are far from those of the entries around it: a clock was set.",
    todo: "Do not rely on the times of this receipt.",
  },
  proof_invalid: {
    severity: "error",
    meaning:
      "A receipt's proof does not show that its entry is in the log of the tree head beside it.",
    todo: "The receipt alone is not shown to be on record; audit the whole bundle.",
  },
  subject_differs: {
    severity: "error",
    meaning: "A valid receipt is about something else than was asked for.",
    todo: "Ask for the receipt of the run and operation that you mean.",
  },
  reconciliation_refused: {
    severity: "error",
    meaning:
      "A reconciliation is not validly signed, not of this host, or not of one uncertain operation.",
    todo: ASK_HOST,
  },
  blob_missing: {
    severity: "error",
    meaning: "Something that an entry names by digest is not in the bundle.",
    todo: ASK_FOR_ALL,
  },
  blob_differs: {
    severity: "error",
    meaning: "Something that an entry names by digest has other bytes, or bytes of another form.",
    todo: CHANGED,
  },
} as const satisfies { readonly [code: string]: Explained };

export type FindingCode = keyof typeof FINDING_CODES;
