/**
 * The closed list of codes that a `RoteError` can carry: misuse by the caller, input that was refused, a store or a file
 * that does not serve. `docs/errors.md` is generated from it. How a run ends is no error (`stop.ts`), and problems
 * inside documents are diagnostics (`diagnostic.ts`).
 *
 * A code is never reused for something else.
 */
import { AGENT_CODES } from "./agent-codes.ts";
import { HOST_CODES } from "./host-codes.ts";
import type { Explanation } from "./stop.ts";
import { STORE_CODES } from "./store-codes.ts";

export const ERROR_CODES = {
  ...AGENT_CODES,
  ...HOST_CODES,
  answers_invalid: {
    meaning: "The file of scripted model answers has bad lines.",
    todo: "Correct the lines named.",
  },
  bad_encoding: { meaning: "A file is not UTF-8.", todo: "Save it as UTF-8." },
  bad_input: {
    meaning: "Inputs of a run do not fit the recipe's types; nothing was started.",
    todo: "Correct the inputs that `data.problems` names.",
  },
  bad_limit: {
    meaning: "A run limit has an unknown name or is no whole number from 0.",
    todo: "Correct what the message names.",
  },
  bad_limits: {
    meaning: "A limit of the memory is no whole number over 0.",
    todo: "State how many rows and bytes to keep.",
  },
  bad_model: {
    meaning:
      "A model's name, or a variable that belongs to its provider, cannot be used; nothing was sent.",
    todo: "Write `provider:model`; the message names what is wrong.",
  },
  bad_model_usage: {
    meaning: "Reported tokens are neither whole numbers from 0 nor null; the run waits as before.",
    todo: "Report what the provider reported, and null for what it did not.",
  },
  bad_phase: {
    meaning: "A run was to be observed in a phase that does not exist.",
    todo: "Use training, shadow or canary.",
  },
  bad_prices: {
    meaning: "A table of prices is not as it should be.",
    todo: "Correct what the message names; prices are decimal text.",
  },
  bad_reason: {
    meaning: "A demotion or signal has no reason that could be kept.",
    todo: "Say in a short text why.",
  },
  bad_requirement: {
    meaning: "A requirement asks for fewer clean runs than the least, or for no whole number.",
    todo: "Ask for as many as the least, or more.",
  },
  bad_share: {
    meaning: "The share of guided starts is not from 0 to 1.",
    todo: "Give a number from 0 to 1.",
  },
  bad_tag: {
    meaning: "A digest tag is not one word of visible ASCII.",
    todo: "Use a tag like `rote-plan/v1`.",
  },
  bad_usage: {
    meaning: "The command line says something that cannot be meant.",
    todo: "See `rote help` of the command.",
  },
  compiled_run: {
    meaning: "A compiled run was offered as evidence for what it used.",
    todo: "Observe guided runs only.",
  },
  cost_not_accepted: {
    meaning: "A model costs money and nobody has agreed to that; nothing was sent.",
    todo: "Agree to the cost, or use a model that is free.",
  },
  demo_failed: {
    meaning: "A step of the demonstration did not end as it should.",
    todo: "Run `rote doctor`; if all is well there, report it.",
  },
  disk_full: {
    meaning: "The disk is full; what was to be written is not.",
    todo: "Make room, then repeat the call.",
  },
  division_by_zero: {
    meaning: "An integer was divided by zero.",
    todo: "Inside a recipe this is an evaluation error and ends the run.",
  },
  document_too_large: {
    meaning: "A file is larger than what is read of its kind.",
    todo: "Give a smaller file.",
  },
  drawing_failed: {
    meaning: "The drawing package could not draw the graph.",
    todo: "Use `--format mermaid` or `--format dot`.",
  },
  environment_changed: {
    meaning: "The environment is not the one that the recipe is bound to; nothing was started.",
    todo: "Bind the recipe to the present environment; it has to qualify again.",
  },
  environment_invalid: {
    meaning: "A file of environment digests has wrong members.",
    todo: "Give policy, tools, credentials, evidence and host_configuration.",
  },
  event_refused: {
    meaning: "An event does not belong to the state of this run.",
    todo: "Fold the events of one run in their order, against its own recipe and verifier.",
  },
  file_exists: {
    meaning: "The file to be written is there already.",
    todo: "Name another one, or take away what is there.",
  },
  file_not_found: { meaning: "A file does not exist.", todo: "Check the path." },
  host_not_loaded: {
    meaning: "The module that describes the host could not be loaded, or describes none.",
    todo: "Export the options of `createHost`, or a function that returns them, as `default` or `host`.",
  },
  host_required: {
    meaning:
      "The recipe reads, acts or asks for approval, which needs a host; nothing was started.",
    todo: "Start it on a host.",
  },
  inexact: {
    meaning: "An exact integer division has a remainder.",
    todo: "Inside a recipe this is an evaluation error and ends the run.",
  },
  inputs_already_observed: {
    meaning: "A run with the same inputs was observed before.",
    todo: "Observe runs on different inputs.",
  },
  internal_error: { meaning: "Rote broke an invariant of its own.", todo: "Report it." },
  invalid_model_answer: {
    meaning: "A model's answer does not fit the type it is read as; the run waits as before.",
    todo: "Have the model answer again; the message names place and expected type.",
  },
  journal_key_missing: {
    meaning: "A tree head was to be signed by somebody who does not hold the journal's key.",
    todo: "Open the host; it signs what is due.",
  },
  journal_required: {
    meaning: "The recipe takes a checkpoint, which needs a journal; nothing was started.",
    todo: "Start it on a host with a journal.",
  },
  memory_closed: {
    meaning: "The memory was closed.",
    todo: "Open it again.",
  },
  memory_damaged: {
    meaning: "A stored record does not read back as what was written.",
    todo: "Restore the memory from a backup, or start a new one.",
  },
  memory_full: {
    meaning: "The memory keeps as much as it may, and none of it can be dropped.",
    todo: "Forget some procedure, or raise the limits.",
  },
  model_key_missing: {
    meaning: "A provider needs a key and its variable is not set; nothing was sent.",
    todo: "Set the variable named.",
  },
  model_unknown: {
    meaning: "No provider and model name is stated for a role; nothing was started.",
    todo: "Name the model behind every role in `models`.",
  },
  not_a_file: { meaning: "A path names something else than a file.", todo: "Check the path." },
  not_a_run: {
    meaning: "Something that is no run of this process was offered as one.",
    todo: "Pass the run that `start` returned.",
  },
  not_canonical: {
    meaning: "A value outside the closed JSON domain was to be digested.",
    todo: "Pass plain JSON data; the message names the place.",
  },
  not_constructible: {
    meaning: "A run was to be constructed by hand.",
    todo: "Use `procedure.start`.",
  },
  not_pending: {
    meaning: "An answer was given for something that does not wait for one; nothing changed.",
    todo: "Look at `run.pending`.",
  },
  not_qualified: {
    meaning: "The procedure does not qualify, or its qualification does not stand.",
    todo: "The message, and `memory.status`, say what is missing.",
  },
  not_readable: { meaning: "A file cannot be read.", todo: "Check its permissions." },
  not_writable: { meaning: "A file cannot be written.", todo: "Name another file." },
  nothing_kept: {
    meaning: "The memory keeps nothing of exactly this recipe, verifier and environment.",
    todo: "`rote memory status` lists what it keeps.",
  },
  other_environment: {
    meaning: "A run of another environment was offered as evidence.",
    todo: "Observe runs of this procedure in this environment.",
  },
  nothing_uncertain: {
    meaning: "The run has no uncertain operation to reconcile, or several and none was named.",
    todo: "`rote runs show` lists them.",
  },
  other_plan: {
    meaning: "A run of another recipe was offered as evidence.",
    todo: "Observe runs of this procedure.",
  },
  other_semantics: {
    meaning:
      "A run was made under another version of the operator semantics; it is left untouched.",
    todo: "Use the version of Rote that started it.",
  },
  other_verifier: {
    meaning: "A run under another verifier was offered as evidence.",
    todo: "Observe runs of this procedure with this verifier.",
  },
  out_of_range: {
    meaning: "A number is outside what an operation takes.",
    todo: "Inside a recipe this is an evaluation error and ends the run.",
  },
  package_incomplete: {
    meaning: "Files that belong to the package are not there.",
    todo: "Install Rote again.",
  },
  package_missing: {
    meaning: "An optional package that is needed is not installed.",
    todo: "Install the package named.",
  },
  phase_out_of_order: {
    meaning: "A phase before this one has too few clean runs.",
    todo: "Observe training, then shadow, then canary runs.",
  },
  procedure_full: {
    meaning: "As many runs of this procedure are kept as may be.",
    todo: "Qualify it, or forget it.",
  },
  provider_error: {
    meaning: "A language model gave no answer; the run waits as before.",
    todo: "Try again, or answer the boundary in another way.",
  },
  recipe_invalid: {
    meaning: "The recipe does not compile.",
    todo: "Correct what `data.diagnostics` lists; `rote check` shows it in the text.",
  },
  other_start: {
    meaning:
      "The name of a start that happens once stands for another recipe, verifier or inputs; nothing was started.",
    todo: "Choose another name, or start it with what it stands for.",
  },
  run_already_observed: { meaning: "The run was observed before.", todo: "Observe each run once." },
  run_busy: {
    meaning: "A run was to be moved from inside a call that is moving it.",
    todo: "Move a run from one place at a time.",
  },
  run_closed: { meaning: "The run was closed.", todo: "Start a new run." },
  run_ended: {
    meaning: "The run has ended, and stays as it is.",
    todo: "`rote runs show` tells how; start a new run when wanted.",
  },
  run_not_ended: {
    meaning: "A run that still goes on was offered as evidence.",
    todo: "Advance it to its end first.",
  },
  run_not_independently_verified: {
    meaning: "No verifier from outside the recipe judged the run.",
    todo: "Observe runs that ended verified.",
  },
  run_not_verified: {
    meaning: "A run that did not end verified was offered as evidence.",
    todo: "Observe runs that ended verified.",
  },
  sqlite_unavailable: {
    meaning: "The native module of better-sqlite3 does not load.",
    todo: "Run `npm rebuild better-sqlite3` with this Node.",
  },
  ...STORE_CODES,
  unbound_plan: {
    meaning: "The recipe names no environment: it can be checked and drawn, not started.",
    todo: "Bind it (`rote bind`, `bindRecipe`).",
  },
  unknown_key: {
    meaning: "A trust store does not list the key that was named.",
    todo: "Name the key by its public text, as the store lists it.",
  },
  unknown_node: {
    meaning: "The recipe has no node of that name; nothing changed.",
    todo: "Look at `run.pending`.",
  },
  unknown_request: {
    meaning: "There is no such request for approval in the store.",
    todo: "Look at `rote approvals list`.",
  },
  user_cancelled: {
    meaning: "The command was interrupted.",
    todo: "Run it again when it is wanted.",
  },
  verifier_invalid: {
    meaning: "The verifier does not compile against this recipe.",
    todo: "Correct what `data.diagnostics` lists.",
  },
  verifier_missing: {
    meaning: "No verifier was given, and none lies beside the recipe.",
    todo: "Name one with `--verifier`.",
  },
} as const satisfies { readonly [code: string]: Explanation };

export type ErrorCode = keyof typeof ERROR_CODES;
