/** get, has, default: parts of values, and what their absence means. */

import { pointer } from "../../base/pointer.ts";
import type { Type } from "../../model/type.ts";
import type { Value } from "../../model/value.ts";
import {
  article,
  type Checking,
  enter,
  entryOf,
  mismatch,
  type Operation,
  operand,
  problem,
  type Typed,
  typed,
} from "../checking.ts";
import { asDictionaries, asLists, type Frame, fail, type Lowering } from "../frame.ts";
import type { OperatorNode } from "../parse-tree.ts";
import { pathThrough } from "../path.ts";
import { fits, leastCommon } from "../type-relations.ts";
import { BOOLEAN, INTEGER, isOptional, NOTHING, presentOf, TEXT, typeName } from "../types.ts";

/** A part of a value: its type, the operands it takes, and code that gives null where it is absent. */
interface Part {
  /** Never optional. */
  readonly type: Type;
  readonly operands: readonly Typed[];
  /** Gives undefined where there is nothing; `null` counts as nothing unless `null` is json's. */
  readonly lower: (lowering: Lowering) => (frame: Frame) => Value | undefined;
  /** What was looked for, for messages. */
  readonly what: (frame: Frame) => string;
}

function partOf(node: OperatorNode, checking: Checking): Part | undefined {
  const value = operand(node, "value", checking);
  const key = operand(node, "key", checking);
  const hasKey = node.operands.has("key");
  if (value === undefined || (hasKey && key === undefined)) return undefined;
  if (hasKey && node.tokens !== undefined) {
    return problem(node, checking, "bad_member", "takes a pointer or a key, not both");
  }
  if (key !== undefined) return partByKey(node, value, key, checking);
  if (node.tokens !== undefined) return partByPointer(node, value, node.tokens, checking);
  if (!isOptional(value.type)) {
    const what = `value is ${article(typeName(value.type))}, which is always there`;
    return problem(node, checking, "not_optional", what, "name a part with pointer or key");
  }
  return {
    type: presentOf(value.type),
    operands: [value],
    lower: (lowering) => {
      const code = value.lower(lowering);
      return (frame) => code(frame) ?? undefined;
    },
    what: () => "the value is absent",
  };
}

function partByPointer(
  node: OperatorNode,
  value: Typed,
  tokens: readonly string[],
  checking: Checking,
): Part | undefined {
  const path = pathThrough(value.type, tokens);
  if ("code" in path) return problem(node, checking, path.code, path.message, path.hint);
  const { read } = path;
  const absentable = isOptional(path.type);
  return {
    type: presentOf(path.type),
    operands: [value],
    lower: (lowering) => {
      const code = value.lower(lowering);
      if (!absentable) return (frame) => read(code(frame));
      return (frame) => read(code(frame)) ?? undefined;
    },
    what: () => `there is nothing at ${pointer(...tokens)}`,
  };
}

function partByKey(
  node: OperatorNode,
  value: Typed,
  key: Typed,
  checking: Checking,
): Part | undefined {
  const { type } = value;
  const of = type.kind === "dictionary" || type.kind === "list" ? type.of : NOTHING;
  const absentable = isOptional(of);
  if (type.kind === "dictionary") {
    if (!fits(key.type, TEXT)) return mismatch(node, checking, "key", key.type, "text");
    return {
      type: presentOf(of),
      operands: [value, key],
      lower: (lowering) => {
        const dictionary = asDictionaries(value.lower(lowering));
        const name = key.lower(lowering);
        return (frame) => {
          const found = dictionary(frame).get(name(frame) as string);
          return absentable ? (found ?? undefined) : found;
        };
      },
      what: () => "there is nothing under the key",
    };
  }
  if (type.kind === "list" || type.kind === "nothing") {
    if (!fits(key.type, INTEGER)) return mismatch(node, checking, "key", key.type, "integer");
    return {
      type: presentOf(of),
      operands: [value, key],
      lower: (lowering) => {
        const list = asLists(value.lower(lowering));
        const position = key.lower(lowering);
        return (frame) => {
          const elements = list(frame);
          const at = position(frame) as bigint;
          if (at < 0n || at >= BigInt(elements.length)) return undefined;
          const found = elements[Number(at)];
          return absentable ? (found ?? undefined) : found;
        };
      },
      what: () => "there is no element at the position",
    };
  }
  return mismatch(node, checking, "value", type, "dictionary or list");
}

const get: Operation = (node, checking) => {
  const part = partOf(node, checking);
  const otherwise = operand(node, "else", checking);
  if (part === undefined) return undefined;
  if (otherwise === undefined && node.operands.has("else")) return undefined;
  const type = otherwise === undefined ? part.type : leastCommon(part.type, otherwise.type);
  if (type === undefined) {
    const other = otherwise === undefined ? "" : typeName(otherwise.type);
    const what = `${typeName(part.type)} and else, ${other}, have no common type`;
    return problem(node, checking, "type_mismatch", what);
  }
  return typed(node, checking, type, part.operands, (lowering, site) => {
    const read = part.lower(lowering);
    if (otherwise === undefined) {
      return (frame) => {
        const found = read(frame);
        if (found !== undefined) return found;
        throw fail(frame, site, "missing", part.what(frame));
      };
    }
    const instead = entryOf(otherwise, lowering);
    return (frame) => {
      const found = read(frame);
      return found === undefined ? enter(frame, instead) : found;
    };
  });
};

const has: Operation = (node, checking) => {
  const part = partOf(node, checking);
  if (part === undefined) return undefined;
  return typed(node, checking, BOOLEAN, part.operands, (lowering) => {
    const read = part.lower(lowering);
    return (frame) => read(frame) !== undefined;
  });
};

const defaultTo: Operation = (node, checking) => {
  const value = operand(node, "value", checking);
  const otherwise = operand(node, "else", checking);
  if (value === undefined || otherwise === undefined) return undefined;
  if (!isOptional(value.type)) {
    const what = `value is ${article(typeName(value.type))}, which is always there`;
    return problem(node, checking, "not_optional", what, "use the value itself");
  }
  const type = leastCommon(presentOf(value.type), otherwise.type);
  if (type === undefined) {
    const what = `${typeName(presentOf(value.type))} and ${typeName(otherwise.type)} have no common type`;
    return problem(node, checking, "type_mismatch", what);
  }
  return typed(node, checking, type, [value], (lowering) => {
    const code = value.lower(lowering);
    const instead = entryOf(otherwise, lowering);
    return (frame) => {
      const found = code(frame);
      return found === null ? enter(frame, instead) : found;
    };
  });
};

export const parts = { get, has, default: defaultTo };
