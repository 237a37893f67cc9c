/**
 * The shortest text that a value can have, where only its canonical text is as short.
 *
 * Everything that a text may have beside the canonical one makes it longer: escapes, blanks, members that others of the
 * same name replaced, other spellings of numbers. So a text that is no longer than that is the canonical one, provided
 * that its members are in order, and that none of its numbers has another spelling that is as short. Such a spelling needs
 * an exponent of two or more (1e2 for 100), which only multiples of a hundred have among whole numbers.
 */
import { isJsonArray, type JsonValue } from "../base/json.ts";

/** No length at all, and none of what it is added to. */
const UNKNOWN = Number.NaN;

/**
 * UTF-16 units of the text without escapes, for a value that the platform read. NaN for a value of which other texts are as
 * short, for some others, and for what nests deeper than `levels`.
 */
export function plainLength(value: JsonValue, levels: number): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value === "number") return lengthOfNumber(value);
  if (typeof value === "boolean") return value ? 4 : 5;
  if (value === null) return 4;
  if (levels === 0) return UNKNOWN;
  return isJsonArray(value) ? lengthOfList(value, levels) : lengthOfObject(value, levels);
}

function lengthOfNumber(value: number): number {
  if (value === 0) return 1;
  if (!Number.isSafeInteger(value) || value % 100 === 0) return UNKNOWN;
  let length = value < 0 ? 2 : 1;
  const size = Math.abs(value);
  for (let power = 10; power <= size; power *= 10) length += 1;
  return length;
}

function lengthOfList(list: readonly JsonValue[], levels: number): number {
  let length = 2 + Math.max(0, list.length - 1);
  for (const element of list) length += plainLength(element, levels - 1);
  return length;
}

function lengthOfObject(record: { readonly [member: string]: JsonValue }, levels: number): number {
  let length = 1;
  let before: string | undefined;
  // What was just parsed has no members but its own.
  for (const member in record) {
    if (before !== undefined && before >= member) return UNKNOWN;
    // Whole numbers come first here, wherever they stand in the text.
    if (isDigit(member.charCodeAt(0))) return UNKNOWN;
    before = member;
    length += member.length + 4 + plainLength(record[member] ?? null, levels - 1);
  }
  return before === undefined ? 2 : length;
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}
