/**
 * Rows of the journal. `entries` is the record; everything else is an index over it that a reader of the record could
 * make again, but for leases, which are about the present.
 */
export const JOURNAL_TABLES = `
    CREATE TABLE chains (
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200)
    ) STRICT;

    -- The ends of chains and of the log are found at the right edge of a tree: kept nowhere else, written by nobody.
    CREATE TABLE entries (
      position INTEGER PRIMARY KEY,
      chain INTEGER NOT NULL REFERENCES chains (id),
      seq INTEGER NOT NULL,
      time INTEGER NOT NULL,
      bytes BLOB NOT NULL,
      UNIQUE (chain, seq)
    ) STRICT;

    CREATE TABLE claims (
      space TEXT NOT NULL,
      key TEXT NOT NULL,
      position INTEGER NOT NULL,
      PRIMARY KEY (space, key)
    ) STRICT, WITHOUT ROWID;

    -- Totals are decimal text: amounts may be larger than 64 bits.
    CREATE TABLE counters (
      name TEXT PRIMARY KEY,
      total TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE leases (
      chain TEXT PRIMARY KEY,
      owner TEXT NOT NULL,
      epoch INTEGER NOT NULL,
      expires_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE blobs (
      sha256 TEXT PRIMARY KEY,
      bytes BLOB NOT NULL
    ) STRICT;

    -- Written when a run starts and ends, and once a second in between; the rest is in the last entry of its chain.
    CREATE TABLE runs (
      run TEXT PRIMARY KEY,
      recipe TEXT NOT NULL,
      plan TEXT NOT NULL,
      mode TEXT NOT NULL,
      started_ms INTEGER NOT NULL,
      touched_ms INTEGER NOT NULL,
      state TEXT,
      reason TEXT
    ) STRICT;
    CREATE INDEX runs_by_touch ON runs (touched_ms);

    CREATE TABLE heads (
      size INTEGER PRIMARY KEY,
      note TEXT NOT NULL,
      roots BLOB NOT NULL
    ) STRICT;
`;
