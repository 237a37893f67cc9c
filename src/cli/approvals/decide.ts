/** Approving and rejecting: what is shown, confirmed and signed is one and the same text. */

import { type Decision, type ReviewRequest, refuseDecided } from "../../app/review-request.ts";
import type { JsonValue } from "../../base/json.ts";
import { quoted } from "../../base/quoted.ts";
import { fault, usageFault } from "../fault.ts";
import { writeDocument } from "../files.ts";
import { resumeAsked } from "../next.ts";
import { openKey } from "../passphrase.ts";
import { type Call, type Outcome, switchOption, textOption } from "../spec.ts";
import { count } from "../table.ts";
import { type OpenReview, withReview } from "./review.ts";
import { reviewJson, reviewText } from "./told.ts";

export async function decide(call: Call, decision: Decision): Promise<Outcome> {
  const { options } = call;
  const [nonce = ""] = call.arguments;
  const keyFile = textOption(options, "key");
  const approver = textOption(options, "as");
  if (keyFile === undefined || approver === undefined) {
    throw usageFault(
      `rote ${call.command} signs with the reviewer's own key, in the reviewer's name`,
      "give --key FILE --as NAME",
    );
  }
  const seconds = secondsOf(textOption(options, "seconds"));
  return await withReview(call, async (open) => {
    const { review } = open;
    const asked = review.find(nonce);
    refuseDecided(asked, decision);
    refuseOtherText(asked, textOption(options, "display"));
    await confirm(call, asked, decision, approver);
    const key = await openKey(call, keyFile);
    const signing = { approver, decision, ...(seconds === undefined ? {} : { seconds }) };
    const envelope = review.sign(asked, key, signing);
    const out = textOption(options, "out");
    if (out === undefined) await review.file(envelope);
    else
      writeDocument(out, `${JSON.stringify(envelope, null, 2)}\n`, switchOption(options, "force"));
    return told(asked, decision, approver, envelope, out, open);
  });
}

function told(
  asked: ReviewRequest,
  decision: Decision,
  approver: string,
  envelope: JsonValue,
  out: string | undefined,
  { file }: OpenReview,
): Outcome {
  const { nonce, operations } = asked.request;
  const host = file ?? "HOST_FILE";
  const given = out === undefined ? "" : ` --approval ${quoted(out)}`;
  const resume = `${resumeAsked(asked.request, host)}${given}`;
  const where = out === undefined ? "filed" : `written to ${out}, not filed`;
  return {
    exit: "verified",
    json: {
      decision,
      approver,
      filed: out === undefined,
      ...(out === undefined ? {} : { out }),
      envelope,
      request: reviewJson(asked),
    },
    text: [
      `ok ${decision} of ${count(operations.length, "operation")} by ${approver}, ${where} (request ${nonce})`,
      decision === "reject"
        ? `hint: the run ends when it is next moved:  ${resume}`
        : `hint: a process that waits goes on by itself; otherwise, within the time that the signature is good for:  ${resume}`,
    ].join("\n"),
  };
}

/** Whoever has read the text elsewhere signs that text, and no other. */
function refuseOtherText({ request }: ReviewRequest, display: string | undefined): void {
  if (display === undefined || display === request.display) return;
  throw fault(
    "approval_refused",
    `the request shows ${request.display}, not ${display}; nothing was signed`,
    "look at it again with rote approvals show",
    { fault: "wrong_display", display: request.display },
  );
}

/** Shows what is to be signed, and has it confirmed unless --yes says that it was read before. */
async function confirm(
  { options, terminal, json, command }: Call,
  asked: ReviewRequest,
  decision: Decision,
  approver: string,
): Promise<void> {
  const text = `${reviewText(asked).join("\n")}\n`;
  if (!json) terminal.print(text);
  if (switchOption(options, "yes")) return;
  if (terminal.ask === null) {
    throw usageFault(
      `rote ${command} asks for confirmation, and nobody is at the terminal`,
      "read it with rote approvals show, then add --yes, best together with --display DIGEST",
    );
  }
  if (json) terminal.note(text);
  const what = count(asked.request.operations.length, "operation");
  const answer = await terminal.ask(`Type yes to ${decision} ${what} as ${approver}: `, false);
  if (answer.trim() === "yes") return;
  throw fault("user_cancelled", "not confirmed; nothing was signed");
}

function secondsOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9][0-9]{0,2}$/.test(text) && Number(text) <= 900) return Number(text);
  throw usageFault(`--seconds ${text} is no number from 1 to 900`, "leave it out for 900");
}
