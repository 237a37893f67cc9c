/** The one Merkle log over the entries of all chains, as far as this process has followed it. */
import { RoteError } from "../../base/error.ts";
import {
  append,
  EMPTY_FRONTIER,
  type Frontier,
  leafHash,
  leafHashBehind,
  rootOf,
} from "../../base/merkle.ts";
import { formatTreeHead, type TreeHead } from "../../base/note.ts";
import type { JournalTables } from "./tables.ts";

const SCAN = 1_000;

export interface Log {
  /** Number of entries followed. */
  size(): number;
  /** Entries behind the last signed tree head. */
  unsealed(): number;
  /** Follows what other processes committed since. @throws RoteError `journal_damaged` */
  catchUp(): void;
  /** An entry behind `LEAF_BYTE`. */
  add(leaf: Uint8Array): void;
  head(): TreeHead;
  /** Signs the head as it is now, or says what was signed for it before. Inside of a transaction. */
  seal(): { readonly note: string; readonly fresh: boolean };
  /** Goes back to where it was when this was asked for. */
  mark(): () => void;
}

export function openLog(
  tables: JournalTables,
  origin: string,
  sign: (text: string) => string,
): Log {
  let frontier = EMPTY_FRONTIER;
  let sealed = 0;
  const size = () => Number(frontier.size);
  const head = (): TreeHead => ({ origin, size: frontier.size, root: rootOf(frontier) });

  return {
    size,
    unsealed: () => size() - sealed,

    catchUp() {
      const end = tables.end().size;
      if (size() > end) {
        throw new RoteError("journal_damaged", "The log is shorter than it was: entries are gone.");
      }
      if (size() === end) return;
      const last = tables.lastHead();
      if (last !== undefined && last.frontier.size > frontier.size) frontier = last.frontier;
      sealed = Math.max(sealed, Number(last?.frontier.size ?? 0n));
      while (size() < end) frontier = followed(tables, frontier);
    },

    add(leaf) {
      frontier = append(frontier, leafHashBehind(leaf));
    },

    head,

    seal() {
      const known = tables.headAt(frontier.size);
      sealed = size();
      if (known !== undefined) return { note: known.note, fresh: false };
      const note = sign(formatTreeHead(head()));
      tables.putHead({ frontier, note });
      return { note, fresh: true };
    },

    mark() {
      const before = { frontier, sealed };
      return () => {
        ({ frontier, sealed } = before);
      };
    },
  };
}

function followed(tables: JournalTables, from: Frontier): Frontier {
  let frontier = from;
  for (const { index, bytes } of tables.scan(Number(from.size), SCAN)) {
    if (index !== Number(frontier.size)) break;
    frontier = append(frontier, leafHash(bytes));
  }
  if (frontier !== from) return frontier;
  throw new RoteError("journal_damaged", `Entry ${Number(from.size)} of the log is missing.`);
}
