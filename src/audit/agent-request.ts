/**
 * What an agent's model was asked with, made anew from the entries before it: its goal, what it was told of its tools,
 * what it had said, and what came of its calls. Where something of that cannot be read, the rest is unknown from
 * there on, and no request is compared with it.
 */
import { sameBytes } from "../base/bytes.ts";
import { canonicalBytes } from "../base/canonical.ts";
import { type Digest, digestBytes, digestOf } from "../base/digest.ts";
import { isJsonObject, type JsonValue } from "../base/json.ts";
import { TAGS } from "../base/tags.ts";
import { type Said, type Task, taskShape } from "./agent-bodies.ts";
import type { AgentCount, Told } from "./agent-count.ts";
import type { Bodies } from "./bodies.ts";
import { readCanonical } from "./canonical.ts";
import { type Context, type Placed, placeOf, report } from "./context.ts";

export interface Asking {
  /** Digest of everything that was said so far; undefined from where it is unknown on. */
  conversation: Digest | undefined;
  /** Digest of what the model is told of its tools. */
  readonly offered: Digest | undefined;
  /** Calls of the present turn whose outcome is in the conversation. */
  told: number;
}

export async function begunAsking(
  context: Context,
  placed: Placed,
  body: Bodies["agent_started"],
): Promise<Asking> {
  const task = await taskOf(context, placed, body);
  const offered = await offeredTo(context, placed, body.tools);
  const asking: Asking = { conversation: digestOf(TAGS.conversation, null), offered, told: 0 };
  if (task === undefined) asking.conversation = undefined;
  for (const content of [task?.instructions ?? null, task?.recalled ?? null]) {
    if (content !== null) add(asking, { role: "system", content });
  }
  add(asking, { role: "user", content: task?.goal ?? "" });
  return asking;
}

/** Of everything that its model would be asked with now; undefined where it is unknown. */
export function requestNow(
  { conversation, offered }: Asking,
  { start, tokens }: AgentCount,
): Digest | undefined {
  if (conversation === undefined || offered === undefined) return undefined;
  const {
    max_reply_tokens: reply,
    max_output_tokens: output,
    max_total_tokens: total,
  } = start.limits;
  const left = [
    reply,
    output === null ? null : output - tokens.output,
    total === null ? null : total - tokens.total,
  ].filter((limit) => limit !== null);
  const most = left.length === 0 ? null : Math.max(1, Math.min(...left));
  return digestOf(TAGS.request, { conversation, tools: offered, max_output_tokens: most });
}

/** What the model said is part of what it is asked with next; undefined when it cannot be read. */
export function addSaid(asking: Asking, said: Said | undefined): void {
  asking.told = 0;
  if (said === undefined) return add(asking, undefined);
  const { content, calls, carry } = said;
  const asked = calls.map(({ id, name, arguments: text }) => ({ id, name, arguments: text }));
  const message = { role: "assistant", content, calls: asked };
  add(asking, carry === undefined ? message : { ...message, carry });
}

/** So are the outcomes of its calls, in the order in which it asked for them. */
export async function addOutcomes(
  context: Context,
  placed: Placed,
  asking: Asking,
  { calls, settled }: AgentCount,
): Promise<void> {
  for (; asking.told < settled; asking.told += 1) {
    const { id, name, came } = calls[asking.told] ?? {};
    const content = came == null ? undefined : await contentOf(context, placed, came.told);
    const error = came?.code !== null;
    const message = { role: "tool", call: id ?? "", name: name ?? "", error } as const;
    add(asking, content === undefined ? undefined : { ...message, content });
    if (came != null) came.told = undefined;
  }
}

async function contentOf(
  context: Context,
  placed: Placed,
  told: Told,
): Promise<JsonValue | undefined> {
  if (told === undefined || "content" in told) return told?.content;
  // It was read before, where its receipt stands, and what is wrong with it was said there.
  const bytes = await context.blobs.find(told.blob, placeOf(placed), "a result");
  const json = bytes == null ? undefined : readCanonical(bytes);
  return json?.ok === true ? json.value : undefined;
}

function add(asking: Asking, message: JsonValue | undefined): void {
  const { conversation } = asking;
  if (conversation === undefined) return;
  asking.conversation =
    message === undefined
      ? undefined
      : digestBytes(
          TAGS.conversation,
          Buffer.concat([Buffer.from(`${conversation}\n`), canonicalBytes(message)]),
        );
}

async function taskOf(
  context: Context,
  placed: Placed,
  { task, task_blob: blob }: Bodies["agent_started"],
): Promise<Task | undefined> {
  if (task !== undefined) return task;
  const bytes = await context.blobs.read(blob ?? "", placeOf(placed), "a goal");
  const json = bytes === undefined ? undefined : readCanonical(bytes);
  if (json?.ok === true && taskShape(json.value) === null) return json.value as JsonOf<Task>;
  if (bytes !== undefined) report(context, placed, "blob_differs", "it is not what a goal is");
  return undefined;
}

type JsonOf<T> = T & JsonValue;

async function offeredTo(
  context: Context,
  placed: Placed,
  tools: Bodies["agent_started"]["tools"],
): Promise<Digest | undefined> {
  const told: JsonValue[] = [];
  let whole = true;
  for (const { name, definition } of tools) {
    const known = await definitionOf(context, placed, definition);
    if (known === undefined) whole = false;
    else told.push({ name, ...known });
  }
  return whole ? digestOf(TAGS.offered, told) : undefined;
}

const HEAD = Buffer.from(`${TAGS.tool}\n`);

async function definitionOf(
  context: Context,
  placed: Placed,
  digest: Digest,
): Promise<{ readonly description: string; readonly schema: JsonValue } | undefined> {
  const sha256 = digest.slice("sha256:".length);
  const bytes = await context.blobs.read(sha256, placeOf(placed), "the definition of a tool");
  if (bytes === undefined) return undefined;
  const isTool = sameBytes(bytes.subarray(0, HEAD.byteLength), HEAD);
  const json = isTool ? readCanonical(bytes.subarray(HEAD.byteLength)) : undefined;
  if (json?.ok !== true || !isJsonObject(json.value)) {
    report(context, placed, "blob_differs", `${digest} is not the definition of a tool`);
    return undefined;
  }
  const { description, input_schema: schema } = json.value;
  return { description: String(description), schema: schema ?? {} };
}
