/** Operators that look at every element with a name for it: map, filter, fold, all, any, sum, count, lookup. */
import type { Type } from "../../model/type.ts";
import type { RecordValue, Value } from "../../model/value.ts";
import {
  article,
  bind,
  type Checking,
  expect,
  listOperand,
  mismatch,
  type Operation,
  operand,
  problem,
  type Typed,
  typed,
} from "../checking.ts";
import type { Site } from "../failure.ts";
import {
  asLists,
  type Code,
  type Frame,
  fail,
  LIST_SHIFT,
  type Lowering,
  outOfFuel,
  spendElements,
} from "../frame.ts";
import type { OperatorNode } from "../parse-tree.ts";
import { fits } from "../type-relations.ts";
import { BOOLEAN, INTEGER, listOf, optionalOf, typeName, valueType } from "../types.ts";
import { built, isSmall } from "./arithmetic.ts";
import { elementMatch } from "./matching.ts";

/** A list operator's list and what it evaluates per element. */
export interface Each {
  readonly list: Typed;
  readonly of: Type;
  /** Undefined where the member was left out. */
  readonly body: Typed | undefined;
  readonly slot: number;
}

/** Checks the list and the member that is evaluated per element. Undefined after a report. */
export function eachOf(
  node: OperatorNode,
  member: string,
  checking: Checking,
  wanted?: Type,
): Each | undefined {
  const found = listOperand(node, "list", checking);
  if (found === undefined) return undefined;
  const { list, of } = found;
  const { inside, slot, free } = bind(node, "as", of, true, checking);
  const body = operand(node, member, inside);
  if (body === undefined) {
    return node.operands.has(member) || !free ? undefined : { list, of, body, slot };
  }
  if (wanted !== undefined && !expect(body, wanted, member, node, checking)) return undefined;
  return free ? { list, of, body, slot } : undefined;
}

/** Pays for a body and the reading of a list before its elements are looked at. */
export function enterEach(frame: Frame, elements: number, cost: number, site: Site): void {
  frame.fuel -= elements * cost + (elements >>> LIST_SHIFT);
  if (frame.fuel < 0) throw outOfFuel(frame, site);
}

interface Loop<T extends Value> {
  readonly list: Code<readonly Value[]>;
  readonly body: Code<T>;
  readonly cost: number;
  readonly slot: number;
  readonly site: Site;
  readonly lowering: Lowering;
}

/** An operator that needs nothing but a loop over the list. */
function looping<T extends Value>(
  node: OperatorNode,
  checking: Checking,
  { list, body, slot }: Each,
  type: Type,
  make: (loop: Loop<T>) => Code,
): Typed {
  return typed(node, checking, type, [list], (lowering, site) =>
    make({
      list: asLists(list.lower(lowering)),
      // A body is given only where the checker found one of this type.
      body: (body?.lower(lowering) ?? (() => null)) as Code<T>,
      cost: body?.cost ?? 0,
      slot,
      site,
      lowering,
    }),
  );
}

const map: Operation = (node, checking) => {
  const each = eachOf(node, "value", checking);
  if (each?.body === undefined) return undefined;
  return looping(
    node,
    checking,
    each,
    listOf(each.body.type),
    ({ list, body, cost, slot, site }) =>
      (frame) => {
        const elements = list(frame);
        const { length } = elements;
        enterEach(frame, length, cost, site);
        spendElements(frame, length, site);
        const { items, positions } = frame;
        const made: Value[] = [];
        for (let at = 0; at < length; at += 1) {
          items[slot] = elements[at] as Value;
          positions[slot] = at;
          made.push(body(frame));
        }
        return made;
      },
  );
};

const filter: Operation = (node, checking) => {
  const each = eachOf(node, "where", checking, BOOLEAN);
  if (each === undefined) return undefined;
  return looping<boolean>(node, checking, each, listOf(each.of), (loop) => {
    const { list, body, cost, slot, site, lowering } = loop;
    const match = each.body && elementMatch(each.body, slot, lowering);
    if (match !== undefined) {
      const { field, value } = match;
      return (frame) => {
        const elements = list(frame);
        enterEach(frame, elements.length, cost, site);
        const made: Value[] = [];
        for (let at = 0; at < elements.length; at += 1) {
          const element = elements[at] as RecordValue;
          if (element[field] === value) made.push(element);
        }
        spendElements(frame, made.length, site);
        return made;
      };
    }
    return (frame) => {
      const elements = list(frame);
      const { length } = elements;
      enterEach(frame, length, cost, site);
      const { items, positions } = frame;
      const made: Value[] = [];
      for (let at = 0; at < length; at += 1) {
        const element = elements[at] as Value;
        items[slot] = element;
        positions[slot] = at;
        if (body(frame)) made.push(element);
      }
      spendElements(frame, made.length, site);
      return made;
    };
  });
};

const fold: Operation = (node, checking) => {
  const found = listOperand(node, "list", checking);
  const from = operand(node, "from", checking);
  const type = node.type === undefined ? from?.type : valueType(node.type);
  if (found === undefined || from === undefined || type === undefined) return undefined;
  if (!expect(from, type, "from", node, checking)) return undefined;
  const outer = bind(node, "as", found.of, true, checking);
  const inner = bind(node, "into", type, false, outer.inside);
  const body = operand(node, "value", inner.inside);
  if (body === undefined || !outer.free || !inner.free) return undefined;
  if (!fits(body.type, type)) {
    const what = `value is ${article(typeName(body.type))}, but the fold starts with ${article(typeName(type))}`;
    return problem(node, checking, "type_mismatch", what, "say with type what the total is");
  }
  return typed(node, checking, type, [found.list, from], (lowering, site) => {
    const list = asLists(found.list.lower(lowering));
    const start = from.lower(lowering);
    const step = body.lower(lowering);
    const { cost } = body;
    return (frame) => {
      const elements = list(frame);
      let total = start(frame);
      const { length } = elements;
      enterEach(frame, length, cost, site);
      const { items, positions } = frame;
      for (let at = 0; at < length; at += 1) {
        items[outer.slot] = elements[at] as Value;
        positions[outer.slot] = at;
        items[inner.slot] = total;
        total = step(frame);
      }
      return total;
    };
  });
};

const all: Operation = (node, checking) => {
  const each = eachOf(node, "where", checking, BOOLEAN);
  if (each === undefined) return undefined;
  return looping<boolean>(node, checking, each, BOOLEAN, (loop) => {
    const count = counting(loop);
    const { list } = loop;
    return (frame) => {
      const elements = list(frame);
      if (elements.length === 0) return node.flag;
      return count(frame, elements) === elements.length;
    };
  });
};

const any: Operation = (node, checking) => {
  const each = eachOf(node, "where", checking, BOOLEAN);
  if (each === undefined) return undefined;
  return looping<boolean>(node, checking, each, BOOLEAN, (loop) => {
    const count = counting(loop);
    const { list } = loop;
    return (frame) => count(frame, list(frame)) > 0;
  });
};

const count: Operation = (node, checking) => {
  const each = eachOf(node, "where", checking, BOOLEAN);
  if (each === undefined) return undefined;
  return looping<boolean>(node, checking, each, INTEGER, (loop) => {
    const { list } = loop;
    if (each.body === undefined) return (frame) => BigInt(list(frame).length);
    const hits = counting(loop);
    return (frame) => BigInt(hits(frame, list(frame)));
  });
};

/** How many elements hold. Every one is looked at, so that no failure depends on the order of the list. */
function counting({ body, cost, slot, site }: Loop<boolean>) {
  return (frame: Frame, elements: readonly Value[]): number => {
    const { length } = elements;
    enterEach(frame, length, cost, site);
    const { items, positions } = frame;
    let hits = 0;
    for (let at = 0; at < length; at += 1) {
      items[slot] = elements[at] as Value;
      positions[slot] = at;
      if (body(frame)) hits += 1;
    }
    return hits;
  };
}

const sum: Operation = (node, checking) => {
  const each = eachOf(node, "value", checking, INTEGER);
  if (each === undefined) return undefined;
  if (each.body === undefined) {
    if (!fits(each.of, INTEGER)) {
      return mismatch(node, checking, "list", each.list.type, typeName(listOf(INTEGER)));
    }
    return typed(node, checking, INTEGER, [each.list], (lowering, site) => {
      const list = asLists(each.list.lower(lowering)) as Code<readonly bigint[]>;
      const { limits } = lowering;
      const roomy = limits.integerBits >= 64;
      return (frame) => {
        const elements = list(frame);
        spendElements(frame, elements.length, site);
        let total = 0n;
        for (const element of elements) {
          total += element;
          if (!(roomy && isSmall(total))) built(frame, total, site, limits);
        }
        return total;
      };
    });
  }
  const { body: value } = each;
  return looping<bigint>(node, checking, each, INTEGER, (loop) => {
    const { list, body, cost, slot, site, lowering } = loop;
    const { limits } = lowering;
    const roomy = limits.integerBits >= 64;
    const field = elementField(value, slot, lowering);
    if (field !== undefined) {
      return (frame) => {
        const elements = list(frame);
        const { length } = elements;
        enterEach(frame, length, cost, site);
        let total = 0n;
        for (let at = 0; at < length; at += 1) {
          total += (elements[at] as RecordValue)[field] as bigint;
          if (!(roomy && isSmall(total))) built(frame, total, site, limits);
        }
        return total;
      };
    }
    return (frame) => {
      const elements = list(frame);
      const { length } = elements;
      enterEach(frame, length, cost, site);
      const { items, positions } = frame;
      let total = 0n;
      for (let at = 0; at < length; at += 1) {
        items[slot] = elements[at] as Value;
        positions[slot] = at;
        total += body(frame);
        if (!(roomy && isSmall(total))) built(frame, total, site, limits);
      }
      return total;
    };
  });
};

/** The field, where a body is nothing but one field of the element: then it can be read without a call. */
function elementField(body: Typed, slot: number, lowering: Lowering): string | undefined {
  const { direct } = body;
  if (direct?.from !== "items" || direct.fields.length !== 1) return undefined;
  return direct.slot(lowering) === slot ? direct.fields[0] : undefined;
}

const lookup: Operation = (node, checking) => {
  const each = eachOf(node, "where", checking, BOOLEAN);
  if (each === undefined) return undefined;
  return looping<boolean>(
    node,
    checking,
    each,
    optionalOf(each.of),
    ({ list, body, cost, slot, site }) =>
      (frame) => {
        const elements = list(frame);
        const { length } = elements;
        enterEach(frame, length, cost, site);
        const { items, positions } = frame;
        let hits = 0;
        let found: Value = null;
        for (let at = 0; at < length; at += 1) {
          const element = elements[at] as Value;
          items[slot] = element;
          positions[slot] = at;
          if (!body(frame)) continue;
          hits += 1;
          found = element;
        }
        if (hits <= 1) return found;
        throw fail(frame, site, "ambiguous", `${hits} of ${length} elements fit`);
      },
  );
};

export const lists = { map, filter, fold, all, any, count, sum, lookup };
