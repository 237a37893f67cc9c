/** Lists as a whole: order, groups, ends, and lists made from others. */
import { bitLength } from "../../base/integer.ts";
import { emptyObject } from "../../base/json-value.ts";
import type { Type } from "../../model/type.ts";
import type { Value } from "../../model/value.ts";
import {
  type Checking,
  listOperand,
  mismatch,
  type Operation,
  operandOf,
  type Typed,
  typed,
} from "../checking.ts";
import { isScalar, keyOf, settle, type Work } from "../equality.ts";
import type { Site } from "../failure.ts";
import {
  asIntegers,
  asLists,
  type Code,
  type Frame,
  fail,
  spend,
  spendElements,
  spendMade,
} from "../frame.ts";
import type { EvaluationLimits } from "../limits.ts";
import type { OperatorNode } from "../parse-tree.ts";
import { isOrdered } from "../type-relations.ts";
import { INTEGER, isOptional, listOf, NOTHING, optionalOf, presentOf, recordOf } from "../types.ts";
import { bitsRead, tooManyBits } from "./arithmetic.ts";
import { notOrdered, orderOf } from "./comparison.ts";
import { payLook } from "./conversion.ts";
import { type Each, eachOf, enterEach } from "./lists.ts";

const sortBy: Operation = (node, checking) => {
  const each = eachOf(node, "key", checking);
  if (each?.body === undefined) return undefined;
  const { list, of, body, slot } = each;
  if (!isOrdered(body.type)) return notOrdered(body.type, node, checking);
  const direction = node.words.get("order") === "descending" ? -1 : 1;
  return typed(node, checking, listOf(of), [list], (lowering, site) => {
    const source = asLists(list.lower(lowering));
    const key = body.lower(lowering);
    const order = orderOf(body.type, site);
    return (frame) => {
      const elements = source(frame);
      const { length } = elements;
      enterEach(frame, length, body.cost, site);
      if (length > 1) spend(frame, length * (31 - Math.clz32(length)), site);
      const keyed: { readonly element: Value; readonly key: Value }[] = [];
      for (let at = 0; at < length; at += 1) {
        const element = elements[at] as Value;
        frame.items[slot] = element;
        frame.positions[slot] = at;
        keyed.push({ element, key: key(frame) });
      }
      keyed.sort((left, right) => direction * order(left.key, right.key, frame));
      spendElements(frame, length, site);
      return keyed.map(({ element }) => element);
    };
  });
};

/** Gives each element's key: a value that is the same for equal keys only. */
function keyed(
  { body, slot, of }: Each,
  site: Site,
  limits: EvaluationLimits,
  code: Code | undefined,
): (frame: Frame, element: Value, at: number, work: Work) => { key: Value; mark: Value } {
  const type = body?.type ?? of;
  const markOf = keyOf(type);
  const scalar = isScalar(type);
  return (frame, element, at, work) => {
    frame.items[slot] = element;
    frame.positions[slot] = at;
    const key = code === undefined ? element : code(frame);
    // A key is written out as a whole, so it must not be larger than a value may be.
    if (!scalar) payLook(frame, type, key, site, limits);
    return { key, mark: markOf(key, work) };
  };
}

const groupBy: Operation = (node, checking) => {
  const each = eachOf(node, "key", checking);
  if (each?.body === undefined) return undefined;
  const { list, of, body } = each;
  const type = listOf(
    recordOf([
      ["key", body.type],
      ["items", listOf(of)],
    ]),
  );
  return typed(node, checking, type, [list], (lowering, site) => {
    const source = asLists(list.lower(lowering));
    const keyFor = keyed(each, site, lowering.limits, body.lower(lowering));
    return (frame) => {
      const elements = source(frame);
      enterEach(frame, elements.length, body.cost, site);
      const work: Work = { frame, site, parts: 0 };
      const groups = new Map<Value, { readonly key: Value; readonly items: Value[] }>();
      for (let at = 0; at < elements.length; at += 1) {
        const element = elements[at] as Value;
        const { key, mark } = keyFor(frame, element, at, work);
        const group = groups.get(mark);
        if (group === undefined) groups.set(mark, { key, items: [element] });
        else group.items.push(element);
      }
      settle(work);
      spendElements(frame, elements.length, site);
      return Array.from(groups.values(), ({ key, items }) => {
        const made = emptyObject<Value>();
        made["key"] = key;
        made["items"] = items;
        return made;
      });
    };
  });
};

const distinct: Operation = (node, checking) => {
  const each = eachOf(node, "key", checking);
  if (each === undefined) return undefined;
  const { list, of, body } = each;
  return typed(node, checking, listOf(of), [list], (lowering, site) => {
    const source = asLists(list.lower(lowering));
    const keyFor = keyed(each, site, lowering.limits, body?.lower(lowering));
    return (frame) => {
      const elements = source(frame);
      enterEach(frame, elements.length, body?.cost ?? 0, site);
      const work: Work = { frame, site, parts: 0 };
      const seen = new Set<Value>();
      const made: Value[] = [];
      for (let at = 0; at < elements.length; at += 1) {
        const element = elements[at] as Value;
        const { mark } = keyFor(frame, element, at, work);
        if (seen.has(mark)) continue;
        seen.add(mark);
        made.push(element);
      }
      settle(work);
      spendElements(frame, made.length, site);
      return made;
    };
  });
};

function end(at: (elements: readonly Value[]) => Value | undefined): Operation {
  return (node, checking) => {
    const found = listOperand(node, "list", checking);
    if (found === undefined) return undefined;
    return typed(node, checking, optionalOf(found.of), [found.list], (lowering) => {
      const source = asLists(found.list.lower(lowering));
      return (frame) => at(source(frame)) ?? null;
    });
  };
}

const flatten: Operation = (node, checking) => {
  const found = listOperand(node, "list", checking);
  if (found === undefined) return undefined;
  const { list, of } = found;
  if (isOptional(of)) return dropNulls(node, list, presentOf(of), checking);
  if (of.kind !== "list" && of.kind !== "nothing") {
    return mismatch(node, checking, "list", list.type, "list of lists or of optionals");
  }
  const type = listOf(of.kind === "list" ? of.of : NOTHING);
  return typed(node, checking, type, [list], (lowering, site) => {
    const source = asLists(list.lower(lowering)) as Code<readonly (readonly Value[])[]>;
    const { elements } = lowering.limits;
    return (frame) => {
      const outer = source(frame);
      spendElements(frame, outer.length, site);
      let size = 0;
      for (const inner of outer) size += inner.length;
      if (size > elements) throw tooLong(frame, site, elements);
      spendElements(frame, size, site);
      return outer.flat();
    };
  });
};

function dropNulls(node: OperatorNode, list: Typed, of: Type, checking: Checking): Typed {
  return typed(node, checking, listOf(of), [list], (lowering, site) => {
    const source = asLists(list.lower(lowering));
    return (frame) => {
      const elements = source(frame);
      spendElements(frame, elements.length, site);
      const made: Value[] = [];
      for (const element of elements) if (element !== null) made.push(element);
      spendElements(frame, made.length, site);
      return made;
    };
  });
}

function tooLong(frame: Frame, site: Site, elements: number): Error {
  return fail(frame, site, "too_large", `a list of more than ${elements} elements`);
}

/** Pays for integers from the first to the last, each of which may be as large as the larger end. */
function payIntegers(
  frame: Frame,
  first: bigint,
  last: bigint,
  length: number,
  site: Site,
  limits: EvaluationLimits,
): void {
  const bits = Math.max(bitLength(first), bitLength(last));
  if (bits > limits.integerBits) throw tooManyBits(frame, site, limits);
  if (bits >= 256) spend(frame, length * (bits >>> 8), site);
}

const range: Operation = (node, checking) => {
  const from = operandOf(node, "from", INTEGER, checking);
  const count = operandOf(node, "count", INTEGER, checking);
  if (from === undefined || count === undefined) return undefined;
  return typed(node, checking, listOf(INTEGER), [from, count], (lowering, site) => {
    const start = asIntegers(from.lower(lowering));
    const many = asIntegers(count.lower(lowering));
    const { limits } = lowering;
    return (frame) => {
      const first = start(frame);
      const size = many(frame);
      bitsRead(frame, first, site);
      bitsRead(frame, size, site);
      if (size < 0n) throw fail(frame, site, "out_of_range", `count is ${size}`);
      if (size > BigInt(limits.elements)) throw tooLong(frame, site, limits.elements);
      const length = Number(size);
      spendMade(frame, length, site);
      if (length > 0) payIntegers(frame, first, first + size - 1n, length, site, limits);
      const made: bigint[] = [];
      for (let at = 0n; at < size; at += 1n) made.push(first + at);
      return made;
    };
  });
};

const zip: Operation = (node, checking) => {
  const left = listOperand(node, "left", checking);
  const right = listOperand(node, "right", checking);
  if (left === undefined || right === undefined) return undefined;
  const type = listOf(
    recordOf([
      ["left", left.of],
      ["right", right.of],
    ]),
  );
  return typed(node, checking, type, [left.list, right.list], (lowering, site) => {
    const one = asLists(left.list.lower(lowering));
    const other = asLists(right.list.lower(lowering));
    return (frame) => {
      const first = one(frame);
      const second = other(frame);
      if (first.length !== second.length) {
        const what = `${first.length} elements on the left, ${second.length} on the right`;
        throw fail(frame, site, "length_mismatch", what);
      }
      spendElements(frame, first.length + second.length, site);
      spendMade(frame, first.length, site);
      return first.map((element, at) => {
        const made = emptyObject<Value>();
        made["left"] = element;
        made["right"] = second[at] ?? null;
        return made;
      });
    };
  });
};

export const sequences = {
  sort_by: sortBy,
  group_by: groupBy,
  distinct,
  first: end((elements) => elements[0]),
  last: end((elements) => elements.at(-1)),
  flatten,
  range,
  zip,
};
