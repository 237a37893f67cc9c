import {
  GATE_CODES,
  type GateCode,
  HOST_WORDS,
  type HostWord,
  OUTCOMES,
  type Outcome,
} from "../../src/model/operation.ts";
import { PROFILE_PERMISSIONS, PROFILES } from "../../src/model/policy.ts";
import { ROLES, type Role } from "../../src/model/trust.ts";
import type { Outputs } from "../generate.ts";
import { code, markdownTable, replacePart, withGeneratedPart } from "../markdown.ts";

const DOCUMENT = "docs/gate.md";

const REFUSALS = {
  identity_missing: "The host says of nobody that they act.",
  identity_not_holder: "Who acts does not hold the key that the warrant was given to.",
  identity_changed: "Another identity acts than the one that was shown to the approver.",
  trust_expired: "The trust store is past its date.",
  trust_changed: "The journal knows a later version of the trust store than this process.",
  intent_missing: "The policy wants an intent, and there is none, or it says nothing.",
  intent_not_covered: "What was asked for does not need this tool.",
  intent_changed: "The intent is another one than was shown.",
  warrant_missing: "The policy wants a warrant, and there is none.",
  warrant_invalid:
    "A warrant of the chain is malformed, wrongly signed, wider than its parent, or not valid now.",
  warrant_not_covered:
    "The warrant does not name the tool, or its constraints exclude the arguments.",
  warrant_spent: "As many reads or effects as the warrant allows were admitted.",
  warrant_changed: "The warrant is another one than was shown.",
  tool_unknown: "The host has no tool of that name.",
  tool_not_reviewed: "The tool was registered without a review.",
  tool_review_invalid:
    "The review is malformed, wrongly signed, of another host or tool, or not valid now.",
  tool_definition_changed: "The tool's definition is not the one that was reviewed.",
  tool_wrong_category: "A read node named an effect, or the other way round.",
  tool_arguments_invalid: "The tool finds fault with the arguments, or cannot tell.",
  policy_denied: "A rule denies it, or nothing grants it.",
  policy_error: "A permission cannot be read, or the operation names none.",
  policy_changed: "The policy is another one than was shown.",
  security_denied: "Operation security says no.",
  security_error: "Operation security threw, answered later, or with another word.",
  budget_exceeded: "It would be more than a budget allows.",
  budget_changed: "The limits are others than were shown.",
  amount_unreadable: "The review says where the amount stands, and there is none there.",
  before_effect_refused: "The verifier's rule before effects is not true of it.",
  verifier_changed: "The verifier is another one than was shown.",
  approval_rejected: "An approver rejected it.",
  approval_expired: "The request was not answered in the time that the host gives.",
  environment_changed: "The host is not any more what the recipe was bound to.",
  not_qualified: "The qualification of the compiled run does not stand any more.",
  arguments_changed: "The arguments are others than were shown.",
  approval_consumed: "The approval was used for this operation before.",
  duplicate_key: "An effect of this tool with this natural key was admitted before.",
  duplicate_operation: "This place of the run was admitted before.",
  clock_behind: "The clock is behind the log, so nothing can be said of what is valid now.",
} satisfies { readonly [name in GateCode]: string };

const MEANINGS = {
  done: "The tool answered, and its answer is kept by digest.",
  failed_before_effect:
    "Nothing happened at the target, by the word of the tool or of a fenced probe.",
  refused: "The gate refused it, or a read was answered with no or broke.",
  uncertain: "It was admitted, and what became of it is not known. It is never dispatched again.",
} satisfies { readonly [name in Outcome]: string };

const WORDS = {
  cancelled: "The run was cancelled before or while the tool was at work.",
  tool_changed: "The tool was not any more what had been admitted; it was not called.",
  timeout: "There was no answer within `callMs`.",
  tool_threw: "The tool broke.",
  result_malformed: "The result is not JSON that can be kept.",
  answer_malformed: "The answer has none of the forms of an answer.",
  interrupted: "The process of a repeatable read ended before there was an answer.",
  no_outcome: "The process of an operation ended before there was an answer, and nobody can tell.",
  absent: "The target never saw it, and refuses it from now on.",
} satisfies { readonly [name in HostWord]: string };

const SIGNS = {
  journal: "tree heads; a key of the host",
  receipt: "receipts; a key of the host",
  approver: "approvals and rejections",
  warrant_issuer: "root warrants",
  tool_reviewer: "reviews of tools",
  reconciler: "what was found out about uncertain operations",
  witness: "nothing yet; the name is kept for those who countersign tree heads",
} satisfies { readonly [name in Role]: string };

/** The closed lists of the gate, inside of docs/gate.md. */
export function outputs(): Outputs {
  const refusals = Object.entries(GATE_CODES).map(([name, reason]) => [
    code(name),
    code(reason),
    REFUSALS[name as GateCode],
  ]);
  const permitted = (rules: readonly string[]) => rules.map(code).join(" ") || "nothing";
  const profiles = PROFILES.map((profile) => {
    const { grants, approvable, deny } = PROFILE_PERMISSIONS[profile];
    return [code(profile), permitted(grants), permitted(approvable), permitted(deny)];
  });
  const tables = {
    refusals: markdownTable(["code", "the run ends with", "meaning"], refusals),
    profiles: markdownTable(["profile", "grants", "asks", "denies"], profiles),
    outcomes: markdownTable(
      ["outcome", "meaning"],
      OUTCOMES.map((name) => [code(name), MEANINGS[name]]),
    ),
    words: markdownTable(
      ["code", "meaning"],
      HOST_WORDS.map((name) => [code(name), WORDS[name]]),
    ),
    roles: markdownTable(
      ["role", "signs"],
      ROLES.map((name) => [code(name), SIGNS[name]]),
    ),
  };
  const [first, ...rest] = Object.entries(tables);
  const start = first === undefined ? "" : withGeneratedPart(DOCUMENT, ...first);
  const text = rest.reduce((all, [name, table]) => replacePart(all, DOCUMENT, name, table), start);
  return new Map([[DOCUMENT, text]]);
}
