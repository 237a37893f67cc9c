/** decode, to_text, to_json: between types and their text and JSON forms. */
import type { JsonValue } from "../../base/json.ts";
import type { Type } from "../../model/type.ts";
import type { Value } from "../../model/value.ts";
import {
  enter,
  entryOf,
  mismatch,
  type Operation,
  operand,
  operandOf,
  problem,
  typed,
} from "../checking.ts";
import { timestampText } from "../dates.ts";
import { decimalText, numberOfDecimal } from "../decimals.ts";
import { type Extent, measure } from "../extent.ts";
import type { Site } from "../failure.ts";
import { asIntegers, type Frame, fail, spendElements, spendMade, spendUnits } from "../frame.ts";
import type { EvaluationLimits } from "../limits.ts";
import { readValue } from "../read.ts";
import { fits, leastCommon } from "../type-relations.ts";
import { INTEGER, JSON_TYPE, presentOf, TEXT, typeName, valueType } from "../types.ts";
import { writeValue } from "../write.ts";
import { bitsRead } from "./arithmetic.ts";

/** Types that some text can be read as. */
function readsText(type: Type): boolean {
  switch (presentOf(type).kind) {
    case "integer":
    case "decimal":
    case "text":
    case "enum":
    case "date":
    case "timestamp":
    case "json":
      return true;
    default:
      return false;
  }
}

const decode: Operation = (node, checking) => {
  const value = operand(node, "value", checking);
  const otherwise = operand(node, "else", checking);
  const reading = node.type;
  if (value === undefined || reading === undefined) return undefined;
  if (otherwise === undefined && node.operands.has("else")) return undefined;
  const isJson = fits(value.type, JSON_TYPE);
  if (!isJson && !fits(value.type, TEXT)) {
    return mismatch(node, checking, "value", value.type, "json or text");
  }
  if (!isJson && !readsText(reading)) {
    const what = `text is never ${typeName(reading)}`;
    return problem(node, checking, "type_mismatch", what);
  }
  const read = valueType(reading);
  const type = otherwise === undefined ? read : leastCommon(read, otherwise.type);
  if (type === undefined) {
    const other = otherwise === undefined ? "" : typeName(otherwise.type);
    const what = `${typeName(read)} and else, ${other}, have no common type`;
    return problem(node, checking, "type_mismatch", what);
  }
  return typed(node, checking, type, [value], (lowering, site) => {
    const source = value.lower(lowering);
    const { limits } = lowering;
    const instead = otherwise === undefined ? undefined : entryOf(otherwise, lowering);
    return (frame) => {
      const json = source(frame) as JsonValue;
      payJson(frame, json, site, limits);
      const result = readValue(reading, json, limits);
      if (result.ok) return result.value;
      const { code, message } = result.error;
      if (instead !== undefined && code !== "too_large") return enter(frame, instead);
      throw fail(frame, site, code, message);
    };
  });
};

function payJson(frame: Frame, json: JsonValue, site: Site, limits: EvaluationLimits): void {
  if (typeof json === "string") spendUnits(frame, json.length, site);
  else if (typeof json === "object" && json !== null) payCopy(frame, JSON_TYPE, json, site, limits);
}

/** Measures a value that will be written or copied as a whole, and pays for it. */
export function payCopy(
  frame: Frame,
  type: Type,
  value: Value,
  site: Site,
  limits: EvaluationLimits,
): void {
  const { nodes, units } = extentOf(frame, type, value, site, limits);
  spendMade(frame, nodes, site);
  spendUnits(frame, units, site);
}

/** The same for a value that is only looked through. */
export function payLook(
  frame: Frame,
  type: Type,
  value: Value,
  site: Site,
  limits: EvaluationLimits,
): void {
  const { nodes, units } = extentOf(frame, type, value, site, limits);
  spendElements(frame, nodes, site);
  spendUnits(frame, units, site);
}

function extentOf(
  frame: Frame,
  type: Type,
  value: Value,
  site: Site,
  limits: EvaluationLimits,
): Extent {
  const extent = measure(type, value, limits);
  if (typeof extent === "string") throw fail(frame, site, "too_large", extent);
  return extent;
}

const toText: Operation = (node, checking) => {
  const value = operand(node, "value", checking);
  if (value === undefined) return undefined;
  const scale = node.number ?? 0;
  const { kind } = value.type;
  if (scale > 0 && kind !== "integer" && kind !== "nothing") {
    const what = `scale is for integers, not for ${typeName(value.type)}`;
    return problem(node, checking, "bad_member", what);
  }
  const write = textWriter(value.type, scale);
  if (write === undefined) {
    const wanted = "integer, boolean, date, timestamp or enum";
    return mismatch(node, checking, "value", value.type, wanted);
  }
  return typed(node, checking, TEXT, [value], (lowering, site) => {
    const source = value.lower(lowering);
    return (frame) => {
      const given = source(frame);
      if (typeof given === "bigint") bitsRead(frame, given, site);
      const text = write(given);
      if (text.length > lowering.limits.textUnits) {
        throw fail(frame, site, "too_large", `a text of ${text.length} units`);
      }
      spendUnits(frame, text.length, site);
      return text;
    };
  });
};

function textWriter(type: Type, scale: number): ((value: Value) => string) | undefined {
  switch (type.kind) {
    case "integer":
      return (value) => decimalText(value as bigint, scale);
    case "boolean":
      return (value) => (value === true ? "true" : "false");
    case "timestamp":
      return (value) => timestampText(value as number);
    case "date":
    case "enum":
    case "nothing":
      return (value) => value as string;
    default:
      return undefined;
  }
}

const toJson: Operation = (node, checking) => {
  const { number } = node;
  if (number === undefined) {
    const value = operand(node, "value", checking);
    if (value === undefined) return undefined;
    const { type } = value;
    return typed(node, checking, JSON_TYPE, [value], (lowering, site) => {
      const source = value.lower(lowering);
      return (frame) => {
        const given = source(frame);
        payCopy(frame, type, given, site, lowering.limits);
        return writeValue(type, given);
      };
    });
  }
  const value = operandOf(node, "value", INTEGER, checking);
  if (value === undefined) return undefined;
  return typed(node, checking, JSON_TYPE, [value], (lowering, site) => {
    const source = asIntegers(value.lower(lowering));
    return (frame) => {
      const given = source(frame);
      bitsRead(frame, given, site);
      const result = numberOfDecimal(given, number);
      if (result !== undefined) return result;
      const what = `${shownInteger(given)} / 10^${number} has no exact JSON number`;
      throw fail(frame, site, "inexact", what);
    };
  });
};

function shownInteger(value: bigint): string {
  const digits = value.toString();
  return digits.length <= 24 ? digits : `${digits.slice(0, 24)}.. (${digits.length} digits)`;
}

export const conversions = { decode, to_text: toText, to_json: toJson };
