/** Events of a run at a host on their way into its journal: each is durable before it takes effect. */
import { canonicalBytes } from "../base/canonical.ts";
import { digestFromHex, digestOf, sha256Hex } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import { TAGS } from "../base/tags.ts";
import { keep, leaseLost } from "../host/index.ts";
import type { Append } from "../ports/journal.ts";
import type { Attached } from "./attached.ts";
import {
  active,
  type Drive,
  feed,
  type Happening,
  isDenied,
  spentMs,
  startedEvent,
  stateName,
} from "./drive.ts";
import type { RunEvent } from "./event.ts";
import { resultOf } from "./evidence.ts";
import { boundEnvironmentDigest } from "./program.ts";

/** Lets events happen. `extra` goes into their entries. */
export async function put<T>(
  drive: Drive,
  attached: Attached,
  happening: Happening<T>,
  extra: { readonly [member: string]: JsonValue } = {},
): Promise<T> {
  for (;;) {
    const next = active(drive, () => happening.next());
    if (next.done === true) return next.value;
    await record(drive, attached, next.value, extra);
  }
}

/** True when the run was just ended because it may not take another step. */
export function denied(drive: Drive, attached: Attached): Promise<boolean> {
  return put(drive, attached, isDenied(drive));
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
      const { body, blobs } = keep({ ...rest, ms: spentMs(drive) }, "answer", answer);
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

export async function checkpoint(drive: Drive, attached: Attached, node: string): Promise<void> {
  const body = { node, ms: spentMs(drive) };
  const [made] = await write(drive, attached, { entries: [entry(drive, "checkpointed", body)] });
  if (made === undefined) throw new TypeError("a checkpoint without an entry");
  const position = { run: drive.id, seq: made.entry.seq, entry: digestFromHex(made.hash) };
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
    failure: end.failure,
    stopped: drive.stopped,
    result: result === undefined ? null : digestOf(TAGS.result, result),
    ms: spentMs(drive),
  };
  const entries = [entry(drive, "run_ended", body)];
  await write(drive, attached, { entries, seal: true, release: true });
  drive.finished = true;
  attached.waiting.clear();
}

/** Takes note in the chain that this process goes on with the run. */
export async function writeResumed(drive: Drive, attached: Attached, from: number): Promise<void> {
  const body = { owner: attached.lease.owner, from_seq: from };
  await write(drive, attached, { entries: [entry(drive, "run_resumed", body)] });
}

function startedEntry(drive: Drive, { parts }: Attached): Omit<Append, "lease"> {
  const { plan, verifier } = drive.program;
  const { type: _, inputs, ...event } = startedEvent(drive);
  const recipe = documentOf(plan);
  const rule = documentOf(verifier);
  const { body, blobs } = keep(
    {
      ...event,
      recipe: plan.id,
      environment: boundEnvironmentDigest(plan),
      models: drive.models,
      identity: parts.identity.name,
      intent: parts.intent?.digest ?? null,
      qualification: drive.qualification?.id ?? null,
      recipe_blob: recipe.sha256,
      verifier_blob: rule.sha256,
    },
    "inputs",
    inputs,
  );
  return {
    entries: [entry(drive, "run_started", body)],
    take: [{ space: "run", key: drive.id }],
    blobs: [...blobs, recipe.bytes, rule.bytes],
  };
}

interface KeptDocument {
  readonly bytes: Uint8Array;
  readonly sha256: string;
}

/** Normal forms are frozen, and written with every run. */
const documents = new WeakMap<object, KeptDocument>();

function documentOf(of: { readonly normal: JsonValue }): KeptDocument {
  const known = documents.get(of);
  if (known !== undefined) return known;
  const bytes = canonicalBytes(of.normal);
  const made = { bytes, sha256: sha256Hex(bytes) };
  documents.set(of, made);
  return made;
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
  if (appended.error.code === "lease_lost") throw leaseLost(drive.id);
  throw new RoteError("journal_damaged", `The run ${drive.id} is in the journal already.`, {
    run: drive.id,
    code: appended.error.code,
  });
}
