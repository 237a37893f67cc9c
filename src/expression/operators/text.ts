/** Texts: by code point where positions are counted, by UTF-16 unit where they are compared. */

import {
  type Checking,
  expect,
  mismatch,
  type Operation,
  operand,
  operandOf,
  type Typed,
  typed,
} from "../checking.ts";
import type { Site } from "../failure.ts";
import {
  asIntegers,
  asLists,
  asTexts,
  type Code,
  type Frame,
  fail,
  spendElements,
  spendMade,
  spendUnits,
} from "../frame.ts";
import type { EvaluationLimits } from "../limits.ts";
import type { OperatorNode } from "../parse-tree.ts";
import { includesText, splitText } from "../text-search.ts";
import { fits } from "../type-relations.ts";
import { BOOLEAN, INTEGER, listOf, TEXT } from "../types.ts";
import { comparing } from "./comparison.ts";

function sized(frame: Frame, units: number, site: Site, limits: EvaluationLimits): void {
  if (units > limits.textUnits) {
    throw fail(frame, site, "too_large", `a text of ${units} units`);
  }
  spendUnits(frame, units, site);
}

const concat: Operation = (node, checking) => {
  const values = node.values.map((value, index) => {
    const found = checking.check(value, checking);
    return found && expect(found, TEXT, `value ${index}`, node, checking) ? found : undefined;
  });
  const known = values.filter((value) => value !== undefined);
  if (known.length < values.length) return undefined;
  return typed(node, checking, TEXT, known, (lowering, site) => {
    const codes = known.map((value) => asTexts(value.lower(lowering)));
    return (frame) => {
      const parts: string[] = [];
      let units = 0;
      for (const code of codes) {
        const part = code(frame);
        parts.push(part);
        units += part.length;
      }
      sized(frame, units, site, lowering.limits);
      return parts.join("");
    };
  });
};

/** A text operator of one operand; `compute` may make the text longer. */
function onText(compute: (value: string) => string): Operation {
  return (node, checking) => {
    const value = operandOf(node, "value", TEXT, checking);
    if (value === undefined) return undefined;
    return typed(node, checking, TEXT, [value], (lowering, site) => {
      const text = asTexts(value.lower(lowering));
      return (frame) => {
        const given = text(frame);
        spendUnits(frame, given.length, site);
        const result = compute(given);
        sized(frame, result.length, site, lowering.limits);
        return result;
      };
    });
  };
}

/** Unicode's White_Space property (line ends are part of it), and U+FEFF. */
const SPACE = new Set(
  [
    [0x09, 0x0d],
    [0x20, 0x20],
    [0x85, 0x85],
    [0xa0, 0xa0],
    [0x1680, 0x1680],
    [0x2000, 0x200a],
    [0x2028, 0x2029],
    [0x202f, 0x202f],
    [0x205f, 0x205f],
    [0x3000, 0x3000],
    [0xfeff, 0xfeff],
  ].flatMap(([from = 0, to = 0]) => Array.from({ length: to - from + 1 }, (_, at) => from + at)),
);

function trimmed(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && SPACE.has(text.charCodeAt(from))) from += 1;
  while (to > from && SPACE.has(text.charCodeAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

const length: Operation = (node, checking) => {
  const value = operandOf(node, "value", TEXT, checking);
  if (value === undefined) return undefined;
  return typed(node, checking, INTEGER, [value], (lowering, site) => {
    const text = asTexts(value.lower(lowering));
    return (frame) => {
      const given = text(frame);
      spendUnits(frame, given.length, site);
      return BigInt(codePoints(given));
    };
  });
};

function codePoints(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length; at += 1) {
    // Texts hold no lone surrogates, so every low one ends a pair.
    if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) count -= 1;
  }
  return count;
}

/** The UTF-16 position of a code point, at most the text's length. */
function unitOf(text: string, from: number, points: number): number {
  let at = from;
  for (let left = points; left > 0 && at < text.length; left -= 1) {
    at += (text.charCodeAt(at) & 0xfc00) === 0xd800 ? 2 : 1;
  }
  return at;
}

const split: Operation = (node, checking) => {
  const value = operandOf(node, "value", TEXT, checking);
  const separator = operandOf(node, "separator", TEXT, checking);
  if (value === undefined || separator === undefined) return undefined;
  return typed(node, checking, listOf(TEXT), [value, separator], (lowering, site) => {
    const text = asTexts(value.lower(lowering));
    const between = asTexts(separator.lower(lowering));
    const { elements } = lowering.limits;
    return (frame) => {
      const given = text(frame);
      const mark = between(frame);
      if (mark === "") throw fail(frame, site, "out_of_range", "the separator is empty");
      spendUnits(frame, given.length + mark.length, site);
      const parts = splitText(given, mark, elements + 1);
      if (parts.length > elements) {
        throw fail(frame, site, "too_large", `a list of more than ${elements} elements`);
      }
      spendMade(frame, parts.length, site);
      return parts;
    };
  });
};

const join: Operation = (node, checking) => {
  const list = operandOf(node, "list", listOf(TEXT), checking);
  const separator = operandOf(node, "separator", TEXT, checking);
  if (list === undefined) return undefined;
  if (separator === undefined && node.operands.has("separator")) return undefined;
  const always = separator === undefined ? [list] : [list, separator];
  return typed(node, checking, TEXT, always, (lowering, site) => {
    const texts = list.lower(lowering) as Code<readonly string[]>;
    const between = separator === undefined ? () => "" : asTexts(separator.lower(lowering));
    return (frame) => {
      const parts = texts(frame);
      const mark = between(frame);
      spendElements(frame, parts.length, site);
      let units = mark.length * Math.max(0, parts.length - 1);
      for (const part of parts) units += part.length;
      sized(frame, units, site, lowering.limits);
      return parts.join(mark);
    };
  });
};

function test(compute: (value: string, other: string) => boolean): Operation {
  return (node, checking) => {
    const value = operandOf(node, "value", TEXT, checking);
    const other = operandOf(node, "with", TEXT, checking);
    if (value === undefined || other === undefined) return undefined;
    return typed(node, checking, BOOLEAN, [value, other], (lowering, site) => {
      const text = asTexts(value.lower(lowering));
      const part = asTexts(other.lower(lowering));
      return (frame) => {
        const given = text(frame);
        const wanted = part(frame);
        spendUnits(frame, wanted.length, site);
        return compute(given, wanted);
      };
    });
  };
}

const contains: Operation = (node, checking) => {
  const within = operand(node, "in", checking);
  const value = operand(node, "value", checking);
  if (within === undefined || value === undefined) return undefined;
  if (within.type.kind === "list") return containsElement(node, within, value, checking);
  if (!fits(within.type, TEXT)) {
    return mismatch(node, checking, "in", within.type, "text or list");
  }
  if (!expect(value, TEXT, "value", node, checking)) return undefined;
  return typed(node, checking, BOOLEAN, [within, value], (lowering, site) => {
    const text = asTexts(within.lower(lowering));
    const part = asTexts(value.lower(lowering));
    return (frame) => {
      const given = text(frame);
      const wanted = part(frame);
      spendUnits(frame, given.length + wanted.length, site);
      return includesText(given, wanted);
    };
  });
};

function containsElement(
  node: OperatorNode,
  within: Typed,
  value: Typed,
  checking: Checking,
): Typed | undefined {
  const of = within.type.kind === "list" ? within.type.of : within.type;
  const make = comparing(of, value.type, node, checking);
  if (make === undefined) return undefined;
  return typed(node, checking, BOOLEAN, [within, value], (lowering, site) => {
    const list = asLists(within.lower(lowering));
    const wanted = value.lower(lowering);
    const equal = make(site);
    return (frame) => {
      const elements = list(frame);
      const one = wanted(frame);
      spendElements(frame, elements.length, site);
      for (const element of elements) if (equal(element, one, frame)) return true;
      return false;
    };
  });
}

const slice: Operation = (node, checking) => {
  const value = operand(node, "value", checking);
  const from = operandOf(node, "from", INTEGER, checking);
  const count = operandOf(node, "count", INTEGER, checking);
  if (value === undefined || from === undefined) return undefined;
  if (count === undefined && node.operands.has("count")) return undefined;
  const isList = value.type.kind === "list";
  if (!isList && !fits(value.type, TEXT)) {
    return mismatch(node, checking, "value", value.type, "text or list");
  }
  const type = value.type.kind === "enum" ? TEXT : value.type;
  const always = count === undefined ? [value, from] : [value, from, count];
  return typed(node, checking, type, always, (lowering, site) => {
    const whole = value.lower(lowering);
    const start = asIntegers(from.lower(lowering));
    const many = count === undefined ? undefined : asIntegers(count.lower(lowering));
    return (frame) => {
      const given = whole(frame) as string | readonly string[];
      const first = start(frame);
      const size = many?.(frame);
      if (first < 0n) throw fail(frame, site, "out_of_range", `from is ${first}`);
      if (size !== undefined && size < 0n) {
        throw fail(frame, site, "out_of_range", `count is ${size}`);
      }
      const limit = given.length;
      const at = clamp(first, limit);
      const points = size === undefined ? limit : clamp(size, limit);
      if (typeof given === "string") {
        spendUnits(frame, limit, site);
        const unit = unitOf(given, 0, at);
        return given.slice(unit, unitOf(given, unit, points));
      }
      const part = given.slice(at, at + points);
      spendElements(frame, part.length, site);
      return part;
    };
  });
};

function clamp(value: bigint, limit: number): number {
  return value > BigInt(limit) ? limit : Number(value);
}

export const texts = {
  concat,
  length,
  lower: onText((text) => text.toLowerCase()),
  trim: onText(trimmed),
  split,
  join,
  starts_with: test((text, part) => text.startsWith(part)),
  ends_with: test((text, part) => text.endsWith(part)),
  contains,
  slice,
};
