import { STOP_REASONS, TERMINAL_STATES, WAITING_STATES } from "../../src/model/stop.ts";
import { code, GENERATED, markdownTable } from "../markdown.ts";

/** docs/states.md from the one table of states and stop reasons. */
export function outputs(): ReadonlyMap<string, string> {
  const ends = TERMINAL_STATES.map((state) => [
    code(state),
    STOP_REASONS[state].map((reason) => code(reason)).join(" "),
  ]);
  const text = [
    GENERATED,
    "",
    "# States and stop reasons",
    "",
    "The closed table of `src/model/stop.ts`. A run is in exactly one state; a run that has ended has exactly one",
    "reason, and only `verified` is success: a limit, a refusal or a failure never looks like one.",
    "",
    `States of a run that has not ended: ${WAITING_STATES.map((state) => code(state)).join(" ")}.`,
    "",
    markdownTable(["terminal state", "stop reasons"], ends),
    "",
  ].join("\n");
  return new Map([["docs/states.md", text]]);
}
