/**
 * Search in time linear in both texts, whatever they hold. The engine's own search is faster on most texts, but takes
 * their product on periodic ones ("aaa..b" in "aaa.."), which fuel by the size of the texts does not pay for.
 */

/** With a part of up to so many units the engine's search is quick on every text. */
const SHORT = 64;

/** Whether `part` occurs in `text`; the empty text occurs in every one. */
export function includesText(text: string, part: string): boolean {
  if (part.length <= SHORT) return text.includes(part);
  return positions(text, part, 1).length > 0;
}

/** As `text.split(separator, limit)` for a separator that is not empty. */
export function splitText(text: string, separator: string, limit: number): string[] {
  if (separator.length <= SHORT) return text.split(separator, limit);
  const parts: string[] = [];
  let from = 0;
  for (const at of positions(text, separator, limit)) {
    parts.push(text.slice(from, at));
    from = at + separator.length;
  }
  if (parts.length < limit) parts.push(text.slice(from));
  return parts;
}

/** Where `part` occurs, from the left and without overlaps, at most `most` times: Knuth, Morris and Pratt's search. */
function positions(text: string, part: string, most: number): number[] {
  const found: number[] = [];
  if (part.length > text.length) return found;
  const borders = bordersOf(part);
  let matched = 0;
  for (let at = 0; at < text.length && found.length < most; at += 1) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
    if (part.charCodeAt(matched) === unit) matched += 1;
    if (matched === part.length) {
      found.push(at + 1 - matched);
      matched = 0;
    }
  }
  return found;
}

/** For each prefix: the length of its longest proper prefix that also ends it. */
function bordersOf(part: string): Uint32Array {
  const borders = new Uint32Array(part.length);
  let matched = 0;
  for (let at = 1; at < part.length; at += 1) {
    const unit = part.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
    if (part.charCodeAt(matched) === unit) matched += 1;
    borders[at] = matched;
  }
  return borders;
}
