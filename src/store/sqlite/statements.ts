import type { Statement } from "better-sqlite3";
import type { Database } from "./open.ts";

/** A prepared statement, under a name that declarations can be written with. */
export interface Prepared extends Statement<unknown[]> {}

/** Everything that is ever asked of the file, prepared once. */
export type Statements = ReturnType<typeof statementsOf>;

const SUMMARY = `SELECT p.plan, p.verifier, p.environment, p.semantics, p.task, p.environment_parts, p.observations,
  (SELECT q.id FROM qualifications q WHERE q.procedure = p.id) AS qualification FROM procedures p`;
const KEY =
  "plan = @plan AND verifier = @verifier AND environment = @environment AND semantics = @semantics";

export function statementsOf(database: Database) {
  const prepare = (sql: string): Prepared => database.prepare<unknown[]>(sql);
  return {
    procedure: prepare(`SELECT * FROM procedures WHERE ${KEY}`),
    find: prepare(`${SUMMARY} WHERE ${KEY}`),
    // Without LIMIT, and read as far as wanted: a bound limit makes SQLite plan the statement anew each time.
    findTask: prepare(`${SUMMARY} WHERE task = ? ORDER BY touched DESC`),
    list: prepare(`${SUMMARY} ORDER BY touched DESC`),
    tasks: prepare("SELECT DISTINCT task FROM procedures"),
    stands: prepare("SELECT 1 FROM qualifications WHERE id = ?"),

    observations: prepare(
      "SELECT seq, run, inputs, phase, clean, observed_ms, body FROM observations WHERE procedure = ? ORDER BY seq",
    ),
    signals: prepare("SELECT * FROM signals WHERE procedure = ? ORDER BY id"),
    demotions: prepare("SELECT * FROM demotions WHERE procedure = ? ORDER BY id"),
    qualification: prepare("SELECT * FROM qualifications WHERE procedure = ?"),

    addProcedure: prepare(
      `INSERT INTO procedures (plan, verifier, environment, semantics, task, environment_parts, touched)
       VALUES (@plan, @verifier, @environment, @semantics, @task, @parts, 0)`,
    ),
    addObservation: prepare(
      `INSERT INTO observations (procedure, run, inputs, phase, clean, body, observed_ms)
       VALUES (@procedure, @run, @inputs, @phase, @clean, @body, @observed_ms)`,
    ),
    countObservation: prepare(
      `UPDATE procedures SET touched = @seq, observations = observations + 1, bytes = bytes + @bytes
       WHERE id = @procedure`,
    ),
    addSignal: prepare(
      `INSERT INTO signals (procedure, run, failed, reason, models, bytes, signalled_ms)
       VALUES (@procedure, @run, @failed, @reason, @models, @bytes, @signalled_ms)`,
    ),
    surplusSignals: prepare(
      `SELECT id, bytes FROM signals WHERE procedure = ? AND failed = ? ORDER BY id DESC LIMIT -1 OFFSET ?`,
    ),
    dropSignal: prepare("DELETE FROM signals WHERE id = ?"),
    countSignals: prepare(
      `UPDATE procedures SET signals = signals + @rows, bytes = bytes + @bytes, failures = @failures,
       successes = @successes WHERE id = @procedure`,
    ),
    putQualification: prepare(
      `INSERT INTO qualifications (id, procedure, learned, clean_runs, qualified_ms)
       VALUES (@id, @procedure, @learned, @clean_runs, @qualified_ms)
       ON CONFLICT (procedure) DO UPDATE SET id = excluded.id, learned = excluded.learned,
       clean_runs = excluded.clean_runs, qualified_ms = excluded.qualified_ms`,
    ),
    dropQualification: prepare("DELETE FROM qualifications WHERE procedure = ?"),
    markStanding: prepare(
      `UPDATE procedures SET standing = @standing, failures = 0, successes = 0 WHERE id = @procedure`,
    ),
    addDemotion: prepare(
      `INSERT INTO demotions (procedure, qualification, cause, reason, run, demoted_ms, barrier)
       SELECT @procedure, @qualification, @cause, @reason, @run, @demoted_ms, touched
       FROM procedures WHERE id = @procedure`,
    ),

    totals: prepare("SELECT rows, bytes FROM totals"),
    addTotals: prepare("UPDATE totals SET rows = rows + @rows, bytes = bytes + @bytes"),
    toDrop: prepare(
      `SELECT id, observations + signals AS rows, bytes FROM procedures
       WHERE standing = 0 AND id <> ? ORDER BY touched`,
    ),
    dropProcedure: prepare("DELETE FROM procedures WHERE id = ?"),
  };
}
