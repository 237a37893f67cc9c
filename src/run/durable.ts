/**
 * The driver of a run at a host: records each event in the journal before it takes effect, and performs what the
 * interpreter wants through the gate.
 *
 * - H1 A process that lost its lease writes nothing more: the first append tells it, and it stops.
 * - H2 The last entry of an ended run says so, with the signed tree head in the same commit.
 * - H3 Reads that are ready run together; effects one at a time, while nothing else is in flight.
 */

import { canonicalBytes } from "../base/canonical.ts";
import { digestOf, sha256Hex } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import { environmentDigest } from "../compile/environment.ts";
import {
  claimedNonce,
  differingParts,
  environmentFor,
  type HostParts,
  refusedApproval,
  toolsOf,
} from "../host/index.ts";
import type { Environment } from "../model/environment.ts";
import { HOST_CHAIN } from "../model/journal.ts";
import type { ModelAnswer } from "../model/run.ts";
import type { RunStateName } from "../model/stop.ts";
import type { Append } from "../ports/journal.ts";
import { checkApproval } from "../trust/approval.ts";
import { type Attached, alone } from "./attached.ts";
import {
  active,
  answerFor,
  type Drive,
  feed,
  type Happening,
  isDenied,
  learnedAnswers,
  startedEvent,
  stateName,
  stop,
} from "./drive.ts";
import { keep, settledEvent } from "./entries.ts";
import type { RunEvent } from "./event.ts";
import { resultOf } from "./evidence.ts";
import { fence, operate, type Turn } from "./operations.ts";
import { outstanding } from "./outstanding.ts";
import { boundEnvironment } from "./program.ts";

export interface DurableAdvance {
  /** When given, must equal the host's own and the recipe's. */
  readonly environment?: Environment;
  readonly model?: ModelAnswer;
  /** A signed decision, as its envelope, about `run.pendingRequest`. */
  readonly approval?: JsonValue;
}

/** @throws RoteError `run_busy` `lease_lost` `approval_refused` and as `answerFor`: the run waits as before */
export function advanceDurably(
  drive: Drive,
  attached: Attached,
  options: DurableAdvance,
): Promise<RunStateName> {
  return alone(drive, attached, async () => {
    if (drive.state === null || drive.state.end === null) await forward(drive, attached, options);
    return stateName(drive);
  });
}

/** Ends the run where it stands. An effect in flight is uncertain, and then that is how the run ends. */
export async function cancelDurably(drive: Drive, attached: Attached): Promise<RunStateName> {
  if (attached.busy) {
    attached.cancel.abort();
    return stateName(drive);
  }
  return alone(drive, attached, async () => {
    if (drive.state?.end) return stateName(drive);
    await put(drive, attached, stop(drive, "user_cancelled", "the run was cancelled"));
    await finish(drive, attached);
    return stateName(drive);
  });
}

async function forward(
  drive: Drive,
  attached: Attached,
  { environment, model, approval }: DurableAdvance,
): Promise<void> {
  const changed = changedParts(drive, attached.parts, environment);
  if (changed.length > 0) {
    const message = `the environment differs from the recipe's: ${changed.join(", ")}`;
    await put(drive, attached, stop(drive, "environment_changed", message));
  } else if (!(await denied(drive, attached))) {
    if (drive.state === null) await put(drive, attached, feed(drive, startedEvent(drive)));
    if (approval !== undefined) await fileApproval(drive, attached, approval);
    if (model !== undefined) await put(drive, attached, feed(drive, answerFor(drive, model)));
    await goOn(drive, attached);
  }
  if (drive.state?.end) await finish(drive, attached);
}

async function goOn(drive: Drive, attached: Attached): Promise<void> {
  for (let moved = true; moved && !drive.state?.end; ) {
    moved = await move(drive, attached);
    if (drive.state?.end) return;
    if (attached.cancel.signal.aborted) {
      await put(drive, attached, stop(drive, "user_cancelled", "the run was cancelled"));
      return;
    }
    if (moved && (await denied(drive, attached))) return;
  }
}

/** Does whatever can be done now; false when everything waits for somebody. */
async function move(drive: Drive, attached: Attached): Promise<boolean> {
  const { program, state } = drive;
  if (state === null) return false;
  for (const event of learnedAnswers(drive)) {
    if (drive.state?.end) return true;
    await put(drive, attached, feed(drive, event));
  }
  const wanted = outstanding(program, drive.state ?? state);
  if (wanted.reads.length > 0) {
    const turns = await together(wanted.reads, (read) => operate(drive, attached, read, "read"));
    return take(drive, attached, turns);
  }
  for (const node of wanted.checkpoints) {
    await checkpoint(drive, attached, node);
    return true;
  }
  for (const { node, operations } of wanted.fences) {
    const turn = await fence(drive, attached, node, operations);
    if (turn.kind === "approved") {
      const approvals = turn.approvals.map(({ checked }) => checked.digest);
      await put(drive, attached, feed(drive, { type: "approved", node }), { approvals });
      return true;
    }
    if (await take(drive, attached, [turn])) return true;
  }
  for (const effect of wanted.effects) {
    const turn = await operate(drive, attached, effect, "effect");
    if (await take(drive, attached, [turn])) return true;
  }
  return false;
}

/** In the order in which they end, which is the order of their receipts. */
async function together<T>(
  items: readonly T[],
  work: (item: T) => Promise<Turn>,
): Promise<readonly Turn[]> {
  const turns: Turn[] = [];
  const failures: unknown[] = [];
  await Promise.all(
    items.map(async (item) => {
      try {
        turns.push(await work(item));
      } catch (error) {
        failures.push(error);
      }
    }),
  );
  if (failures.length > 0) throw failures[0];
  return turns;
}

async function take(drive: Drive, attached: Attached, turns: readonly Turn[]): Promise<boolean> {
  let moved = false;
  for (const turn of turns) {
    if (drive.state?.end || turn.kind === "waiting") continue;
    moved = true;
    await put(
      drive,
      attached,
      turn.kind === "ended"
        ? stop(drive, turn.reason, turn.message)
        : feed(drive, settledEvent(drive.program, turn.settled)),
    );
  }
  return moved;
}

async function denied(drive: Drive, attached: Attached): Promise<boolean> {
  const happening = isDenied(drive);
  for (let next = happening.next(); ; next = happening.next()) {
    if (next.done === true) return next.value;
    await record(drive, attached, next.value, {});
  }
}

/** Lets events happen: each is durable before it takes effect. */
export async function put(
  drive: Drive,
  attached: Attached,
  happening: Happening,
  extra: { readonly [member: string]: JsonValue } = {},
): Promise<void> {
  for (;;) {
    const next = active(drive, () => happening.next());
    if (next.done === true) return;
    await record(drive, attached, next.value, extra);
  }
}

async function record(
  drive: Drive,
  attached: Attached,
  event: RunEvent,
  extra: { readonly [member: string]: JsonValue },
): Promise<void> {
  switch (event.type) {
    case "started":
      await write(drive, attached, startedEntry(drive, attached));
      return;
    case "model_answered": {
      const { type, answer, usage, model, source, node, index } = event;
      const rest = { node, index, usage: usage as JsonValue, model: { ...model }, source };
      const { body, blobs } = keep({ ...rest, ms: spent(drive) }, "answer", answer);
      await write(drive, attached, { entries: [entry(drive, type, body)], blobs });
      return;
    }
    case "approved": {
      const body = { node: event.node, ...extra };
      await write(drive, attached, { entries: [entry(drive, event.type, body)] });
      return;
    }
    case "stopped":
      drive.stopped = event;
      return;
    case "read_settled":
    case "effect_settled":
    case "checkpointed":
      // Written already, by the gate or by `checkpoint`.
      return;
  }
}

async function checkpoint(drive: Drive, attached: Attached, node: string): Promise<void> {
  const body = { node, ms: spent(drive) };
  const [made] = await write(drive, attached, { entries: [entry(drive, "checkpointed", body)] });
  if (made === undefined) throw new TypeError("a checkpoint without an entry");
  const position = { run: drive.id, seq: made.entry.seq, entry: `sha256:${made.hash}` as never };
  await put(drive, attached, feed(drive, { type: "checkpointed", node, position }));
}

/** The one terminal entry. A run that ended without it, by a crash in between, gets it when it is resumed. */
export async function finish(drive: Drive, attached: Attached): Promise<void> {
  const end = drive.state?.end;
  if (end == null || drive.finished) return;
  const result = resultOf(drive);
  const body = {
    state: stateName(drive),
    reason: end.reason,
    failure: end.failure as unknown as JsonValue,
    stopped: (drive.stopped ?? null) as unknown as JsonValue,
    result: result === undefined ? null : digestOf("rote-result/v1", result),
    ms: spent(drive),
  };
  await write(drive, attached, { entries: [entry(drive, "run_ended", body)], seal: true });
  drive.finished = true;
  attached.waiting.clear();
  await attached.parts.journal.release(attached.lease);
}

function startedEntry(drive: Drive, { parts }: Attached): Omit<Append, "lease"> {
  const { plan, verifier } = drive.program;
  const { type: _, inputs, ...event } = startedEvent(drive);
  const recipe = canonicalBytes(plan.normal);
  const rule = canonicalBytes(verifier.normal);
  const { body, blobs } = keep(
    {
      ...(event as unknown as { readonly [member: string]: JsonValue }),
      recipe: plan.id,
      environment: environmentDigest(boundEnvironment(plan)),
      models: drive.models as unknown as JsonValue,
      identity: parts.identity.name,
      intent: parts.intent?.digest ?? null,
      qualification: drive.qualification?.id ?? null,
      recipe_blob: sha256Hex(recipe),
      verifier_blob: sha256Hex(rule),
    },
    "inputs",
    inputs,
  );
  return {
    entries: [entry(drive, "run_started", body)],
    take: [{ space: "run", key: drive.id }],
    blobs: [...blobs, recipe, rule],
  };
}

function entry(
  drive: Drive,
  type: Append["entries"][number]["type"],
  body: JsonValue,
): Append["entries"][number] {
  return { chain: drive.id, type, body };
}

async function write(drive: Drive, { parts, lease }: Attached, append: Omit<Append, "lease">) {
  const appended = await parts.journal.append({ lease, ...append });
  if (appended.ok) return appended.value;
  throw new RoteError("lease_lost", `Another process took over the run ${drive.id}.`, {
    run: drive.id,
    code: appended.error.code,
  });
}

/** Active time so far in whole milliseconds, so that a limit holds across processes. */
function spent(drive: Drive): number {
  return Math.round(drive.activeMs);
}

function changedParts(
  drive: Drive,
  parts: HostParts,
  claimed: Environment | undefined,
): readonly string[] {
  const { plan } = drive.program;
  const bound = boundEnvironment(plan);
  const now = environmentFor(parts, toolsOf(plan));
  return [
    ...differingParts(bound, now),
    ...(claimed === undefined ? [] : differingParts(bound, claimed)),
  ];
}

/** A decision handed to the run directly: checked here, so that its giver learns what is wrong with it. */
async function fileApproval(drive: Drive, attached: Attached, envelope: JsonValue): Promise<void> {
  const { parts } = attached;
  const nonce = claimedNonce(envelope);
  const request = [...attached.waiting.values()].find((open) => open.nonce === nonce);
  if (request === undefined) throw refusedApproval("no_pending_request");
  const now = Math.floor(parts.clock.wallMs() / 1000);
  const checked = checkApproval(
    envelope,
    {
      audience: parts.journal.origin,
      run: drive.id,
      nonce: request.nonce,
      operations: request.operations.map(({ digest }) => digest),
      display: request.display,
    },
    parts.trust(),
    now,
  );
  if (!checked.ok) throw refusedApproval(checked.error);
  await parts.journal.append({
    lease: null,
    entries: [
      { chain: HOST_CHAIN, type: "approval_received", body: { nonce: request.nonce, envelope } },
    ],
  });
}
