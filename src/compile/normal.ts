/**
 * The recipe in normal form, as canonical bytes (RFC 8785): what its digest is made from.
 *
 * Nodes stand in plan order, expressions in long form, types written out, `after` and `output` always present; sets of
 * ids and codes are sorted; members that equal their default are left out. Title and description are part of it: they
 * are what a reviewer was shown.
 *
 * It is written as bytes straight away, members in the order of their names, since the bytes are hashed for every
 * recipe and the JSON is read by few. Texts come from the strict reader, so all of them are well-formed.
 */
import { assertNever } from "../base/assert.ts";
import {
  type ByteSink,
  byteSink,
  bytesOf,
  putAscii,
  putByte,
  putBytes,
  putQuoted,
} from "../base/canonical-bytes.ts";
import { compareText, sortTexts } from "../base/text.ts";
import { putNormal, putType } from "../expression/index.ts";
import type { Environment } from "../model/environment.ts";
import { DEFAULT_ITEM, DEFAULT_ROLE } from "../model/names.ts";
import { DEFAULT_RUN_LIMITS, type RunLimits } from "../model/plan.ts";
import type { StepDocument } from "../model/recipe.ts";
import type { Type } from "../model/type.ts";
import type { CheckedNode, CheckedRecipe } from "./3-check.ts";
import type { ParsedNode, Slot } from "./parsed.ts";

/** Canonical bytes of the normal form. */
export function normalRecipe({ resolved, nodes }: CheckedRecipe): Uint8Array {
  const { parsed } = resolved;
  const writer: Writer = {
    ...byteSink(),
    ids: resolved.nodes.map(({ id }) => id),
    types: new Map(),
  };
  putAscii(writer, "{");
  if (parsed.description !== null) putText(writer, '"description":', parsed.description, ",");
  if (parsed.environment !== null) putEnvironment(writer, parsed.environment);
  putText(writer, '"id":', parsed.id ?? "", ",");
  putInputs(writer, parsed.inputs);
  putLimits(writer, parsed.limits);
  putAscii(writer, '"nodes":');
  for (const [index, node] of nodes.entries()) {
    putAscii(writer, index === 0 ? "[" : ",");
    putNode(writer, node);
  }
  putText(writer, '],"terminal":', parsed.terminal ?? "", ",");
  if (parsed.title !== null) putText(writer, '"title":', parsed.title, ",");
  putAscii(writer, '"version":1}');
  return bytesOf(writer);
}

interface Writer extends ByteSink {
  /** Ids by plan index. */
  readonly ids: readonly string[];
  /** Types written before: most nodes share a few. */
  readonly types: Map<Type, Uint8Array>;
}

function putText(sink: ByteSink, before: string, text: string, after: string): void {
  putAscii(sink, before);
  putQuoted(sink, text);
  putAscii(sink, after);
}

function putEnvironment(sink: ByteSink, environment: Environment): void {
  const { credentials, evidence, host_configuration, policy, tools } = environment;
  putText(sink, '"environment":{"credentials":', credentials, ",");
  putText(sink, '"evidence":', evidence, ',"host_configuration":');
  if (host_configuration === null) putAscii(sink, "null");
  else putQuoted(sink, host_configuration);
  putText(sink, ',"policy":', policy, ",");
  putText(sink, '"tools":', tools, "},");
}

function putInputs(writer: Writer, inputs: ReadonlyMap<string, Type | undefined>): void {
  putAscii(writer, '"inputs":{');
  let separator = "";
  for (const [name, type] of inputs) {
    if (type === undefined) continue;
    putText(writer, separator, name, ":");
    putKnownType(writer, type);
    separator = ",";
  }
  putAscii(writer, "},");
}

/** Limits in the order of their names. */
const LIMITS = Object.entries(DEFAULT_RUN_LIMITS).sort(([left], [right]) =>
  compareText(left, right),
);

function putLimits(sink: ByteSink, limits: Partial<RunLimits>): void {
  let separator = '"limits":{';
  for (const [name, most] of LIMITS) {
    const value = limits[name as keyof RunLimits];
    if (value === undefined || value === most) continue;
    putAscii(sink, `${separator}"${name}":${value}`);
    separator = ",";
  }
  if (separator === ",") putAscii(sink, "},");
}

function putNode(writer: Writer, { resolved, types }: CheckedNode): void {
  const { parsed } = resolved;
  const { each, step, slots } = parsed;
  putAscii(writer, '{"after":');
  putTexts(writer, sortTexts(resolved.after.map((index) => writer.ids[index] ?? "")));
  if (each !== undefined) {
    putAscii(writer, ',"each":{');
    if (each.as !== DEFAULT_ITEM) putText(writer, '"as":', each.as, ",");
    putAscii(writer, `"limit":${each.limit},"list":`);
    putSlot(writer, parsed, "list");
    putAscii(writer, "}");
  }
  putText(writer, ',"id":', resolved.id, ',"output":');
  putKnownType(writer, types.declared);
  putAscii(writer, ',"step":{');
  if (step !== undefined) putStep(writer, parsed, step);
  putAscii(writer, "}");
  if (slots.when !== undefined) {
    putAscii(writer, ',"when":');
    putSlot(writer, parsed, "when");
  }
  putAscii(writer, "}");
}

function putStep(sink: ByteSink, node: ParsedNode, step: StepDocument): void {
  switch (step.kind) {
    case "pure":
      putAscii(sink, '"kind":"pure","value":');
      return putSlot(sink, node, "value");
    case "checkpoint":
      putAscii(sink, '"kind":"checkpoint"');
      return putOptional(sink, ',"value":', node, "value");
    case "read":
      if (step.absent_on !== undefined && step.absent_on.length > 0) {
        putAscii(sink, '"absent_on":');
        putTexts(sink, sortedSet(step.absent_on));
        putAscii(sink, ",");
      }
      putAscii(sink, '"arguments":');
      putSlot(sink, node, "arguments");
      return putText(sink, ',"kind":"read","tool":', step.tool, "");
    case "model":
      if (step.instructions !== undefined) {
        putText(sink, '"instructions":', step.instructions, ",");
      }
      putAscii(sink, '"kind":"model","prompt":');
      putSlot(sink, node, "prompt");
      if (step.role === undefined || step.role === DEFAULT_ROLE) return;
      return putText(sink, ',"role":', step.role, "");
    case "verify":
      putAscii(sink, '"condition":');
      putSlot(sink, node, "condition");
      putAscii(sink, ',"kind":"verify",');
      if (step.message !== undefined) putText(sink, '"message":', step.message, ",");
      putAscii(sink, '"value":');
      return putSlot(sink, node, "value");
    case "policy":
      putAscii(sink, '"condition":');
      putSlot(sink, node, "condition");
      putAscii(sink, ',"kind":"policy"');
      if (step.message !== undefined) putText(sink, ',"message":', step.message, "");
      return;
    case "approval":
      putAscii(sink, '"effects":');
      putTexts(sink, sortedSet(step.effects));
      return putAscii(sink, ',"kind":"approval"');
    case "effect":
      putAscii(sink, '"arguments":');
      putSlot(sink, node, "arguments");
      putOptional(sink, ',"key":', node, "key");
      return putText(sink, ',"kind":"effect","tool":', step.tool, "");
    default:
      return assertNever(step, "step kind");
  }
}

function putSlot(sink: ByteSink, { slots }: ParsedNode, slot: Slot): void {
  const expression = slots[slot];
  if (expression !== undefined) putNormal(sink, expression.tree);
}

function putOptional(sink: ByteSink, before: string, node: ParsedNode, slot: Slot): void {
  if (node.slots[slot] === undefined) return;
  putAscii(sink, before);
  putSlot(sink, node, slot);
}

function putKnownType(writer: Writer, type: Type): void {
  const known = writer.types.get(type);
  if (known !== undefined) return putBytes(writer, known);
  const start = writer.size;
  putType(writer, type);
  writer.types.set(type, new Uint8Array(writer.bytes.subarray(start, writer.size)));
}

function putTexts(sink: ByteSink, texts: readonly string[]): void {
  putByte(sink, OPEN_LIST);
  for (let index = 0; index < texts.length; index += 1) {
    if (index > 0) putByte(sink, COMMA);
    putQuoted(sink, texts[index] ?? "");
  }
  putByte(sink, CLOSE_LIST);
}

const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const COMMA = 0x2c;

export function sortedSet(texts: readonly string[]): readonly string[] {
  return sortTexts([...new Set(texts)]);
}
