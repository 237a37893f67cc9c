/** What an audit finds in runs of agents; part of the closed list in `finding-codes.ts`. */
import { ASK_HOST, type Explained } from "./explained.ts";

export const AGENT_FINDING_CODES = {
  agent_turn_differs: {
    severity: "error",
    meaning: "A turn of an agent's model does not follow from the one before it.",
    todo: ASK_HOST,
  },
  agent_request_differs: {
    severity: "error",
    meaning:
      "An agent's model was asked with something else than what the entries before it come to.",
    todo: "Rely on nothing that the model is said to have been told or to have answered from there on.",
  },
  agent_family_differs: {
    severity: "error",
    meaning: "An agent's run does not name its parent and their limits as the record has them.",
    todo: ASK_HOST,
  },
  agent_went_on: {
    severity: "error",
    meaning: "An agent's run went on behind a limit, or a rule that it began with, that ends it.",
    todo: ASK_HOST,
  },
  agent_end_unsupported: {
    severity: "error",
    meaning: "An agent's run ended by a reason that its entries do not show.",
    todo: "Read what its entries show; do not rely on the reason that the host gives.",
  },
  call_unasked: {
    severity: "error",
    meaning:
      "An operation of an agent, admitted, shown or refused, is not a call that its model asked for in that turn.",
    todo: ASK_HOST,
  },
  call_repeated: {
    severity: "error",
    meaning: "A call of an agent's model was made again that was under way or had its outcome.",
    todo: "Check with the target how often it was done.",
  },
} as const satisfies { readonly [code: string]: Explained };
