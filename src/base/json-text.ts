/** Places in a text, as people read them: 1-based lines, columns in UTF-16 units. */

export interface TextPlace {
  readonly line: number;
  readonly column: number;
  /** The line, cut to at most 120 characters around the column; characters that do not show are replaced. */
  readonly excerpt: string;
  /** UTF-16 units of the excerpt before the column: where a caret goes. */
  readonly caret: number;
}

const EXCERPT_LENGTH = 120;
const SHOWN_BEFORE = 80;

/**
 * Control, bidirectional, zero-width and separator characters: an excerpt is printed on terminals, where they could
 * hide or reorder what stands there. Each is replaced by one character, so that columns stay true.
 */
const UNSHOWN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must be found
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** The place of an offset (UTF-16 units) in a text. Lines end at a line feed. */
export function placeOf(text: string, offset: number): TextPlace {
  let line = 1;
  let start = 0;
  for (;;) {
    const feed = text.indexOf("\n", start);
    if (feed === -1 || feed >= offset) break;
    line += 1;
    start = feed + 1;
  }
  return placeInLine(text, line, start, offset);
}

/** The places of many offsets in ascending order, in one pass over the text. */
export function placesOf(text: string, offsets: readonly number[]): readonly TextPlace[] {
  const places: TextPlace[] = [];
  let line = 1;
  let start = 0;
  let feed = text.indexOf("\n");
  for (const offset of offsets) {
    while (feed !== -1 && feed < offset) {
      line += 1;
      start = feed + 1;
      feed = text.indexOf("\n", start);
    }
    places.push(placeInLine(text, line, start, offset));
  }
  return places;
}

function placeInLine(text: string, line: number, start: number, offset: number): TextPlace {
  const feed = text.indexOf("\n", start);
  const end = feed === -1 ? text.length : feed;
  let from = start;
  let to = end;
  if (end - start > EXCERPT_LENGTH) {
    from = Math.max(start, Math.min(offset - SHOWN_BEFORE, end - EXCERPT_LENGTH));
    to = Math.min(end, from + EXCERPT_LENGTH);
    // Never half a character.
    if (isLow(text.charCodeAt(from))) from += 1;
    if (isLow(text.charCodeAt(to))) to -= 1;
  }
  const excerpt = text
    .slice(from, to)
    .replace(/[\t\r]/g, " ")
    .replace(UNSHOWN, "\ufffd");
  return { line, column: offset - start + 1, excerpt, caret: offset - from };
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
