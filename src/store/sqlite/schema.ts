import type { Format } from "./format.ts";
import { JOURNAL_TABLES } from "./journal-schema.ts";

/** Name of the database in a memory's directory. */
export const FILE = "procedures.sqlite";

/**
 * Rows of procedure memory. Commitments are digests; `body` and `learned` hold model answers; nothing else of the
 * inputs is anywhere.
 */
export const PROCEDURES: Format = {
  name: "procedure memory",
  // "Rote" in ASCII.
  applicationId: 0x526f7465,
  migrations: [
    `
    CREATE TABLE procedures (
      id INTEGER PRIMARY KEY,
      plan TEXT NOT NULL,
      verifier TEXT NOT NULL,
      environment TEXT NOT NULL,
      semantics INTEGER NOT NULL,
      task TEXT NOT NULL,
      environment_parts TEXT NOT NULL,
      touched INTEGER NOT NULL,
      standing INTEGER NOT NULL DEFAULT 0 CHECK (standing IN (0, 1)),
      observations INTEGER NOT NULL DEFAULT 0,
      signals INTEGER NOT NULL DEFAULT 0,
      bytes INTEGER NOT NULL DEFAULT 0,
      failures INTEGER NOT NULL DEFAULT 0,
      successes INTEGER NOT NULL DEFAULT 0,
      UNIQUE (plan, verifier, environment, semantics)
    ) STRICT;
    CREATE INDEX procedures_by_task ON procedures (task, touched);
    CREATE INDEX procedures_by_use ON procedures (touched);
    CREATE INDEX procedures_to_drop ON procedures (touched) WHERE standing = 0;

    CREATE TABLE observations (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      procedure INTEGER NOT NULL REFERENCES procedures (id) ON DELETE CASCADE,
      run TEXT NOT NULL,
      inputs TEXT NOT NULL,
      phase TEXT NOT NULL CHECK (phase IN ('training', 'shadow', 'canary')),
      clean INTEGER NOT NULL CHECK (clean IN (0, 1)),
      body TEXT NOT NULL,
      observed_ms INTEGER NOT NULL,
      UNIQUE (procedure, run),
      UNIQUE (procedure, inputs)
    ) STRICT;

    CREATE TABLE signals (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      procedure INTEGER NOT NULL REFERENCES procedures (id) ON DELETE CASCADE,
      run TEXT,
      failed INTEGER NOT NULL CHECK (failed IN (0, 1)),
      reason TEXT NOT NULL,
      models TEXT NOT NULL,
      bytes INTEGER NOT NULL,
      signalled_ms INTEGER NOT NULL,
      UNIQUE (procedure, run)
    ) STRICT;
    CREATE INDEX signals_by_verdict ON signals (procedure, failed, id);

    CREATE TABLE qualifications (
      id TEXT PRIMARY KEY,
      procedure INTEGER NOT NULL UNIQUE REFERENCES procedures (id) ON DELETE CASCADE,
      learned TEXT NOT NULL,
      clean_runs INTEGER NOT NULL,
      qualified_ms INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE demotions (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      procedure INTEGER NOT NULL REFERENCES procedures (id) ON DELETE CASCADE,
      qualification TEXT NOT NULL,
      cause TEXT NOT NULL,
      reason TEXT NOT NULL,
      run TEXT,
      demoted_ms INTEGER NOT NULL,
      barrier INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX demotions_by_procedure ON demotions (procedure, id);

    -- What the limits are about, kept by every change so that no change has to count.
    CREATE TABLE totals (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      rows INTEGER NOT NULL,
      bytes INTEGER NOT NULL
    ) STRICT;
    INSERT INTO totals VALUES (1, 0, 0);
    `,
    JOURNAL_TABLES,
  ],
  schemas: [
    "c7f15a316c81dd03c01aacc655730d71e8b72e8cd000194a9b9a4f5d203fb2c2",
    "885f227f0a86ce01d7dcdc0170114a7b1986b6ec6e2c635fc4731fb42a707895",
  ],
};
