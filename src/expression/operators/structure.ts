/** list, record, merge, entries, digest: values made of values. */
import { digestOf } from "../../base/digest.ts";
import { emptyObject } from "../../base/json-value.ts";
import { TAGS } from "../../base/tags.ts";
import { compareText } from "../../base/text.ts";
import type { Type } from "../../model/type.ts";
import type { Value } from "../../model/value.ts";

import {
  type Checking,
  commonOf,
  mismatch,
  type Operation,
  operand,
  problem,
  type Typed,
  typed,
} from "../checking.ts";
import { asDictionaries, asRecords, fail, spend, spendElements, spendMade } from "../frame.ts";
import type { OperatorNode } from "../parse-tree.ts";
import { recordValue } from "../read.ts";
import { leastCommon } from "../type-relations.ts";
import { listOf, recordOf, TEXT, typeName } from "../types.ts";
import { writeValue } from "../write.ts";
import { payCopy } from "./conversion.ts";

/** Tag of the digests that expressions compute. */
const VALUE_TAG = TAGS.value;

const list: Operation = (node, checking) => {
  const values = node.values.map((value) => checking.check(value, checking));
  const known = values.filter((value) => value !== undefined);
  if (known.length < values.length) return undefined;
  const of = commonOf(known.map(({ type }) => type));
  if (of === undefined) {
    const [first] = known;
    const odd = known.find(({ type }) => first && leastCommon(first.type, type) === undefined);
    const names = [first, odd].map((each) => (each === undefined ? "" : typeName(each.type)));
    return problem(node, checking, "type_mismatch", `${names.join(" and ")} have no common type`);
  }
  return typed(node, checking, listOf(of), known, (lowering, site) => {
    const codes = known.map((value) => value.lower(lowering));
    return (frame) => {
      spendElements(frame, codes.length, site);
      const made: Value[] = [];
      for (const code of codes) made.push(code(frame));
      return made;
    };
  });
};

const record: Operation = (node, checking) => {
  const fields = [...node.fields].map(
    ([name, value]) => [name, checking.check(value, checking)] as const,
  );
  const known: (readonly [string, Typed])[] = [];
  for (const [name, value] of fields) if (value !== undefined) known.push([name, value]);
  if (known.length < fields.length) return undefined;
  const type = recordOf(known.map(([name, value]) => [name, value.type]));
  const operands = known.map(([, value]) => value);
  return typed(node, checking, type, operands, (lowering) => {
    const codes = known.map(([name, value]) => ({ name, code: value.lower(lowering) }));
    return (frame) => {
      const made = emptyObject<Value>();
      for (const { name, code } of codes) made[name] = code(frame);
      return made;
    };
  });
};

const merge: Operation = (node, checking) => {
  const left = operand(node, "left", checking);
  const right = operand(node, "right", checking);
  if (left === undefined || right === undefined) return undefined;
  if (left.type.kind === "record" && right.type.kind === "record") {
    return mergeRecords(node, left, right, left.type.fields, right.type.fields, checking);
  }
  if (left.type.kind === "dictionary" && right.type.kind === "dictionary") {
    return mergeDictionaries(node, left, right, checking);
  }
  const isEither = left.type.kind === "record" || left.type.kind === "dictionary";
  return isEither
    ? mismatch(node, checking, "right", right.type, left.type.kind)
    : mismatch(node, checking, "left", left.type, "record or dictionary");
};

function mergeRecords(
  node: OperatorNode,
  left: Typed,
  right: Typed,
  leftFields: ReadonlyMap<string, Type>,
  rightFields: ReadonlyMap<string, Type>,
  checking: Checking,
): Typed {
  const type = recordOf(new Map([...leftFields, ...rightFields]));
  const rightNames = [...rightFields.keys()];
  const leftNames = [...leftFields.keys()].filter((name) => !rightFields.has(name));
  return typed(node, checking, type, [left, right], (lowering, site) => {
    const one = asRecords(left.lower(lowering));
    const other = asRecords(right.lower(lowering));
    const size = leftNames.length + rightNames.length;
    return (frame) => {
      const first = one(frame);
      const second = other(frame);
      spendElements(frame, size, site);
      const made = emptyObject<Value>();
      for (const name of leftNames) made[name] = first[name] ?? null;
      for (const name of rightNames) made[name] = second[name] ?? null;
      return made;
    };
  });
}

function mergeDictionaries(
  node: OperatorNode,
  left: Typed,
  right: Typed,
  checking: Checking,
): Typed | undefined {
  const type = leastCommon(left.type, right.type);
  if (type === undefined) {
    const what = `${typeName(left.type)} and ${typeName(right.type)} have no common type`;
    return problem(node, checking, "type_mismatch", what);
  }
  return typed(node, checking, type, [left, right], (lowering, site) => {
    const one = asDictionaries(left.lower(lowering));
    const other = asDictionaries(right.lower(lowering));
    const { elements } = lowering.limits;
    return (frame) => {
      const first = one(frame);
      const second = other(frame);
      spendElements(frame, first.size + second.size, site);
      const made = new Map([...first, ...second]);
      spendElements(frame, made.size, site);
      if (made.size <= elements) return made;
      throw fail(frame, site, "too_large", `a dictionary of ${made.size} elements`);
    };
  });
}

const entries: Operation = (node, checking) => {
  const value = operand(node, "value", checking);
  if (value === undefined) return undefined;
  if (value.type.kind !== "dictionary" && value.type.kind !== "nothing") {
    return mismatch(node, checking, "value", value.type, "dictionary");
  }
  const of = value.type.kind === "dictionary" ? value.type.of : value.type;
  const type = listOf(
    recordOf([
      ["key", TEXT],
      ["value", of],
    ]),
  );
  return typed(node, checking, type, [value], (lowering, site) => {
    const source = asDictionaries(value.lower(lowering));
    return (frame) => {
      const given = source(frame);
      const { size } = given;
      spendElements(frame, size, site);
      spendMade(frame, size, site);
      if (size > 1) spend(frame, size * (31 - Math.clz32(size)), site);
      const sorted = [...given].sort(([left], [right]) => compareText(left, right));
      return sorted.map(([key, element]) =>
        recordValue([
          ["key", key],
          ["value", element],
        ]),
      );
    };
  });
};

const digest: Operation = (node, checking) => {
  const value = operand(node, "value", checking);
  if (value === undefined) return undefined;
  const { type } = value;
  return typed(node, checking, TEXT, [value], (lowering, site) => {
    const source = value.lower(lowering);
    return (frame) => {
      const given = source(frame);
      payCopy(frame, type, given, site, lowering.limits);
      return digestOf(VALUE_TAG, writeValue(type, given));
    };
  });
};

export const structure = { list, record, merge, entries, digest };
