/**
 * Which nodes come before which, for many questions at once.
 *
 * A table of all ancestors would be quadratic, so questions are answered in three steps, each for what the one before
 * left open. Nodes are plan indexes, so every edge leads from a smaller to a larger one.
 *
 * - A1 A node that stands later is no ancestor: one comparison.
 * - A2 Each node's last dependency makes a tree; an interval per node answers questions along it: one comparison. In a
 *   chain that is every question.
 * - A3 What is left is grouped by ancestor, 32 to a sweep, a bit each, and carried along the edges between the first
 *   ancestor and the last reader. Questions that reach back a few layers make short sweeps.
 *
 * The bound is one pass over the edges for every 32 distinct ancestors that A1 and A2 left open.
 */
export interface Ancestry {
  readonly after: readonly (readonly number[])[];
  /** Position of each node in a walk of the tree, and how many nodes hang on it, itself included. */
  readonly entry: Int32Array;
  readonly size: Int32Array;
}

export interface AncestorQuestion {
  readonly ancestor: number;
  readonly descendant: number;
}

const PER_SWEEP = 32;

/** Prepares for questions; `after` holds the direct dependencies of each node, ascending. */
export function ancestryOf(after: readonly (readonly number[])[]): Ancestry {
  const count = after.length;
  const size = new Int32Array(count).fill(1);
  for (let node = count - 1; node >= 0; node -= 1) {
    const parent = after[node]?.at(-1);
    if (parent !== undefined) size[parent] = at(size, parent) + at(size, node);
  }
  const entry = new Int32Array(count);
  const free = new Int32Array(count);
  let freeRoot = 0;
  for (let node = 0; node < count; node += 1) {
    const parent = after[node]?.at(-1);
    const place = parent === undefined ? freeRoot : at(free, parent);
    if (parent === undefined) freeRoot += at(size, node);
    else free[parent] = place + at(size, node);
    entry[node] = place;
    free[node] = place + 1;
  }
  return { after, entry, size };
}

/** For each question whether `ancestor` comes before `descendant` along dependencies; no node precedes itself. */
export function areAncestors(
  ancestry: Ancestry,
  questions: readonly AncestorQuestion[],
): readonly boolean[] {
  const answers: boolean[] = [];
  const open: { readonly question: AncestorQuestion; readonly place: number }[] = [];
  for (const [place, question] of questions.entries()) {
    const quick = quickAnswer(ancestry, question);
    answers.push(quick ?? false);
    if (quick === undefined) open.push({ question, place });
  }
  open.sort((left, right) => left.question.ancestor - right.question.ancestor);
  const mask = new Int32Array(open.length === 0 ? 0 : ancestry.after.length);
  for (let from = 0; from < open.length; ) {
    const bits = new Map<number, number>();
    let to = from;
    let last = 0;
    for (; to < open.length; to += 1) {
      const { ancestor, descendant } = open[to]?.question ?? { ancestor: 0, descendant: 0 };
      if (!bits.has(ancestor)) {
        if (bits.size === PER_SWEEP) break;
        bits.set(ancestor, 1 << bits.size);
      }
      last = Math.max(last, descendant);
    }
    sweep(ancestry.after, mask, bits, open[from]?.question.ancestor ?? 0, last);
    for (const { question, place } of open.slice(from, to)) {
      answers[place] = (at(mask, question.descendant) & (bits.get(question.ancestor) ?? 0)) !== 0;
    }
    from = to;
  }
  return answers;
}

function quickAnswer(
  { after, entry, size }: Ancestry,
  { ancestor, descendant }: AncestorQuestion,
): boolean | undefined {
  if (ancestor >= descendant) return false;
  const start = at(entry, ancestor);
  const place = at(entry, descendant);
  if (start <= place && place < start + at(size, ancestor)) return true;
  return after[descendant]?.includes(ancestor) === true ? true : undefined;
}

/** Afterwards the mask of every node from `first` to `last` has the bits of the ancestors at or before it. */
function sweep(
  after: readonly (readonly number[])[],
  mask: Int32Array,
  bits: ReadonlyMap<number, number>,
  first: number,
  last: number,
): void {
  for (let node = first; node <= last; node += 1) {
    let carried = bits.get(node) ?? 0;
    for (const before of after[node] ?? []) if (before >= first) carried |= at(mask, before);
    mask[node] = carried;
  }
}

function at(list: Int32Array, index: number): number {
  return list[index] ?? 0;
}
