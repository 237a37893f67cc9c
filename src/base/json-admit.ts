/**
 * The way in for values that a caller gives as objects: a deep copy into the closed domain, under the limits of the
 * strict reader. Every property is looked at once, and only plain data is taken, so what was checked is what is kept.
 */
import {
  type JsonError,
  type JsonErrorCode,
  type JsonLimits,
  resolveLimits,
} from "./json-error.ts";
import { emptyObject, type JsonValue } from "./json-value.ts";
import { pointer } from "./pointer.ts";
import { err, ok, type Result } from "./result.ts";
import { hasLoneSurrogate } from "./text.ts";

interface Admission {
  readonly finite: boolean;
  readonly maxDepth: number;
  nodesLeft: number;
  /** Lower bound of the bytes that the value would take as text. */
  bytesLeft: number;
  readonly path: (string | number)[];
  readonly ancestors: object[];
}

/** Thrown inside this file only, and caught by `admitJson`. */
class Refusal extends Error {
  readonly code: JsonErrorCode;

  constructor(code: JsonErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * A deep, null-prototype copy of a value that is plain JSON data.
 *
 * Refuses `undefined`, functions, symbols and bigints, prototypes other than `Object.prototype`, `Array.prototype` and
 * null, accessors, hidden properties, holes, numbers outside `numbers`, lone surrogates and cycles. An object that occurs
 * in two places is copied twice. -0 becomes 0. An error has no position: line and column are 0.
 */
export function admitJson(value: unknown, limits: JsonLimits = {}): Result<JsonValue, JsonError> {
  const { finite, maxBytes, maxDepth, maxNodes } = resolveLimits(limits);
  const admission: Admission = {
    finite,
    maxDepth,
    nodesLeft: maxNodes,
    bytesLeft: maxBytes,
    path: [],
    ancestors: [],
  };
  try {
    return ok(admit(value, admission));
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    return err({
      code: refusal.code,
      pointer: pointer(...admission.path),
      offset: 0,
      line: 0,
      column: 0,
      excerpt: "",
      caret: 0,
      message: refusal.message,
    });
  }
}

function admit(value: unknown, admission: Admission): JsonValue {
  admission.nodesLeft -= 1;
  if (admission.nodesLeft < 0) {
    throw new Refusal("document_too_large", "more values than the limit allows");
  }
  charge(admission, 1);
  switch (typeof value) {
    case "string":
      return admitText(value, admission);
    case "number":
      return admitNumber(value, admission);
    case "boolean":
      return value;
    case "object":
      return value === null ? null : admitObject(value, admission);
    default:
      throw new Refusal("bad_json", `${typeof value} is not a JSON value`);
  }
}

function charge(admission: Admission, bytes: number): void {
  admission.bytesLeft -= bytes;
  if (admission.bytesLeft < 0) {
    throw new Refusal("document_too_large", "larger than the bytes allowed");
  }
}

function admitText(text: string, admission: Admission): string {
  charge(admission, text.length);
  if (hasLoneSurrogate(text)) {
    throw new Refusal("bad_encoding", "a text with a surrogate without its partner");
  }
  return text;
}

function admitNumber(value: number, admission: Admission): number {
  if (!Number.isFinite(value)) throw new Refusal("bad_number", `${value} is not a finite number`);
  if (!admission.finite && !Number.isSafeInteger(value)) {
    throw new Refusal("bad_number", `${value} is not a safe integer; write it as text`);
  }
  return value === 0 ? 0 : value;
}

function admitObject(value: object, admission: Admission): JsonValue {
  const { path, ancestors } = admission;
  if (ancestors.length >= admission.maxDepth) throw tooDeep(value, admission);
  ancestors.push(value);
  const copy = Array.isArray(value) ? admitList(value, admission) : admitRecord(value, admission);
  ancestors.pop();
  path.length = ancestors.length;
  return copy;
}

/** Whatever contains itself gets as deep as this, so cycles need no search of their own on the way down. */
function tooDeep(value: object, admission: Admission): Refusal {
  const { path, ancestors, maxDepth } = admission;
  const seen = new Set<object>();
  for (const [level, one] of [...ancestors, value].entries()) {
    if (seen.has(one)) {
      path.length = level;
      return new Refusal("bad_json", "the value contains itself");
    }
    seen.add(one);
  }
  return new Refusal("document_too_deep", `nested deeper than ${maxDepth} levels`);
}

function admitList(list: readonly unknown[], admission: Admission): JsonValue {
  if (Object.getPrototypeOf(list) !== Array.prototype) {
    throw new Refusal("bad_json", "a list must be a plain array");
  }
  if (list.length > admission.nodesLeft) {
    throw new Refusal("document_too_large", "more values than the limit allows");
  }
  // An array has its elements and `length`; anything more or less is a hole or a named property.
  if (Reflect.ownKeys(list).length !== list.length + 1) {
    throw new Refusal("bad_json", "a list must have no holes and no named properties");
  }
  const level = admission.ancestors.length - 1;
  const copy: JsonValue[] = [];
  for (let index = 0; index < list.length; index += 1) {
    admission.path[level] = index;
    copy.push(admit(ownData(list, index), admission));
  }
  return copy;
}

function admitRecord(record: object, admission: Admission): JsonValue {
  const prototype: unknown = Object.getPrototypeOf(record);
  if (prototype !== null && prototype !== Object.prototype) {
    throw new Refusal("bad_json", "an object must be plain, not an instance of a class");
  }
  const level = admission.ancestors.length - 1;
  const copy = emptyObject();
  for (const key of Reflect.ownKeys(record)) {
    if (typeof key === "symbol") throw new Refusal("bad_json", "a symbol is not a member name");
    admission.path[level] = key;
    admitText(key, admission);
    copy[key] = admit(ownData(record, key), admission);
  }
  return copy;
}

function ownData(holder: object, key: string | number): unknown {
  const property = Object.getOwnPropertyDescriptor(holder, key);
  if (property === undefined || !("value" in property)) {
    throw new Refusal("bad_json", "a getter is not plain data");
  }
  if (property.enumerable !== true) throw new Refusal("bad_json", "a hidden property");
  return property.value;
}
