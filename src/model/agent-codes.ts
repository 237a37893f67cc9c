/** Codes of errors about agent runs; part of `ERROR_CODES`. */
import type { Explanation } from "./stop.ts";

export const AGENT_CODES = {
  bad_goal: {
    meaning: "An agent was given nothing to do; nothing was started.",
    todo: "Say in words what is wanted.",
  },
  bad_script: {
    meaning: "A script of a model's replies has lines that cannot be read.",
    todo: "Correct the lines that the message names.",
  },
  other_kind: {
    meaning: "A run of a recipe was taken for one of an agent, or the other way round.",
    todo: "Use `rote agent` for agents and `rote runs` for recipes.",
  },
  other_model: {
    meaning:
      "An agent's run was begun with another model, or with markers of progress; it stays as it is.",
    todo: "Resume it with what it was begun with, or cancel it.",
  },
  replay_differs: {
    meaning:
      "From the same replies and results, this version decides otherwise than the record says.",
    todo: "Replay it with the version that recorded it; report it when that was this one.",
  },
  replay_miss: {
    meaning: "A replay would ask for something that is not on record; nothing was asked for.",
    todo: "The message names what was asked for and what is recorded; a changed run needs a model.",
  },
} as const satisfies Readonly<Record<string, Explanation>>;
