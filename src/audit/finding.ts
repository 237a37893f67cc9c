/**
 * What an audit finds, with its place.
 *
 * - F1 Every finding names its place: a file with a position in it, and the chain with sequence numbers where known.
 * - F2 The list is bounded, the counts are not: neighbours with one code become one range, and what does not fit is
 *   still counted.
 */
import { BUNDLE_FILES } from "../ports/bundle.ts";
import type { Severity } from "./explained.ts";
import { FINDING_CODES, type FindingCode } from "./finding-codes.ts";

/** First and last of a range, both included. */
export type Span = readonly [from: number, to: number];

export interface Place {
  /** File of the bundle. */
  readonly file: string;
  /** Positions in it, from 0: lines of the journal (where none is missing, log indexes), or tree heads. */
  readonly index: Span | null;
  readonly chain: string | null;
  /** Sequence numbers in that chain. */
  readonly seq: Span | null;
}

export interface Finding extends Place {
  readonly code: FindingCode;
  readonly severity: Severity;
  /** How many findings this one stands for. */
  readonly count: number;
  /** Of the first of them. */
  readonly message: string;
}

export interface Findings {
  add(code: FindingCode, place: Place, message: string): void;
  readonly list: readonly Finding[];
  /** Number of findings by code, those that are not in the list included. */
  readonly counts: ReadonlyMap<FindingCode, number>;
  /** Number of findings that are in the list neither by themselves nor within a range. */
  readonly omitted: number;
}

/** More would not be read; the counts say how many there were. */
const MOST_LISTED = 1_000;
const MESSAGE_LENGTH = 400;

export function createFindings(most = MOST_LISTED): Findings {
  const list: Finding[] = [];
  const counts = new Map<FindingCode, number>();
  const latest = new Map<string, number>();
  let omitted = 0;
  return {
    list,
    counts,
    get omitted() {
      return omitted;
    },
    add(code, place, message) {
      counts.set(code, (counts.get(code) ?? 0) + 1);
      const kind = `${code} ${place.file} ${place.chain ?? ""}`;
      const at = latest.get(kind);
      const before = at === undefined ? undefined : list[at];
      const wider = before === undefined ? undefined : joined(before, place);
      if (at !== undefined && wider !== undefined) {
        list[at] = wider;
      } else if (list.length < most) {
        latest.set(kind, list.length);
        const { severity } = FINDING_CODES[code];
        list.push({ ...place, code, severity, count: 1, message: short(message) });
      } else {
        omitted += 1;
      }
    },
  };
}

/** By place: whoever reads the record beside them reads it once. */
export function inOrder(findings: readonly Finding[]): readonly Finding[] {
  return findings.toSorted(
    (left, right) =>
      rankOf(left) - rankOf(right) || (left.index?.[0] ?? -1) - (right.index?.[0] ?? -1),
  );
}

const FILES: readonly string[] = [BUNDLE_FILES.trust, BUNDLE_FILES.journal, BUNDLE_FILES.heads];

function rankOf({ file }: Finding): number {
  const rank = FILES.indexOf(file);
  return rank < 0 ? FILES.length : rank;
}

/** One finding for both, when the second lies in or right behind the first. */
function joined(first: Finding, second: Place): Finding | undefined {
  const index = union(first.index, second.index);
  const seq = union(first.seq, second.seq);
  if (index === undefined && seq === undefined) return undefined;
  // What is next to each other in one chain may be apart in the log, and the other way round.
  return {
    ...first,
    count: first.count + 1,
    index: index ?? hull(first.index, second.index),
    seq: seq ?? hull(first.seq, second.seq),
  };
}

function union(first: Span | null, second: Span | null): Span | undefined {
  if (first === null || second === null) return undefined;
  return second[0] >= first[0] && second[0] <= first[1] + 1 ? hull(first, second) : undefined;
}

function hull(first: Span | null, second: Span | null): Span;
function hull(first: Span | null, second: Span | null): Span | null {
  if (first === null || second === null) return first ?? second;
  return [Math.min(first[0], second[0]), Math.max(first[1], second[1])];
}

function short(message: string): string {
  return message.length > MESSAGE_LENGTH ? `${message.slice(0, MESSAGE_LENGTH - 1)}…` : message;
}
