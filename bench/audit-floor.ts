/**
 * What no auditor of a record can do without, done on the same bytes: SHA-256 of every entry for its chain and for the
 * tree, and every signature verified. Only that is timed; finding it in the files is not.
 */
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { fromBase64 } from "../src/base/bytes.ts";
import { sha256Hex } from "../src/base/digest.ts";
import { preAuthEncoding } from "../src/base/dsse.ts";
import { leafHash } from "../src/base/merkle.ts";
import { parseNote, parseTreeHead } from "../src/base/note.ts";
import { type PublicKey, verify } from "../src/base/sign.ts";
import { KEYS } from "../test/support/host.ts";

export interface Floor {
  /** Goes on up to this number of entries, with the tree heads up to there. Resolves to what that took. */
  upTo(entries: number): Promise<Spent>;
}

/** Milliseconds on the wall, and of all processors that worked for this process. */
export interface Spent {
  readonly wall: number;
  readonly cpu: number;
}

export function now(): Spent {
  const { user, system } = process.cpuUsage();
  return { wall: performance.now(), cpu: (user + system) / 1000 };
}

export function since({ wall, cpu }: Spent): Spent {
  const end = now();
  return { wall: end.wall - wall, cpu: end.cpu - cpu };
}

export function sum(left: Spent, right: Spent): Spent {
  return { wall: left.wall + right.wall, cpu: left.cpu + right.cpu };
}

interface Signed {
  readonly key: PublicKey;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

export function floorOf(bundle: string): Floor {
  const lines = piecesOf(join(bundle, "journal.jsonl"), "\n");
  const heads = piecesOf(join(bundle, "heads.txt"), "%\n");
  let done = 0;
  let next: Head | undefined;

  async function headsUpTo(entries: number): Promise<readonly Signed[]> {
    const found: Signed[] = [];
    for (;;) {
      if (next === undefined) {
        const piece = await heads.next();
        if (piece.done === true) return found;
        next = headIn(piece.value);
      }
      if (next.size > entries) return found;
      found.push(next);
      next = undefined;
    }
  }

  /** The next entries, as many as are held at once, but none from `entries` on. */
  async function portionUpTo(entries: number): Promise<readonly string[]> {
    const taken: string[] = [];
    while (done < entries && taken.length < PORTION) {
      const piece = await lines.next();
      if (piece.done === true) break;
      taken.push(piece.value);
      done += 1;
    }
    return taken;
  }

  return {
    async upTo(entries) {
      let spent: Spent = { wall: 0, cpu: 0 };
      for (;;) {
        const taken = await portionUpTo(entries);
        const signed = [...taken.flatMap(envelopeIn), ...(await headsUpTo(done))];
        spent = sum(spent, timed(taken, signed));
        if (taken.length === 0) return spent;
      }
    },
  };
}

/** Entries held at once: the process's peak is to be the audit's. */
const PORTION = 256;

function timed(lines: readonly string[], signed: readonly Signed[]): Spent {
  const entries = lines.map((line) => Buffer.from(line));
  const start = now();
  for (const entry of entries) {
    sha256Hex(entry);
    leafHash(entry);
  }
  const good = signed.every(({ key, message, signature }) => verify(key, message, signature));
  const spent = since(start);
  if (!good) throw new Error("a signature does not verify");
  return spent;
}

const SIGNERS = new Map<string, PublicKey>(
  [KEYS.root, KEYS.receipt, KEYS.alice].map(({ publicKey }) => [publicKey.id, publicKey]),
);

/** Found by its text, which costs least. */
function envelopeIn(line: string): readonly Signed[] {
  const [, payload, type, keyid, sig] =
    /"payload":"([^"]*)","payloadType":"([^"]*)","signatures":\[\{"keyid":"([^"]*)","sig":"([^"]*)"/u.exec(
      line,
    ) ?? [];
  const key = SIGNERS.get(keyid ?? "");
  if (payload === undefined || type === undefined || sig === undefined || key === undefined)
    return [];
  const message = preAuthEncoding(type, bytesOf(payload));
  return [{ key, message, signature: bytesOf(sig) }];
}

interface Head extends Signed {
  readonly size: number;
}

function headIn(text: string): Head {
  const note = parseNote(text);
  const [first] = note.ok ? note.value.signatures : [];
  const head = note.ok ? parseTreeHead(note.value.text) : undefined;
  if (!note.ok || first === undefined || head === undefined) throw new Error("not a tree head");
  return {
    size: Number(head.size),
    key: KEYS.journal.publicKey,
    message: Buffer.from(note.value.text),
    signature: first.signature,
  };
}

function bytesOf(text: string): Uint8Array {
  const bytes = fromBase64(text);
  if (bytes === undefined) throw new Error("not base64");
  return bytes;
}

/** What stands before each separator. */
async function* piecesOf(file: string, separator: string): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of createReadStream(file, { encoding: "utf8" })) {
    const pieces = (rest + String(chunk)).split(separator);
    rest = pieces.pop() ?? "";
    yield* pieces;
  }
}
