/** From pointers back to places in the text. A second scan, made only when there is something to report. */
import { placesOf, type TextPlace } from "./json-text.ts";
import { parsePointer } from "./pointer.ts";

/** A tree of the wanted pointers, so that one scan serves any number of them. */
interface Wanted {
  /** The pointers that end here. */
  readonly pointers: string[];
  readonly children: Map<string, Wanted>;
}

interface Found {
  readonly pointer: string;
  readonly offset: number;
}

/**
 * Where the value of each pointer begins in a text that `readJson` accepted. A pointer to something that is not there
 * (a missing member) gets the place of the nearest enclosing value that is. A text that is not JSON gives places as far
 * as it can be followed, never an error.
 */
export function locate(text: string, pointers: readonly string[]): ReadonlyMap<string, TextPlace> {
  const root: Wanted = { pointers: [], children: new Map() };
  for (const one of new Set(pointers)) {
    let node = root;
    for (const token of parsePointer(one) ?? []) {
      let child = node.children.get(token);
      if (child === undefined) {
        child = { pointers: [], children: new Map() };
        node.children.set(token, child);
      }
      node = child;
    }
    node.pointers.push(one);
  }
  const found: Found[] = [];
  visit(text, skipBlank(text, 0), root, found);
  found.sort((left, right) => left.offset - right.offset);
  const places = placesOf(
    text,
    found.map((one) => one.offset),
  );
  const located = new Map<string, TextPlace>();
  for (const [index, place] of places.entries()) {
    const one = found[index];
    if (one !== undefined) located.set(one.pointer, place);
  }
  return located;
}

/**
 * The text of one value, as it stands in a JSON text; undefined when nothing is there. Of members with the same name it
 * is the last, as `JSON.parse` has it.
 */
export function sourceAt(text: string, at: string): string | undefined {
  let start: number | undefined = skipBlank(text, 0);
  for (const token of parsePointer(at) ?? []) {
    start = start === undefined ? undefined : memberAt(text, start, token);
  }
  return start === undefined ? undefined : text.slice(start, skipValue(text, start));
}

/** The texts of all elements of a list, or of the values of an object's members, in one pass. */
export function sourcesIn(text: string): readonly string[] {
  const sources: string[] = [];
  eachMember(text, skipBlank(text, 0), (_token, at) => {
    const end = skipValue(text, at);
    sources.push(text.slice(at, end));
    return end;
  });
  return sources;
}

function memberAt(text: string, start: number, wanted: string): number | undefined {
  let last: number | undefined;
  eachMember(text, start, (token, at) => {
    if (token === wanted) last = at;
    return skipValue(text, at);
  });
  return last;
}

/** Visits the value at `start`, collects what is wanted in it, and returns the offset after it. */
function visit(text: string, start: number, wanted: Wanted, found: Found[]): number {
  for (const one of wanted.pointers) found.push({ pointer: one, offset: start });
  if (wanted.children.size === 0) return skipValue(text, start);
  const missing = new Set(wanted.children.keys());
  const end = eachMember(text, start, (token, at) => {
    const child = wanted.children.get(token);
    missing.delete(token);
    return child === undefined ? skipValue(text, at) : visit(text, at, child, found);
  });
  for (const token of missing) {
    const child = wanted.children.get(token);
    if (child !== undefined) placeAll(child, start, found);
  }
  return end;
}

/**
 * Hands every member of the object or list at `start` to `take`, which returns the offset after it.
 *
 * @returns the offset after the value
 */
function eachMember(
  text: string,
  start: number,
  take: (token: string, at: number) => number,
): number {
  const open = text[start];
  if (open !== "{" && open !== "[") return skipValue(text, start);
  let at = skipBlank(text, start + 1);
  for (let index = 0; at < text.length && text[at] !== "}" && text[at] !== "]"; index += 1) {
    let token = String(index);
    if (open === "{") {
      const end = skipText(text, at);
      token = memberName(text.slice(at, end));
      at = skipBlank(text, end);
      if (text[at] === ":") at = skipBlank(text, at + 1);
    }
    const before = at;
    at = skipBlank(text, take(token, at));
    if (text[at] === ",") at = skipBlank(text, at + 1);
    if (at <= before) break;
  }
  return at + 1;
}

/** Everything wanted below a value that is not there stands where the enclosing value begins. */
function placeAll(wanted: Wanted, offset: number, found: Found[]): void {
  const open = [wanted];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const one of node.pointers) found.push({ pointer: one, offset });
    open.push(...node.children.values());
  }
}

function skipValue(text: string, start: number): number {
  let depth = 0;
  let at = start;
  do {
    const unit = text[at];
    if (unit === '"') {
      at = skipText(text, at);
      continue;
    }
    if (unit === "{" || unit === "[") depth += 1;
    else if (unit === "}" || unit === "]") depth -= 1;
    else if (depth === 0) return skipWord(text, at);
    at += 1;
  } while (depth > 0 && at < text.length);
  return at;
}

const WORD = /[^\s,\]}]*/y;

function skipWord(text: string, start: number): number {
  WORD.lastIndex = start;
  WORD.test(text);
  return Math.max(WORD.lastIndex, start);
}

function skipText(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

function skipBlank(text: string, start: number): number {
  let at = start;
  while (text[at] === " " || text[at] === "\n" || text[at] === "\r" || text[at] === "\t") at += 1;
  return at;
}

function memberName(quoted: string): string {
  if (!quoted.includes("\\")) return quoted.slice(1, -1);
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}
