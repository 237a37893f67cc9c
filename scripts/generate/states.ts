import {
  AGENT_STATE_NOTES,
  AGENT_STATES,
  AGENT_TERMINAL_STATES,
  agentStateOf,
} from "../../src/model/agent-states.ts";
import {
  EXIT_CODES,
  exitOf,
  REASON_NOTES,
  STATE_NOTES,
  STOP_REASONS,
  TERMINAL_STATES,
  WAITING_STATES,
} from "../../src/model/stop.ts";
import { code, GENERATED, markdownTable } from "../markdown.ts";

/** docs/states.md from the one table of states, stop reasons and exit codes. */
export function outputs(): ReadonlyMap<string, string> {
  const waiting = WAITING_STATES.map((state) => [
    code(state),
    STATE_NOTES[state].meaning,
    STATE_NOTES[state].todo,
  ]);
  const ends = TERMINAL_STATES.map((state) => [
    code(state),
    STATE_NOTES[state].meaning,
    STATE_NOTES[state].todo,
    String(EXIT_CODES[exitOf(state)].code),
  ]);
  const reasons = TERMINAL_STATES.flatMap((state) =>
    STOP_REASONS[state].map((reason) => [
      code(reason),
      code(state),
      code(agentStateOf(reason)),
      REASON_NOTES[reason].meaning,
      REASON_NOTES[reason].todo,
    ]),
  );
  const agents = [...AGENT_STATES, ...AGENT_TERMINAL_STATES].map((state) => [
    code(state),
    AGENT_STATE_NOTES[state].meaning,
    AGENT_STATE_NOTES[state].todo,
  ]);
  const exits = Object.entries(EXIT_CODES).map(([name, exit]) => [
    String(exit.code),
    code(name),
    exit.meaning,
  ]);
  const text = [
    GENERATED,
    "",
    "# States, stop reasons, exit codes",
    "",
    "The closed table of `src/model/stop.ts`. A run is in exactly one state; a run that has ended has exactly one",
    "reason, and only `verified` is success: a limit, a refusal or a failure never looks like one. Where the gate",
    "refused, the reason says who can allow it; [gate.md](gate.md) has the codes of the single checks.",
    "",
    "## A run that has not ended",
    "",
    markdownTable(["state", "meaning", "what to do"], waiting),
    "",
    "## A run that has ended",
    "",
    markdownTable(["state", "meaning", "what to do", "exit code"], ends),
    "",
    "## An agent's run",
    "",
    "Its exit code is that of the state which its reason leads to in a procedure, and 8 as long as it has not ended.",
    "",
    markdownTable(["state", "meaning", "what to do"], agents),
    "",
    "## Stop reasons",
    "",
    markdownTable(["reason", "state", "of an agent", "meaning", "what to do"], reasons),
    "",
    "## Exit codes of the command",
    "",
    "From best to worst: a command over many runs ends with the worst of them.",
    "",
    markdownTable(["code", "name", "meaning"], exits),
    "",
  ].join("\n");
  return new Map([["docs/states.md", text]]);
}
