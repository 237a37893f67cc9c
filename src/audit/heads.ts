/**
 * Signed tree heads beside the log they are of. The log is followed once from its start, so a head is compared when the
 * log has its size, with the root as it is then: heads of one file that all fit are consistent with each other.
 */
import { fromBase64Url, sameBytes, toBase64 } from "../base/bytes.ts";
import { append, EMPTY_FRONTIER, type Frontier, rootOf } from "../base/merkle.ts";
import { keyHint, type Note, parseNote, parseTreeHead, type TreeHead } from "../base/note.ts";
import { type PublicKey, publicKey, type Verify, verify } from "../base/sign.ts";
import { BUNDLE_FILES } from "../ports/bundle.ts";
import type { TrustStore } from "../trust/trust-store.ts";
import { type Ahead, verifyAhead } from "./ahead.ts";
import type { Findings, Span } from "./finding.ts";
import type { FindingCode } from "./finding-codes.ts";
import type { Keys } from "./keys.ts";
import { type Piece, wholeOf } from "./lines.ts";

/** A head stands behind this many entries at the latest, and an append that crosses that line may bring as many again. */
const HEAD_EVERY = 64;
const MOST_BETWEEN = 2 * HEAD_EVERY - 1;

/** Stands for the file that the auditor brought along. */
const ANCHOR = "anchor";

interface Head extends TreeHead {
  /** Position in its file. */
  readonly index: number;
  readonly note: Note;
}

export interface Heads {
  /** Takes the next leaf of the log. `due`: a head must stand right behind it. */
  add(leaf: Uint8Array, due: boolean, timeMs: number): void | Promise<void>;
  /** Compares what is left with the end of the log. */
  finish(): Promise<void>;
  readonly size: number;
  /** Number of heads that fit. */
  readonly good: number;
  /** Number of entries that a valid head covers. */
  readonly covered: number;
  /** Number of heads from outside that fit. */
  readonly anchored: number;
}

export function createHeads(
  heads: AsyncIterator<RawHead> | undefined,
  anchors: readonly string[],
  keys: Keys,
  findings: Findings,
): Heads {
  const { heads: file } = BUNDLE_FILES;
  let frontier: Frontier = EMPTY_FRONTIER;
  let size = 0;
  let seconds = 0;
  let next: Head | undefined;
  let ahead: Ahead | undefined;
  let begun = false;
  let ended = heads === undefined;
  let before = 0n;
  let sinceHead = 0;
  let good = 0;
  let covered = 0;
  let anchored = 0;
  const outside = readAnchors(anchors, keys.origin, findings);
  let nextAnchor = 0;

  const at = (index: number) => ({ file, index: spanOf(index), chain: null, seq: null });
  const entries = (from: number, to: number) => {
    return { file: BUNDLE_FILES.journal, index: [from, to] as const, chain: null, seq: null };
  };
  const report = (head: { readonly index: number }, code: FindingCode, message: string) =>
    findings.add(code, at(head.index), message);

  /** The next head that is larger than the log so far. */
  async function advance(): Promise<void> {
    next = undefined;
    begun = true;
    while (!ended && next === undefined) {
      const read = await heads?.next();
      if (read === undefined || read.done === true) {
        ended = true;
        return;
      }
      const head = readHead(read.value, report);
      if (head === undefined) continue;
      if (head.origin !== keys.origin) {
        report(head, "head_origin", `the head is of ${head.origin}, not of ${keys.origin}`);
      } else if (head.size <= before) {
        report(head, "head_order", `a head of ${head.size} entries stands behind one of ${before}`);
        judgeSignature(head);
      } else {
        before = head.size;
        next = head;
        ahead = headAhead(head.note, keys.origin, keys.inForce());
      }
    }
  }

  function judgeSignature(head: Head, check?: Verify): boolean {
    const trust = keys.at(size - 1);
    const fault = signatureFault(head.note, keys.origin, trust, seconds, check);
    if (fault !== undefined) report(head, "head_signature", fault);
    return fault === undefined;
  }

  async function meet(due: boolean): Promise<void> {
    if (!begun) await advance();
    while (nextAnchor < outside.length && outside[nextAnchor]?.size === BigInt(size)) compare();
    if (next?.size === BigInt(size)) {
      const head = next;
      const root = rootOf(frontier);
      const fits = sameBytes(root, head.root);
      if (!fits) {
        const message = `tree head ${head.index} says that ${size} entries have the root ${toBase64(head.root)}, and these have ${toBase64(root)}`;
        findings.add("head_root", entries(covered, size - 1), message);
      }
      if (judgeSignature(head, await ahead) && fits) {
        good += 1;
        covered = size;
      }
      sinceHead = 0;
      await advance();
    } else if (heads !== undefined && (due || sinceHead > MOST_BETWEEN)) {
      const why = due ? "a run ended here" : `${sinceHead} entries have no head between them`;
      findings.add(
        "head_missing",
        entries(size - 1, size - 1),
        `no tree head of ${size} entries: ${why}`,
      );
      sinceHead = 0;
    }
  }

  function compare(): void {
    const anchor = outside[nextAnchor];
    nextAnchor += 1;
    if (anchor === undefined) return;
    const place = { file: ANCHOR, index: spanOf(anchor.index), chain: null, seq: null };
    const fault = signatureFault(anchor.note, keys.origin, keys.at(size - 1), seconds);
    if (fault !== undefined) findings.add("anchor_refused", place, fault);
    else if (sameBytes(rootOf(frontier), anchor.root)) anchored += 1;
    else {
      const message = `the outside head of ${size} entries has another root than these entries`;
      findings.add("anchor_differs", entries(0, size - 1), message);
    }
  }

  return {
    get size() {
      return size;
    },
    get good() {
      return good;
    },
    get covered() {
      return covered;
    },
    get anchored() {
      return anchored;
    },

    add(leaf, due, timeMs) {
      frontier = append(frontier, leaf);
      size += 1;
      sinceHead += 1;
      seconds = Math.floor(timeMs / 1000);
      const wanted = BigInt(size);
      const meets = next?.size === wanted || outside[nextAnchor]?.size === wanted;
      return !begun || meets || due || sinceHead > MOST_BETWEEN ? meet(due) : undefined;
    },

    async finish() {
      if (!begun) await advance();
      while (next !== undefined) {
        const { size: promised, root, index } = next;
        const missing = `${promised - BigInt(size)} are missing`;
        const message = `tree head ${index} (${toBase64(root)}) is of ${promised} entries and there are ${size}: ${missing}`;
        findings.add("head_beyond", entries(size, Number(promised) - 1), message);
        judgeSignature(next);
        await advance();
      }
      for (const { size: promised, root } of outside.slice(nextAnchor)) {
        const message = `the outside head ${toBase64(root)} is of ${promised} entries and there are ${size}: the end was cut off`;
        findings.add("anchor_differs", entries(size, Number(promised) - 1), message);
      }
      if (covered < size) {
        const message = `no valid tree head covers the last ${size - covered} of ${size} entries`;
        findings.add("tail_uncovered", entries(covered, size - 1), message);
      }
    },
  };
}

/** A note as it stands in a file. */
export interface RawHead {
  readonly text: string;
  readonly index: number;
  readonly fault: string | null;
}

/** Notes, each of which the line `%` ends. */
export async function* rawHeadsOf(lines: AsyncIterable<Piece>): AsyncGenerator<RawHead> {
  let parts: string[] = [];
  let fault: string | null = null;
  let index = 0;
  for await (const { bytes, unfinished, tooLong } of lines) {
    if (tooLong) fault ??= "a line is too long";
    if (unfinished) fault ??= "the file was cut off in it";
    const line = textOf(bytes);
    if (line === undefined) fault ??= "it is not UTF-8";
    if (line === "%" && !unfinished) {
      yield { text: parts.join(""), index, fault };
      index += 1;
      parts = [];
      fault = null;
    } else if (parts.length > MOST_LINES) {
      fault ??= "it has too many lines";
    } else {
      parts.push(`${line ?? ""}\n`);
    }
  }
  if (parts.length > 0) {
    yield { text: parts.join(""), index, fault: fault ?? "the file was cut off behind it" };
  }
}

const MOST_LINES = 100;

/** The notes in a copy of tree heads that was kept outside; parts that a crash left there are passed over. */
export async function readOutsideHeads(
  portions: AsyncIterable<Uint8Array>,
  maxBytes = 1_000_000_000,
): Promise<readonly string[]> {
  const bytes = await wholeOf(portions, maxBytes);
  const parts = Buffer.from(bytes ?? [])
    .toString("utf8")
    .split("%\n");
  return parts.filter((part) => parseNote(part).ok);
}

function readHead(
  { text, index, fault }: RawHead,
  report: (head: { readonly index: number }, code: FindingCode, message: string) => void,
): Head | undefined {
  const note = fault === null ? parseNote(text) : undefined;
  const head = note?.ok === true ? parseTreeHead(note.value.text) : undefined;
  if (note?.ok !== true || head === undefined || note.value.text.split("\n").length !== 4) {
    const message = fault ?? "it is not a signed note of origin, size and root";
    report({ index }, "head_malformed", `head ${index}: ${message}`);
    return undefined;
  }
  return { ...head, note: note.value, index };
}

function readAnchors(
  notes: readonly string[],
  origin: string,
  findings: Findings,
): readonly Head[] {
  const read = notes.flatMap((text, index): readonly Head[] => {
    const place = { file: ANCHOR, index: spanOf(index), chain: null, seq: null };
    const head = readHead({ text, index, fault: null }, (_, __, message) =>
      findings.add("anchor_refused", place, message),
    );
    if (head === undefined) return [];
    if (head.origin === origin && head.size > 0n) return [head];
    const message = `the outside head is of ${head.size} entries of ${head.origin}, not of ${origin}`;
    findings.add("anchor_refused", place, message);
    return [];
  });
  return read.sort((left, right) => (left.size < right.size ? -1 : left.size > right.size ? 1 : 0));
}

/** Why a note is not signed by exactly one key that may sign the journal there. */
export function signatureFault(
  { text, signatures }: Note,
  origin: string,
  trust: TrustStore | undefined,
  seconds: number,
  check: Verify = verify,
): string | undefined {
  const [signature] = signatures;
  if (signature === undefined || signatures.length !== 1) {
    return `the head has ${signatures.length} signatures instead of one`;
  }
  if (trust === undefined) return "no trust store that the auditor vouches for is in force";
  if (signature.name !== origin) return `the head is signed in the name of ${signature.name}`;
  const key = journalKey(trust, origin, signature.hint);
  if (key === undefined) return "the head is signed by no key that may sign a journal";
  const usable = trust.usable(key.id, "journal", seconds);
  if (!usable.ok) return `the key ${key.id} does not count here: ${usable.error}`;
  return check(key, Buffer.from(text), signature.signature)
    ? undefined
    : `the signature does not verify under ${key.id}`;
}

function headAhead(
  { text, signatures }: Note,
  origin: string,
  trust: TrustStore | undefined,
): Ahead | undefined {
  const [first] = signatures;
  if (first === undefined || trust === undefined) return undefined;
  const key = journalKey(trust, origin, first.hint);
  return key === undefined ? undefined : verifyAhead(key, Buffer.from(text), first.signature);
}

function journalKey(trust: TrustStore, origin: string, given: Uint8Array): PublicKey | undefined {
  return journalKeys(trust).find(({ hint }) => sameBytes(hint(origin), given))?.key;
}

interface JournalKey {
  readonly key: PublicKey;
  readonly hint: (origin: string) => Uint8Array;
}

const known = new WeakMap<object, readonly JournalKey[]>();

/** Keys of the role in a version of the trust store: there are few, and many heads. */
function journalKeys({ document }: TrustStore): readonly JournalKey[] {
  const found = known.get(document);
  if (found !== undefined) return found;
  const keys = document.keys.flatMap((entry): readonly JournalKey[] => {
    const raw = entry.role === "journal" ? fromBase64Url(entry.public) : undefined;
    if (raw === undefined) return [];
    const key = publicKey(raw);
    const hints = new Map<string, Uint8Array>();
    const hint = (origin: string) => {
      const made = hints.get(origin) ?? keyHint(origin, key);
      hints.set(origin, made);
      return made;
    };
    return [{ key, hint }];
  });
  known.set(document, keys);
  return keys;
}

function textOf(bytes: Uint8Array): string | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  return sameBytes(Buffer.from(text), bytes) ? text : undefined;
}

function spanOf(index: number): Span {
  return [index, index];
}
