/** Arguments as closed objects: what is not known is refused, since it may have been meant to restrict. */
import { isJsonObject, type JsonValue } from "../base/json.ts";

export type Members = { readonly [key: string]: JsonValue | undefined };

/** The members of an object that has no others than `known`, or why it is none. */
export function membersOf(args: JsonValue, known: readonly string[]): Members | string {
  if (!isJsonObject(args)) return "not an object";
  const stray = Object.keys(args).find((key) => !known.includes(key));
  return stray === undefined ? args : `there is no member ${JSON.stringify(stray.slice(0, 60))}`;
}

/** Why a request that was read is none; what `fault` answers. */
export function faultOf(read: object | string): string | null {
  return typeof read === "string" ? read : null;
}

export function isInteger(value: JsonValue | undefined, least: number): value is number {
  return Number.isSafeInteger(value) && Number(value) >= least;
}
