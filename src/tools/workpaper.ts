/**
 * An append-only workpaper in an SQLite file of its own: what runs wrote down, each entry once.
 *
 * - P1 An entry carries the operation that wrote it, and an operation writes at most one: asked again it answers with
 *   what it wrote before.
 * - P2 A probe that does not find an operation writes a void record under its id, in the same transaction. From then on
 *   that operation cannot write, however late its process wakes up; so `absent` is final, and a reviewer may call
 *   `workpaper.append` fenced.
 * - P3 A key names one entry. Triggers refuse every change and deletion: a guard against accidents, since whoever owns
 *   the file can take the triggers away.
 */
import path from "node:path";
import { canonicalText } from "../base/canonical.ts";
import { RoteError } from "../base/error.ts";
import { type JsonValue, readJson } from "../base/json.ts";
import type { ProbeOutcome, Tool, ToolCall, ToolOutcome } from "../ports/tool.ts";
import type { Format, OpenOptions } from "../store/sqlite/format.ts";
import { createDatabase, type Database, openDatabase } from "../store/sqlite/open.ts";
import { type Writer, writerOf } from "../store/sqlite/writer.ts";
import { defineTool } from "./definition.ts";
import { faultOf, membersOf } from "./members.ts";
import { badArguments, broke, CANCELLED, done, nameOf, nothingDone, refused } from "./outcome.ts";
import {
  appendShape,
  isEntryKey,
  KEY_FAULT,
  MAX_COUNT,
  readShape,
  type Wanted,
  wantedOf,
} from "./workpaper-shape.ts";

export type { OpenOptions } from "../store/sqlite/format.ts";

export interface Workpaper {
  /** `workpaper.read`: the entry of a key, or entries by position. */
  readonly read: Tool;
  /** `workpaper.append`: one entry under a new key. */
  readonly append: Tool;
  close(this: void): void;
}

export interface WorkpaperOptions extends OpenOptions {
  /** `create` needs a directory that does not exist or is empty. */
  readonly mode: "create" | "open";
}

const FILE = "workpaper.sqlite";
/** Characters of an entry's canonical text: workpapers hold conclusions, not documents. */
const MAX_CONTENT = 65_536;

const WORKPAPER: Format = {
  name: "workpaper",
  // "Rwp1" in ASCII.
  applicationId: 0x52777031,
  migrations: [
    `
    -- A record without key and content is void: it keeps its operation from ever writing.
    CREATE TABLE records (
      position INTEGER PRIMARY KEY CHECK (position > 0),
      operation TEXT NOT NULL UNIQUE,
      key TEXT UNIQUE,
      content TEXT,
      CHECK ((key IS NULL) = (content IS NULL))
    ) STRICT;

    CREATE TRIGGER records_stay BEFORE UPDATE ON records BEGIN
      SELECT RAISE(ABORT, 'a workpaper is append only');
    END;
    CREATE TRIGGER records_remain BEFORE DELETE ON records BEGIN
      SELECT RAISE(ABORT, 'a workpaper is append only');
    END;
    -- INSERT OR REPLACE deletes without asking the trigger above.
    CREATE TRIGGER records_once BEFORE INSERT ON records
    WHEN EXISTS (
      SELECT 1 FROM records
      WHERE operation = NEW.operation OR key = NEW.key OR position = NEW.position
    ) BEGIN
      SELECT RAISE(ABORT, 'a workpaper is append only');
    END;
    `,
  ],
};

/** @throws RoteError as `createDatabase` and `openDatabase` */
export function openWorkpaper(directory: string, options: WorkpaperOptions): Workpaper {
  const file = path.join(path.resolve(directory), FILE);
  const connect = options.mode === "create" ? createDatabase : openDatabase;
  const database = connect(file, WORKPAPER, options);
  const writer = writerOf(database);
  const rows = rowsOf(database);
  return { read: readTool(rows, writer), append: appendTool(rows, writer), close: writer.close };
}

interface Row {
  readonly position: bigint;
  readonly operation: string;
  readonly key: string | null;
  readonly content: string | null;
}

function rowsOf(database: Database) {
  const columns = "position, operation, key, content";
  const from = `SELECT ${columns} FROM records`;
  return {
    byOperation: database.prepare<[string], Row>(`${from} WHERE operation = ?`),
    byKey: database.prepare<[string], Row>(`${from} WHERE key = ?`),
    byPosition: database.prepare<[number, number], Row>(
      `${from} WHERE position >= ? AND key IS NOT NULL ORDER BY position LIMIT ?`,
    ),
    end: database.prepare<[], { readonly end: bigint }>(
      "SELECT coalesce(max(position), 0) AS end FROM records",
    ),
    insert: database.prepare<[string, string | null, string | null], Row>(
      `INSERT INTO records (operation, key, content) VALUES (?, ?, ?) RETURNING ${columns}`,
    ),
  };
}
type Rows = ReturnType<typeof rowsOf>;

function appendTool(rows: Rows, writer: Writer): Tool {
  const definition = defineTool(
    {
      name: "workpaper.append",
      description:
        "Writes one entry into the workpaper under a key that no entry has yet. Entries are never changed.",
    },
    appendShape({}),
  );

  function append(operation: string, key: string, content: string): ToolOutcome {
    const before = rows.byOperation.get(operation);
    if (before !== undefined) return again(before, key, content);
    if (rows.byKey.get(key) !== undefined) {
      return refused("duplicate_key", "an entry has this key already");
    }
    return done(written(rows.insert.get(operation, key, content), key));
  }

  function probe(operation: string): ProbeOutcome {
    const found = rows.byOperation.get(operation);
    if (found?.key != null) return { kind: "done", result: written(found, found.key) };
    if (found === undefined) rows.insert.run(operation, null, null);
    return { kind: "absent" };
  }

  return {
    definition,
    fault: (args) => faultOf(entryOf(args)),
    async call(call) {
      const entry = entryOf(call.arguments);
      if (typeof entry === "string") return badArguments(entry);
      return guarded(call, () =>
        writer.write(() => append(call.operationId, entry.key, entry.content)),
      );
    },
    async probe(call) {
      return writer.write(() => probe(call.operationId));
    },
  };
}

function again(before: Row, key: string, content: string): ToolOutcome {
  if (before.key === null) {
    return nothingDone("operation_void", "a probe did not find this operation and made it void");
  }
  if (before.key === key && before.content === content) {
    return done(written(before, key));
  }
  return refused("operation_reused", "another entry was written under this operation");
}

function written(row: Row | undefined, key: string): JsonValue {
  if (row === undefined) throw broke("workpaper_failed", "an insertion returned no row");
  return { key, position: Number(row.position) };
}

function readTool(rows: Rows, writer: Writer): Tool {
  const definition = defineTool(
    {
      name: "workpaper.read",
      description: `Reads the workpaper's entry with a key, or up to ${MAX_COUNT} entries from a position on.`,
    },
    readShape({}),
  );

  function read(wanted: Wanted): ToolOutcome {
    const found =
      "key" in wanted ? rows.byKey.all(wanted.key) : rows.byPosition.all(wanted.from, wanted.count);
    if ("key" in wanted && found.length === 0) {
      return refused("entry_absent", "no entry has this key");
    }
    const entries = found.map(({ position, key, operation, content }) => ({
      position: Number(position),
      key,
      operation,
      content: contentOf(content),
    }));
    return done({ entries, end: Number(rows.end.get()?.end ?? 0n) });
  }

  return {
    definition,
    fault: (args) => faultOf(wantedOf(args)),
    async call(call) {
      const wanted = wantedOf(call.arguments);
      if (typeof wanted === "string") return badArguments(wanted);
      return guarded(call, () => writer.read(() => read(wanted)));
    },
  };
}

/** What was refused before a transaction began has not happened; every other failure leaves it open. */
const NOTHING_WRITTEN = ["store_busy", "store_ended", "memory_closed"];

function guarded(call: ToolCall, work: () => ToolOutcome): ToolOutcome {
  if (call.signal.aborted) return CANCELLED;
  try {
    return work();
  } catch (error) {
    const code = error instanceof RoteError ? error.code : nameOf(error);
    const message = `the workpaper cannot be used (${code})`;
    if (NOTHING_WRITTEN.includes(code)) return nothingDone(code, message);
    throw broke("workpaper_failed", message, error);
  }
}

function contentOf(text: string | null): JsonValue {
  const read = readJson(text ?? "", { numbers: "finite", maxDepth: 600 });
  if (read.ok) return read.value;
  throw broke("workpaper_failed", "an entry is not JSON any more");
}

interface Entry {
  readonly key: string;
  /** Canonical text. */
  readonly content: string;
}

function entryOf(args: JsonValue): Entry | string {
  const members = membersOf(args, ["key", "content"]);
  if (typeof members === "string") return members;
  const { key, content } = members;
  if (!isEntryKey(key)) return KEY_FAULT;
  if (content === undefined) return "/content: missing";
  const text = canonicalText(content);
  if (text.length > MAX_CONTENT) return `/content: over ${MAX_CONTENT} characters`;
  return { key, content: text };
}
