/**
 * The interpreter: `(program, state, event) -> {state, commands}`, pure.
 *
 * Owns what an event means. It does not know where events come from, does not keep them and performs no command;
 * that is the driver's part (`drive.ts`).
 *
 * - S1 The state given is never changed, and the state returned shares with it only what nobody changes.
 * - S2 Folding the same events always gives the same state. Pure values are not in events; they are computed again.
 * - S3 Answers to boundaries that wait at the same time may come in any order: the state after all of them is the same.
 *   Only an end cuts this short: of several failures the run keeps the one it met first.
 * - S4 After an end nothing changes any more; an event for an ended run is refused.
 * - S5 What cannot be admitted (a node that waits for nothing, an answer of the wrong type) throws and leaves no trace.
 */
import { assertNever, invariant } from "../base/assert.ts";
import { RoteError } from "../base/error.ts";
import { readValue } from "../expression/index.ts";
import { SEMANTICS_VERSION } from "../model/plan.ts";
import type { Value } from "../model/value.ts";
import { beginReady } from "./begin.ts";
import { resultContext } from "./context.ts";
import { type Draft, draftOf, endRun, evaluate, type Pause, stateFrom } from "./draft.ts";
import type {
  CheckpointedEvent,
  RunCommand,
  RunEvent,
  StartedEvent,
  StoppedEvent,
} from "./event.ts";
import { NO_EXTENT } from "./extent.ts";
import { approved, checkpointed, effectSettled, modelAnswered, readSettled } from "./outside.ts";
import { nodeNamed, type Program } from "./program.ts";
import { IDLE, type RunState } from "./state.ts";

export interface Stepped {
  readonly state: RunState;
  /** What is newly wanted from outside, in plan order. */
  readonly commands: readonly RunCommand[];
  /** True when `pause` stopped the work: the only event that may follow is `stopped`. */
  readonly paused: boolean;
}

/**
 * Works one event into a state and takes every node that has become ready. `state` is null before `started`.
 *
 * @throws RoteError `event_refused` `not_pending` `unknown_node` `invalid_model_answer` when the event does not
 * belong to this state (S5).
 */
export function step(
  program: Program,
  state: RunState | null,
  event: RunEvent,
  pause?: Pause,
): Stepped {
  if (event.type === "started") {
    if (state !== null) throw refused("the run has already started");
    return work(draftOf(program, initialState(program, event), pause));
  }
  if (state === null) throw refused("the run has not started");
  if (state.end !== null) throw refused(`the run has ended (${state.end.reason})`);
  const draft = draftOf(program, state, pause);
  accept(draft, event);
  return work(draft);
}

function accept(draft: Draft, event: Exclude<RunEvent, StartedEvent>): void {
  switch (event.type) {
    case "model_answered":
      modelAnswered(draft, event);
      return;
    case "read_settled":
      readSettled(draft, event);
      return;
    case "approved":
      approved(draft, event);
      return;
    case "effect_settled":
      effectSettled(draft, event);
      return;
    case "checkpointed":
      acceptCheckpoint(draft, event);
      return;
    case "stopped":
      stopped(draft, event);
      return;
    default:
      assertNever(event, "event");
  }
}

function acceptCheckpoint(draft: Draft, event: CheckpointedEvent): void {
  const node = nodeNamed(draft.program, event.node);
  const expression = node.step.kind === "checkpoint" ? node.step.value : null;
  const value = expression === null ? null : evaluate(draft, node, expression, draft.sources, null);
  if (value !== undefined) checkpointed(draft, event, value);
}

function stopped(draft: Draft, event: StoppedEvent): void {
  const { reason, message, code, evaluations } = event;
  if (evaluations !== draft.evaluations) {
    const found = `${draft.evaluations} evaluations`;
    throw refused(`the run was stopped after ${evaluations} evaluations and has made ${found}`);
  }
  const failure = { reason, node: null, message };
  endRun(draft, code === undefined ? failure : { ...failure, code }, null);
}

function work(draft: Draft): Stepped {
  if (draft.end === null && !draft.paused) beginReady(draft);
  if (draft.end === null && !draft.paused) judge(draft);
  // An ended run wants nothing more.
  const commands = draft.end === null ? draft.commands : [];
  return { state: stateFrom(draft), commands, paused: draft.paused };
}

/** When every node is settled, the verifier alone decides whether the run is verified. */
function judge(draft: Draft): void {
  const { plan, verifier } = draft.program;
  if (draft.settled < plan.nodes.length) return;
  const result = draft.outputs[plan.terminal] ?? null;
  const context = resultContext(
    draft.program,
    { inputs: draft.before.inputs, nodes: draft.nodes },
    result,
  );
  const sources = { inputs: [context], nodes: [] };
  const verdict = evaluate(draft, null, verifier.result, sources, "verifier_rejected");
  if (verdict === undefined) return;
  if (verdict === true) {
    draft.end = { reason: "completed", failure: null };
    return;
  }
  const message = "the verifier's rule is false for the completed result";
  const pointer = verifier.result.at;
  endRun(draft, { reason: "verifier_rejected", node: null, message, pointer }, null);
}

function initialState(program: Program, event: StartedEvent): RunState {
  const { plan, verifier, graph } = program;
  if (event.plan !== plan.digest || event.verifier !== verifier.digest) {
    throw refused("the run belongs to another recipe or verifier");
  }
  if (event.semantics !== SEMANTICS_VERSION) {
    const message = `the run was started under operator semantics ${event.semantics}, this is ${SEMANTICS_VERSION}`;
    throw new RoteError("other_semantics", message);
  }
  const inputs = plan.inputs.map((input): Value => {
    const json = event.inputs[input.name];
    const read = readValue(input.type, json ?? null);
    if (!read.ok) throw refused(`input "${input.name}" does not fit its type`);
    return read.value;
  });
  return {
    mode: event.mode,
    limits: event.limits,
    inputs,
    outputs: plan.nodes.map(() => null),
    nodes: plan.nodes.map(() => IDLE),
    missing: graph.missing,
    ready: graph.roots,
    waiting: [],
    settled: 0,
    evaluations: 0,
    extent: NO_EXTENT,
    steps: 0,
    tokens: 0,
    readsInFlight: 0,
    effectsInFlight: 0,
    end: null,
  };
}

function refused(why: string): RoteError {
  return new RoteError("event_refused", why);
}

/**
 * The state after the given events. A run that was stopped in the middle of evaluating is stopped at the same place.
 *
 * `afterEnd` says what to do with events behind the end: a journal may hold outcomes of what was in flight then.
 *
 * @throws RoteError as `step`; also for an empty list.
 */
export function fold(
  program: Program,
  events: Iterable<RunEvent>,
  afterEnd: "refuse" | "ignore" = "refuse",
): Stepped {
  const list = [...events];
  const end = list.findLast((event) => event.type === "stopped");
  // Operations in flight may have been recorded between the evaluation at which the run was stopped and its end.
  const pause: Pause | undefined =
    end === undefined ? undefined : (evaluations) => evaluations >= end.evaluations;
  let stepped: Stepped | null = null;
  for (const event of list) {
    if (stepped?.paused === true && event.type !== "stopped") continue;
    stepped = step(program, stepped?.state ?? null, event, pause);
    if (afterEnd === "ignore" && stepped.state.end !== null) return stepped;
  }
  if (stepped === null) throw refused("there are no events");
  invariant(!stepped.paused, "a fold is never left in the middle");
  return stepped;
}
