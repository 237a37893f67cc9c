/**
 * Canonical bytes (RFC 8785) over the closed JSON domain.
 *
 * Owns the one text that every digest and signature in Rote is made from. It refuses rather than repairs: what is
 * not in the domain has no canonical form, so two different values never share one text.
 *
 * - C1 Members are ordered by UTF-16 units; nothing is normalised.
 * - C2 Numbers are finite doubles in their shortest form; -0 is written as 0.
 * - C3 Every property is read once, and only own data is read: no `toJSON`, no getters, no inherited members.
 */
import {
  type ByteSink,
  giveSpare,
  putAscii,
  putByte,
  putBytes,
  putQuoted,
  takeSpare,
} from "./canonical-bytes.ts";
import { RoteError } from "./error.ts";
import type { JsonValue } from "./json-value.ts";
import { pointer } from "./pointer.ts";
import { sortTexts } from "./text.ts";

/**
 * Deeper values are refused, a value that contains itself among them. Well above the reader's 64 levels because normal
 * forms nest deeper than what people write, well below what the stack takes.
 */
export const MAX_CANONICAL_DEPTH = 512;
const TOO_DEEP = `nesting over ${MAX_CANONICAL_DEPTH} levels, or a value that contains itself`;

interface Writer extends ByteSink {
  readonly known: ReadonlyMap<object, Uint8Array> | undefined;
  /** Where the writer is, for refusals; only the tokens above the current depth are meant. */
  readonly path: (string | number)[];
}

/**
 * The canonical text of a value.
 *
 * @throws RoteError `not_canonical` with the pointer of the first value outside the domain: a number that is not
 * finite, a lone surrogate, `undefined`, a function, bigint or symbol, a hole, an accessor or hidden property, an
 * object that is neither plain nor null-prototype, or nesting over 512 levels (so every cycle).
 */
export function canonicalText(value: JsonValue): string {
  return written("", value, undefined, (bytes) => bytes.toString("utf8"));
}

/** The UTF-8 bytes of `canonicalText`. `known` has those of frozen parts of the value, which are taken over. */
export function canonicalBytes(
  value: JsonValue,
  known?: ReadonlyMap<object, Uint8Array>,
): Uint8Array {
  return written("", value, known, ownCopy);
}

/** The canonical bytes behind a head of ASCII. */
export function canonicalBehind(head: string, value: JsonValue): Uint8Array {
  return written(head, value, undefined, ownCopy);
}

/** What `use` makes of the same bytes while they stand in the writer's buffer: they are no others' after it returned. */
export function overCanonical<T>(head: string, value: JsonValue, use: (bytes: Buffer) => T): T {
  return written(head, value, undefined, use);
}

function ownCopy(bytes: Buffer): Uint8Array {
  return new Uint8Array(bytes);
}

function written<T>(
  head: string,
  value: JsonValue,
  known: ReadonlyMap<object, Uint8Array> | undefined,
  use: (bytes: Buffer) => T,
): T {
  const writer: Writer = { bytes: takeSpare(), size: 0, known, path: [] };
  putAscii(writer, head);
  write(value, writer, 0);
  const made = use(writer.bytes.subarray(0, writer.size));
  giveSpare(writer.bytes);
  return made;
}

function write(value: unknown, writer: Writer, depth: number): void {
  switch (typeof value) {
    case "string":
      writeText(value, writer, depth);
      return;
    case "number":
      if (!Number.isFinite(value)) throw refusal(writer, depth, `${value} is not a finite number`);
      putAscii(writer, String(value));
      return;
    case "boolean":
      putAscii(writer, value ? "true" : "false");
      return;
    case "object":
      if (value === null) putAscii(writer, "null");
      else if (depth >= MAX_CANONICAL_DEPTH) throw refusal(writer, depth, TOO_DEEP);
      else if (Array.isArray(value)) writeArray(value, writer, depth);
      else writeObject(value, writer, depth);
      return;
    default:
      throw refusal(writer, depth, `${typeof value} is not a JSON value`);
  }
}

function writeText(text: string, writer: Writer, depth: number): void {
  if (!putQuoted(writer, text)) throw refusal(writer, depth, "a text with a lone surrogate");
}

function writeArray(list: readonly unknown[], writer: Writer, depth: number): void {
  if (Object.getPrototypeOf(list) !== Array.prototype) {
    throw refusal(writer, depth, "a list that is not a plain array");
  }
  putByte(writer, 0x5b);
  for (let index = 0; index < list.length; index += 1) {
    writer.path[depth] = index;
    if (index > 0) putByte(writer, 0x2c);
    write(list[index], writer, depth + 1);
  }
  putByte(writer, 0x5d);
}

function writeObject(record: object, writer: Writer, depth: number): void {
  const known = writer.known?.get(record);
  if (known !== undefined) {
    putBytes(writer, known);
    return;
  }
  const prototype: unknown = Object.getPrototypeOf(record);
  if (prototype !== null && prototype !== Object.prototype) {
    throw refusal(writer, depth, "an object that is neither plain nor without prototype");
  }
  const keys = Object.keys(record);
  // Counted one kind after the other: the platform's list of both kinds costs three times as much.
  const named = Object.getOwnPropertyNames(record).length;
  const symbols = Object.getOwnPropertySymbols(record).length;
  if (named + symbols > keys.length)
    throw refusal(writer, depth, "an object with symbol keys or hidden properties");
  sortTexts(keys);
  putByte(writer, 0x7b);
  for (let index = 0; index < keys.length; index += 1) {
    const key = keys[index] ?? "";
    writer.path[depth] = key;
    const member = Object.getOwnPropertyDescriptor(record, key);
    if (member === undefined || !("value" in member)) {
      throw refusal(writer, depth + 1, "a getter is not a JSON value");
    }
    if (index > 0) putByte(writer, 0x2c);
    writeText(key, writer, depth + 1);
    putByte(writer, 0x3a);
    write(member.value, writer, depth + 1);
  }
  putByte(writer, 0x7d);
}

function refusal(writer: Writer, depth: number, what: string): RoteError {
  const place = pointer(...writer.path.slice(0, depth));
  return new RoteError(
    "not_canonical",
    `no canonical form: ${what}, at ${place === "" ? "the root" : place}`,
    { pointer: place },
  );
}
