/** literal, input, node, item, index, let: where values come from. */
import { assertNever } from "../../base/assert.ts";
import type { JsonValue } from "../../base/json.ts";
import { pointer } from "../../base/pointer.ts";
import type { Type } from "../../model/type.ts";
import type { RecordValue, Value } from "../../model/value.ts";
import {
  bind,
  type Checking,
  closest,
  commonOf,
  type Direct,
  type Operation,
  operand,
  problem,
  siteOf,
  type Typed,
  typed,
} from "../checking.ts";
import { type Code, fail, type Lowering } from "../frame.ts";
import type { OperatorNode } from "../parse-tree.ts";
import { pathThrough } from "../path.ts";
import { readValue } from "../read.ts";
import { BOOLEAN, enumOf, INTEGER, listOf, NULL, recordOf, valueType } from "../types.ts";

const literal: Operation = (node, checking) => {
  const { literal: json } = node;
  const reading = node.type ?? inferred(json);
  if (reading === undefined) {
    const hint = 'say its type: {"op": "literal", "value": .., "type": ..}';
    return problem(node, checking, "bad_literal", "the value has no type by itself", hint);
  }
  const read = readValue(reading, json);
  if (!read.ok) return problem(node, checking, "bad_literal", read.error.message);
  return constant(node, checking, valueType(reading), read.value);
};

function constant(node: OperatorNode, checking: Checking, type: Type, value: Value): Typed {
  return {
    type,
    site: siteOf(node, checking),
    cost: 1,
    lower: () => () => value,
    constant: { value },
  };
}

/** The type of a literal that names none: the narrowest one. */
function inferred(json: JsonValue): Type | undefined {
  switch (typeof json) {
    case "string":
      return enumOf([json]);
    case "number":
      return Number.isSafeInteger(json) ? INTEGER : undefined;
    case "boolean":
      return BOOLEAN;
    default:
      break;
  }
  if (json === null) return NULL;
  if (Array.isArray(json)) {
    const types: Type[] = [];
    for (const element of json) {
      const type = inferred(element);
      if (type === undefined) return undefined;
      types.push(type);
    }
    const of = commonOf(types);
    return of && listOf(of);
  }
  const fields: [string, Type][] = [];
  for (const [name, member] of Object.entries(json as { readonly [key: string]: JsonValue })) {
    const type = inferred(member);
    if (type === undefined) return undefined;
    fields.push([name, type]);
  }
  return recordOf(fields);
}

const input: Operation = (node, checking) => {
  const name = node.words.get("name") ?? "";
  const type = checking.scope.input(name);
  if (type === undefined) {
    const hint = closest(name, checking.scope.inputNames);
    return problem(node, checking, "unknown_input", `there is no input ${shown(name)}`, hint);
  }
  const slot = ({ layout }: Lowering): number => layout.input(name);
  return reference(node, checking, type, "inputs", slot);
};

const nodeOutput: Operation = (node, checking) => {
  const id = node.words.get("id") ?? "";
  const type = checking.scope.node(id);
  if (type === "failed") return undefined;
  if (type === "unknown_node") {
    const hint = closest(id, checking.scope.nodeNames);
    return problem(node, checking, "unknown_node", `there is no node ${shown(id)}`, hint);
  }
  if (type === "not_an_ancestor") {
    const what = `node ${shown(id)} does not come before this one`;
    return problem(node, checking, "not_an_ancestor", what, `list it in after`);
  }
  const slot = ({ layout }: Lowering): number => layout.node(id);
  return reference(node, checking, type, "nodes", slot);
};

const item: Operation = (node, checking) => {
  const name = node.words.get("name") ?? "";
  const binding = checking.bindings.findLast((each) => each.name === name);
  if (binding === undefined) return unknownItem(name, node, checking);
  return reference(node, checking, binding.type, "items", () => binding.slot);
};

const index: Operation = (node, checking) => {
  const name = node.words.get("name") ?? "";
  const binding = checking.bindings.findLast((each) => each.name === name);
  if (binding === undefined) return unknownItem(name, node, checking);
  if (!binding.list) {
    const what = `${shown(name)} is not the element of a list, so it has no position`;
    return problem(node, checking, "unknown_item", what);
  }
  const { slot } = binding;
  return typed(node, checking, INTEGER, [], () => (frame) => BigInt(frame.positions[slot] ?? 0));
};

function unknownItem(name: string, node: OperatorNode, checking: Checking): undefined {
  const names = checking.bindings.map((binding) => binding.name);
  const hint =
    closest(name, names) ??
    (names.length === 0 ? "nothing is named here" : `named here: ${names.join(", ")}`);
  return problem(node, checking, "unknown_item", `nothing is named ${shown(name)} here`, hint);
}

function reference(
  node: OperatorNode,
  checking: Checking,
  type: Type,
  from: Direct["from"],
  slotOf: (lowering: Lowering) => number,
): Typed | undefined {
  const tokens = node.tokens ?? [];
  const path = pathThrough(type, tokens);
  if ("code" in path) return problem(node, checking, path.code, path.message, path.hint);
  const { fields, read } = path;
  if (fields !== undefined) {
    return {
      type: path.type,
      site: siteOf(node, checking),
      cost: 1,
      lower: (lowering) => fieldReader(from, slotOf(lowering), fields),
      direct: { from, slot: slotOf, fields },
    };
  }
  return typed(node, checking, path.type, [], (lowering, site) => {
    const source = sourceReader(from, slotOf(lowering));
    const name = node.words.get(node.op === "node" ? "id" : "name");
    const what = from === "items" ? name : `${node.op} ${name}`;
    return (frame) => {
      const value = read(source(frame));
      if (value !== undefined) return value;
      throw fail(frame, site, "missing", `${what} has nothing at ${pointer(...tokens)}`);
    };
  });
}

/** Reading fields of records cannot fail. The usual depths are written out, and each source, for the sake of speed. */
function fieldReader(from: Direct["from"], slot: number, fields: readonly string[]): Code {
  const [first, second] = fields;
  if (first === undefined) return sourceReader(from, slot);
  if (second === undefined) return oneField(from, slot, first);
  const outer = oneField(from, slot, first);
  if (fields.length === 2) return (frame) => (outer(frame) as RecordValue)[second] ?? null;
  const rest = fields.slice(1);
  return (frame) => {
    let value = outer(frame);
    for (const field of rest) value = (value as RecordValue)[field] ?? null;
    return value;
  };
}

function sourceReader(from: Direct["from"], slot: number): Code {
  switch (from) {
    case "inputs":
      return (frame) => frame.inputs[slot] ?? null;
    case "nodes":
      return (frame) => frame.nodes[slot] ?? null;
    case "items":
      return (frame) => frame.items[slot] ?? null;
    default:
      return assertNever(from, "source");
  }
}

function oneField(from: Direct["from"], slot: number, field: string): Code {
  switch (from) {
    case "inputs":
      return (frame) => (frame.inputs[slot] as RecordValue)[field] ?? null;
    case "nodes":
      return (frame) => (frame.nodes[slot] as RecordValue)[field] ?? null;
    case "items":
      return (frame) => (frame.items[slot] as RecordValue)[field] ?? null;
    default:
      return assertNever(from, "source");
  }
}

const letIn: Operation = (node, checking) => {
  const value = operand(node, "value", checking);
  if (value === undefined) return undefined;
  const { inside, slot, free } = bind(node, "name", value.type, false, checking);
  const body = operand(node, "in", inside);
  if (body === undefined || !free) return undefined;
  return typed(node, checking, body.type, [value, body], (lowering) => {
    const bound = value.lower(lowering);
    const inner = body.lower(lowering);
    return (frame) => {
      frame.items[slot] = bound(frame);
      return inner(frame);
    };
  });
};

function shown(name: string): string {
  return JSON.stringify(name.length <= 64 ? name : `${name.slice(0, 60)}..`);
}

export const references = { literal, input, node: nodeOutput, item, index, let: letIn };
