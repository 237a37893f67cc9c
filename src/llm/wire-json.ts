/**
 * JSON of a provider, read loosely: members that are not known are passed over, and each that is used is looked at where
 * it is used. Texts of values stay as they were sent (`sourceAt`), since reading them as numbers would round.
 */
import { hasLoneSurrogate } from "../base/text.ts";
import type { ChatStop, ChatUsage } from "../model/chat.ts";

export type WireObject = { readonly [key: string]: unknown };

/** Says what of a reply is not as it must be; its text has nothing of the provider's in it. */
export class Malformed extends Error {
  override readonly name = "Malformed";
}

export function parseWire(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is WireObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An own member, or undefined: null counts as left out. */
export function member(of: WireObject, name: string): unknown {
  return Object.hasOwn(of, name) ? (of[name] ?? undefined) : undefined;
}

export function objectIn(of: WireObject, name: string): WireObject | undefined {
  const found = member(of, name);
  return isObject(found) ? found : undefined;
}

export function textIn(of: WireObject, name: string): string | undefined {
  const found = member(of, name);
  return typeof found === "string" ? found : undefined;
}

/** A list; left out counts as empty. */
export function listIn(of: WireObject, name: string): readonly unknown[] {
  const found = member(of, name);
  if (found === undefined) return [];
  if (Array.isArray(found)) return found;
  throw new Malformed(`"${name}" is no list`);
}

/** Text that can be written down: with half a character in it, there is no UTF-8 form of it. */
export function kept(text: string, what: string): string {
  if (hasLoneSurrogate(text)) throw new Malformed(`${what} has half a character in it`);
  return text;
}

/** What the provider calls something; nothing depends on it, so what cannot be written down is left out. */
export function nameIn(of: WireObject, name: string): string | null {
  const found = textIn(of, name);
  return found === undefined || hasLoneSurrogate(found) ? null : found;
}

/** What the wire's word for the end of a reply means; one that is not listed is not taken for an end. */
export function stopIn(
  of: WireObject,
  name: string,
  known: { readonly [word: string]: ChatStop },
): ChatStop {
  const word = textIn(of, name);
  return (word !== undefined && Object.hasOwn(known, word) ? known[word] : undefined) ?? "other";
}

/** `undefined` is left out, `null` is no count of tokens. */
export type Count = number | null | undefined;

export function countIn(of: WireObject, name: string): Count {
  const found = member(of, name);
  if (found === undefined) return undefined;
  return typeof found === "number" && Number.isSafeInteger(found) && found >= 0 ? found : null;
}

/** One convention for all; parts that are larger than the whole mean that neither is known. */
export function usageOf(
  input: number | null,
  output: number | null,
  cached: number | null,
  written: number | null,
): ChatUsage {
  const parts = (cached ?? 0) + (written ?? 0);
  const known = input !== null && Number.isSafeInteger(input) && parts <= input;
  return {
    input_tokens: known ? input : null,
    output_tokens: output,
    cached_input_tokens: known ? cached : null,
    cache_write_tokens: known ? written : null,
  };
}
