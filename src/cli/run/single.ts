import type { Session } from "../session.ts";
import { type Call, type Outcome, switchOption } from "../spec.ts";
import type { JsonObject } from "./inputs.ts";
import { runOnce } from "./once.ts";
import { runJson, runText, type Telling } from "./told.ts";

/** One run, told in full. */
export async function runSingle(
  call: Call,
  session: Session,
  inputs: JsonObject,
): Promise<Outcome> {
  const { terminal, json, options } = call;
  const wait = switchOption(options, "wait");
  const ended = await runOnce(session, inputs, { terminal, wait, tell: !json });
  const { at, phase, ready } = session;
  const telling: Telling = {
    at,
    phase,
    why: ended.again ? "the run that was started under this name" : session.why,
    note: ready.note,
  };
  return { exit: ended.exit, json: runJson(ended, telling), text: runText(ended, telling) };
}
