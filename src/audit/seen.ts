/**
 * A set of texts that keeps sixteen bytes of each, by their SHA-256: 32 to 64 with the places that are free.
 *
 * What was added is always found again. That two texts share their sixteen bytes would need a collision made on
 * purpose, and would show as a repetition that is none: never hide one.
 */
import { sha256Of } from "../base/digest.ts";

export interface Seen {
  has(text: string): boolean;
  /** True when it was not there before. */
  add(text: string): boolean;
  delete(text: string): void;
  readonly size: number;
}

/** Words of 32 bits per text. */
const WORDS = 4;
const FIRST_SLOTS = 64;

export function createSeen(): Seen {
  let slots = FIRST_SLOTS;
  let words = new Uint32Array(slots * WORDS);
  let size = 0;

  /** Where the text is, or the free slot where it would be. */
  function find(key: Uint32Array, table: Uint32Array, among: number): number {
    for (let slot = (key[0] ?? 0) % among; ; slot = slot + 1 === among ? 0 : slot + 1) {
      const at = slot * WORDS;
      if (isFree(table, at) || sameAt(table, at, key)) return at;
    }
  }

  function grow(): void {
    const larger = new Uint32Array(words.length * 2);
    for (let at = 0; at < words.length; at += WORDS) {
      if (isFree(words, at)) continue;
      const key = words.subarray(at, at + WORDS);
      larger.set(key, find(key, larger, slots * 2));
    }
    slots *= 2;
    words = larger;
  }

  return {
    has: (text) => !isFree(words, find(keyOf(text), words, slots)),
    add(text) {
      const key = keyOf(text);
      const at = find(key, words, slots);
      if (!isFree(words, at)) return false;
      words.set(key, at);
      size += 1;
      if (size * 2 > slots) grow();
      return true;
    },
    delete(text) {
      let free = find(keyOf(text), words, slots);
      if (isFree(words, free)) return;
      words.fill(0, free, free + WORDS);
      size -= 1;
      // What stands behind it may have been put there only because this place was taken.
      for (let at = next(free, words); !isFree(words, at); at = next(at, words)) {
        const key = words.slice(at, at + WORDS);
        words.fill(0, at, at + WORDS);
        free = find(key, words, slots);
        words.set(key, free);
      }
    },
    get size() {
      return size;
    },
  };
}

function next(at: number, words: Uint32Array): number {
  return at + WORDS === words.length ? 0 : at + WORDS;
}

function isFree(table: Uint32Array, at: number): boolean {
  return (table[at] ?? 0) === 0;
}

function sameAt(table: Uint32Array, at: number, key: Uint32Array): boolean {
  for (let word = 0; word < WORDS; word += 1) if (table[at + word] !== key[word]) return false;
  return true;
}

function keyOf(text: string): Uint32Array {
  const digest = sha256Of(text);
  const view = new DataView(digest.buffer, digest.byteOffset, digest.byteLength);
  const key = new Uint32Array(WORDS);
  for (let word = 0; word < WORDS; word += 1) key[word] = view.getUint32(word * 4);
  // A place is free when its first word is zero.
  if (key[0] === 0) key[0] = 1;
  return key;
}
