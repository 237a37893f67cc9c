/** With the `u` flag a surrogate matches only where it has no partner. */
const LONE_SURROGATE = /[\ud800-\udfff]/u;

/** Below this length a loop over the units is faster than entering the regular expression. */
const SHORT = 40;

/** True when the text holds a UTF-16 surrogate without its partner: such text has no UTF-8 form. */
export function hasLoneSurrogate(text: string): boolean {
  if (text.length > SHORT) return LONE_SURROGATE.test(text);
  for (let at = 0; at < text.length; at += 1) {
    if ((text.charCodeAt(at) & 0xf800) === 0xd800) return LONE_SURROGATE.test(text);
  }
  return false;
}

/** Text of others within a line of ours: what would begin a line of its own, which may pass for one of ours, is written out. */
export function inLine(text: string): string {
  return text.replaceAll(
    /[\n\r\u2028\u2029]/g,
    (character) => `\\u{${character.charCodeAt(0).toString(16)}}`,
  );
}

/** Order by UTF-16 units, the order of RFC 8785 and of every tie in Rote. Never by locale. */
export function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

const FEW = 24;

/** Sorts by UTF-16 units, in place. Most lists are short, often in order already, where the built-in sort costs most. */
export function sortTexts(texts: string[]): string[] {
  if (texts.length > FEW) return texts.sort();
  for (let index = 1; index < texts.length; index += 1) {
    const text = texts[index] ?? "";
    let at = index;
    for (; at > 0; at -= 1) {
      const before = texts[at - 1] ?? "";
      if (before <= text) break;
      texts[at] = before;
    }
    texts[at] = text;
  }
  return texts;
}

/**
 * The candidate that `word` was most likely meant to be, for hints in messages: the smallest edit distance (a swap of
 * neighbours counts once), at most a third of the longer length and never a whole one-letter word, ties by order of the
 * candidates. Upper and lower case count as the same.
 *
 * @param most candidates looked at: whoever may ask for many words has no more than a few for each, or a budget
 */
export function nearest(
  word: string,
  candidates: Iterable<string>,
  most = FEW_CANDIDATES,
): string | undefined {
  if (word.length > MAX_WORD) return undefined;
  let left = most;
  const lower = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const longer = Math.max(word.length, candidate.length);
    const allowed = Math.min(
      bestDistance - 1,
      longer < 2 ? 0 : Math.max(1, Math.floor(longer / 3)),
    );
    if (left === 0) break;
    left -= 1;
    if (candidate.length > MAX_WORD || Math.abs(word.length - candidate.length) > allowed) continue;
    const distance = editDistance(lower, candidate.toLowerCase(), allowed);
    if (distance > allowed) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best;
}

const FEW_CANDIDATES = 100;

/** Names are short; a longer word is not a misspelling, and the distance costs the product of both lengths. */
const MAX_WORD = 64;

/** The distance, or some number over `most` where it is over that. */
function editDistance(left: string, right: string, most: number): number {
  let before: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, column) => column);
  let leastBefore = 0;
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (same ? 0 : 1),
      );
      const swapped =
        row > 1 &&
        column > 1 &&
        left[row - 1] === right[column - 2] &&
        left[row - 2] === right[column - 1];
      if (swapped) cost = Math.min(cost, at(before, column - 2) + 1);
      current.push(cost);
      least = Math.min(least, cost);
    }
    // What follows is made of the last two rows, and never less.
    if (least > most && leastBefore >= most) return least;
    leastBefore = least;
    before = previous;
    previous = current;
  }
  return at(previous, right.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}

/** At most `most` UTF-16 units, and no lone surrogate, whether it was there or the cut made it. */
export function shortened(text: string, most: number): string {
  const cut = text.length > most ? `${text.slice(0, most - 1)}…` : text;
  // Encoding replaces halves of pairs.
  return hasLoneSurrogate(cut) ? Buffer.from(cut).toString() : cut;
}
