import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/base/digest.ts";
import { DEFAULT_MEMORY_LIMITS } from "../../../src/model/memory.ts";
import type { Format } from "../../../src/store/sqlite/format.ts";
import { createDatabase, makeDurable, openDatabase } from "../../../src/store/sqlite/open.ts";
import { createProcedures, openProcedures } from "../../../src/store/sqlite/procedures.ts";
import { FILE } from "../../../src/store/sqlite/schema.ts";

const SOURCE = fileURLToPath(new URL("../../../src", import.meta.url));

const FORMAT: Format = {
  name: "test file",
  applicationId: 0x74657374,
  migrations: ["CREATE TABLE amounts (id INTEGER PRIMARY KEY, amount INTEGER) STRICT;"],
};
const LATER: Format = {
  ...FORMAT,
  migrations: [...FORMAT.migrations, "ALTER TABLE amounts ADD COLUMN note TEXT;"],
};

let root: string;
let directory: string;
let file: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "rote-open-"));
  directory = join(root, "store");
  file = join(directory, "test.sqlite");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function refusal(code: string, ...texts: readonly string[]) {
  const message = texts.map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")).join(".*");
  return expect.objectContaining({ code, message: expect.stringMatching(message) });
}

/** A file written by somebody else's hands, in a directory that is as it should be. */
function foreignFile(make: (database: Sqlite.Database) => void): void {
  mkdirSync(directory, { mode: 0o700 });
  const database = new Sqlite(file);
  make(database);
  database.close();
  chmodSync(file, 0o600);
}

/**
 * Runs the opening, and says that neither the file nor its log changed by a byte. SQLite may leave an empty log beside
 * a file that it read, which holds nothing.
 */
function refusedUnchanged(open: () => unknown, error: unknown): void {
  const bytes = () =>
    [file, `${file}-wal`].map((one) =>
      sha256Hex(existsSync(one) ? readFileSync(one) : Buffer.of()),
    );
  const before = bytes();
  expect(open).toThrow(error as Error);
  expect(bytes()).toEqual(before);
}

describe("a new database", () => {
  it("is for its owner only: directory 0700, file and companions 0600", () => {
    const mask = process.umask(0);
    try {
      const database = createDatabase(file, FORMAT);
      database.exec("INSERT INTO amounts VALUES (1, 1)");
      const mode = (place: string) => (statSync(place).mode & 0o777).toString(8);
      expect(mode(directory)).toBe("700");
      expect(readdirSync(directory).sort()).toEqual([
        "test.sqlite",
        "test.sqlite-shm",
        "test.sqlite-wal",
      ]);
      for (const one of readdirSync(directory)) expect(mode(join(directory, one))).toBe("600");
      database.close();
    } finally {
      process.umask(mask);
    }
  });

  it("may be made in an empty private directory, and nowhere else", () => {
    mkdirSync(directory, { mode: 0o700 });
    createDatabase(file, FORMAT).close();
    expect(() => createDatabase(file, FORMAT)).toThrow(refusal("store_exists", "test.sqlite"));
    const other = join(root, "other");
    mkdirSync(other);
    writeFileSync(join(other, "letter"), "dear");
    chmodSync(other, 0o700);
    expect(() => createDatabase(join(other, "x"), FORMAT)).toThrow(
      refusal("store_exists", "letter"),
    );
    expect(readdirSync(other)).toEqual(["letter"]);
    const open = join(root, "open");
    mkdirSync(open);
    chmodSync(open, 0o755);
    expect(() => createDatabase(join(open, "x"), FORMAT)).toThrow(
      refusal("store_not_private", "open to others (mode 0755)"),
    );
    expect(readdirSync(open)).toEqual([]);
    writeFileSync(join(root, "plain"), "");
    expect(() => createDatabase(join(root, "plain", "x"), FORMAT)).toThrow(
      refusal("store_not_a_directory", "not a directory"),
    );
    expect(() => createDatabase(join(root, "plain", "deep", "x"), FORMAT)).toThrow(
      refusal("store_io_error", "ENOTDIR"),
    );
  });

  it("is whole or not there: a failed making leaves an empty directory", () => {
    const broken = { ...FORMAT, migrations: ["CREATE TABLE a (x);", "nonsense"] };
    expect(() => createDatabase(file, broken)).toThrow(refusal("store_io_error"));
    expect(readdirSync(directory)).toEqual([]);
    createDatabase(file, FORMAT).close();
  });
});

describe("an opened database", () => {
  it("syncs every commit, which is read back and not assumed", () => {
    for (const open of [createDatabase, openDatabase]) {
      const database = open(file, FORMAT);
      expect(database.pragma("journal_mode", { simple: true })).toBe("wal");
      expect(database.pragma("synchronous", { simple: true })).toBe(2n);
      expect(database.pragma("trusted_schema", { simple: true })).toBe(0n);
      expect(database.pragma("foreign_keys", { simple: true })).toBe(1n);
      expect(database.pragma("secure_delete", { simple: true })).toBe(1n);
      database.close();
    }
  });

  it("is not used where commits cannot be on disk, as in memory", () => {
    const database = new Sqlite(":memory:");
    expect(() => makeDurable(database, "memory")).toThrow(/cannot be written durably/);
    database.close();
  });

  it("gives integers exactly, through every way of asking (B112, B116)", () => {
    const large = 9_007_199_254_740_993n;
    createDatabase(file, FORMAT).close();
    const database = openDatabase(file, FORMAT);
    database.prepare("INSERT INTO amounts VALUES (?, ?)").run(large, large);
    const statement = "SELECT id, amount FROM amounts";
    expect(database.prepare(statement).get()).toEqual({ id: large, amount: large });
    expect(database.prepare(statement).all()).toEqual([{ id: large, amount: large }]);
    expect([...database.prepare(statement).iterate()]).toEqual([{ id: large, amount: large }]);
    expect(database.prepare(statement).raw().get()).toEqual([large, large]);
    expect(database.prepare("SELECT max(amount) FROM amounts").pluck().get()).toBe(large);
    expect(database.prepare("INSERT INTO amounts VALUES (NULL, 1)").run().lastInsertRowid).toBe(
      large + 1n,
    );
    database.close();
  });

  it("is opened in one place only (B116)", () => {
    const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((one) =>
      one.endsWith(".ts"),
    );
    const with_ = (pattern: RegExp) =>
      files.filter((one) => pattern.test(readFileSync(join(SOURCE, one), "utf8"))).sort();
    expect(with_(/new Sqlite\(|new Database\(|\bSqlite\(/)).toEqual(["store/sqlite/open.ts"]);
    expect(with_(/^import (?!type).*"better-sqlite3"|\("better-sqlite3"\)/m)).toEqual([
      "store/sqlite/driver.ts",
    ]);
    expect(with_(/^import (?!type).*driver\.ts"/m)).toEqual([
      "store/sqlite/failure.ts",
      "store/sqlite/open.ts",
    ]);
    expect(with_(/safeIntegers|SafeIntegers/)).toEqual(["store/sqlite/open.ts"]);
    expect(files.length).toBeGreaterThan(50);
  });
});

describe("refused before anything is written (B115)", () => {
  it("a file of a newer version, naming both versions", () => {
    createDatabase(file, LATER).close();
    refusedUnchanged(
      () => openDatabase(file, FORMAT),
      refusal("store_newer", "version 2 of the test file", "knows versions up to 1"),
    );
  });

  it("a file whose log alone holds the newer version", () => {
    createDatabase(file, FORMAT).close();
    const newer = openDatabase(file, FORMAT);
    newer.pragma("user_version = 99");
    const kept = [file, `${file}-wal`].map((one) => [one, readFileSync(one)] as const);
    newer.close();
    for (const [one, bytes] of kept) writeFileSync(one, bytes, { mode: 0o600 });
    refusedUnchanged(() => openDatabase(file, FORMAT), refusal("store_newer", "version 99"));
  });

  it("a file with our tables and no version is damaged, not new", () => {
    createDatabase(file, FORMAT).close();
    const database = new Sqlite(file);
    database.pragma("user_version = 0");
    database.close();
    refusedUnchanged(() => openDatabase(file, FORMAT), refusal("store_damaged", "no version"));
  });

  it("a file of ours without tables", () => {
    foreignFile((database) => database.pragma(`application_id = ${FORMAT.applicationId}`));
    refusedUnchanged(() => openDatabase(file, FORMAT), refusal("store_damaged", "no version"));
  });

  it("a file of another program, even an empty database", () => {
    foreignFile((database) => database.exec("CREATE TABLE notes (x); PRAGMA user_version = 1"));
    refusedUnchanged(
      () => openDatabase(file, FORMAT),
      refusal("store_foreign", "not a test file of rote"),
    );
  });

  it("a file of another kind of ours", () => {
    createDatabase(file, { ...FORMAT, applicationId: 7 }).close();
    refusedUnchanged(() => openDatabase(file, FORMAT), refusal("store_foreign"));
  });

  it.each([
    ["empty", ""],
    [
      "text",
      "dear diary, this is a text and not a database, however long it may become in the end, really",
    ],
    ["cut inside the header", "SQLite format 3\0"],
  ])("a file that is %s", (_name, content) => {
    mkdirSync(directory, { mode: 0o700 });
    writeFileSync(file, content, { mode: 0o600 });
    refusedUnchanged(() => openDatabase(file, FORMAT), refusal("store_damaged"));
  });

  it("a file that lost its second half", () => {
    createDatabase(file, FORMAT).close();
    truncateSync(file, statSync(file).size / 2);
    refusedUnchanged(() => openDatabase(file, FORMAT), refusal("store_damaged"));
  });

  it("a file with bytes of its schema changed", () => {
    createDatabase(file, FORMAT).close();
    const bytes = readFileSync(file);
    bytes.fill(0xff, 100, 140);
    writeFileSync(file, bytes);
    refusedUnchanged(() => openDatabase(file, FORMAT), refusal("store_damaged"));
  });

  it.each([
    ["a trigger", "CREATE TRIGGER t AFTER INSERT ON amounts BEGIN DELETE FROM amounts; END"],
    ["a view", "CREATE VIEW v AS SELECT 1"],
    ["a table", "CREATE TABLE more (x)"],
    ["a column", "ALTER TABLE amounts ADD COLUMN note TEXT"],
  ])("a file to whose schema somebody added %s", (_name, sql) => {
    createDatabase(file, FORMAT).close();
    const database = new Sqlite(file);
    database.exec(sql);
    database.close();
    refusedUnchanged(
      () => openDatabase(file, FORMAT),
      refusal("store_damaged", "not those of version 1"),
    );
  });

  it("nothing at all, with what to do about it", () => {
    expect(() => openDatabase(file, FORMAT)).toThrow(refusal("store_missing", "does not exist"));
    // A folder of something else is not to be made private: that it holds no store is said first.
    mkdirSync(directory, { mode: 0o755 });
    expect(() => openDatabase(file, FORMAT)).toThrow(
      refusal("store_missing", "no memory and no journal in"),
    );
    expect(readdirSync(directory)).toEqual([]);
  });
});

describe("a place that others may use is refused", () => {
  beforeEach(() => createDatabase(file, FORMAT).close());

  it.each([0o755, 0o710, 0o702])("a directory of mode %o", (mode) => {
    chmodSync(directory, mode);
    expect(() => openDatabase(file, FORMAT)).toThrow(refusal("store_not_private", "mode 0"));
  });

  it.each([0o644, 0o640, 0o602])("a file of mode %o", (mode) => {
    chmodSync(file, mode);
    expect(() => openDatabase(file, FORMAT)).toThrow(refusal("store_not_private", "test.sqlite"));
  });

  it("a directory behind a symbolic link", () => {
    symlinkSync(directory, join(root, "link"));
    expect(() => openDatabase(join(root, "link", "test.sqlite"), FORMAT)).toThrow(
      refusal("store_not_a_directory", "symbolic link"),
    );
    symlinkSync(join(root, "nowhere"), join(root, "dangling"));
    expect(() => createDatabase(join(root, "dangling", "x"), FORMAT)).toThrow(
      refusal("store_not_a_directory", "symbolic link"),
    );
  });

  it("a file behind a symbolic link, or known under a second name", () => {
    symlinkSync(file, join(directory, "link.sqlite"));
    expect(() => openDatabase(join(directory, "link.sqlite"), FORMAT)).toThrow(
      refusal("store_not_a_file", "symbolic link"),
    );
    linkSync(file, join(root, "second"));
    expect(() => openDatabase(file, FORMAT)).toThrow(refusal("store_not_a_file", "second name"));
  });

  it("a companion that is a symbolic link or open to others", () => {
    writeFileSync(join(root, "elsewhere"), "");
    symlinkSync(join(root, "elsewhere"), `${file}-wal`);
    expect(() => openDatabase(file, FORMAT)).toThrow(refusal("store_not_a_file", "-wal"));
    rmSync(`${file}-wal`);
    writeFileSync(`${file}-shm`, "");
    chmodSync(`${file}-shm`, 0o644);
    expect(() => openDatabase(file, FORMAT)).toThrow(refusal("store_not_private", "-shm"));
  });

  it("a directory in the place of the file", () => {
    mkdirSync(join(directory, "folder"), { mode: 0o700 });
    expect(() => openDatabase(join(directory, "folder"), FORMAT)).toThrow(
      refusal("store_not_a_file", "not a regular file"),
    );
  });

  it.runIf(process.getuid?.() === 0)("a file of another user (this test runs as root)", () => {
    spawnSync("chown", ["65534", file]);
    expect(() => openDatabase(file, FORMAT)).toThrow(refusal("store_not_private", "user 65534"));
  });
});

describe("migrations", () => {
  it("bring an older file to the present version with its rows", () => {
    const old = createDatabase(file, FORMAT);
    old.exec("INSERT INTO amounts VALUES (1, 12)");
    old.close();
    const database = openDatabase(file, LATER);
    expect(database.prepare("SELECT * FROM amounts").all()).toEqual([
      { id: 1n, amount: 12n, note: null },
    ]);
    expect(database.pragma("user_version", { simple: true })).toBe(2n);
    database.close();
    openDatabase(file, LATER).close();
  });

  it("happen whole or not at all", () => {
    const old = createDatabase(file, FORMAT);
    old.exec("INSERT INTO amounts VALUES (1, 12)");
    old.close();
    const broken = { ...LATER, migrations: [...LATER.migrations, "nonsense"] };
    expect(() => openDatabase(file, broken)).toThrow(refusal("store_io_error"));
    const database = openDatabase(file, FORMAT);
    expect(database.prepare("SELECT * FROM amounts").all()).toEqual([{ id: 1n, amount: 12n }]);
    database.close();
  });

  it("lead every released version to the same schema as a new file", () => {
    createDatabase(file, FORMAT).close();
    openDatabase(file, LATER).close();
    const fresh = join(root, "fresh", "test.sqlite");
    createDatabase(fresh, LATER).close();
    const schema = (one: string) => {
      const database = new Sqlite(one, { readonly: true });
      const rows = database.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name").all();
      database.close();
      return rows;
    };
    expect(schema(file)).toEqual(schema(fresh));
  });
});

describe("the memory's own file", () => {
  it("is made and found by its directory, however that is written", () => {
    const place = join(root, "memory");
    createProcedures(`${place}/../memory/`, DEFAULT_MEMORY_LIMITS).close();
    expect(readdirSync(place)).toEqual([FILE]);
    openProcedures(place, DEFAULT_MEMORY_LIMITS).close();
    expect(readdirSync(place)).toEqual([FILE]);
  });
});
