/** Procedure memory in a private SQLite file. What is promised is in `ports/procedures.ts`. */
import path from "node:path";
import { err, ok, type Result } from "../../base/result.ts";
import type {
  Forgotten,
  MemoryLimits,
  ProcedureKey,
  ProcedureRecord,
  Signal,
  SignalCounts,
  StandingQualification,
} from "../../model/memory.ts";
import type {
  NewDemotion,
  ObservationChange,
  Observed,
  ProcedureName,
  ProcedureStore,
  QualificationChange,
  SignalChange,
} from "../../ports/procedures.ts";
import { storedInteger, storedNumber, storedText } from "../decode.ts";
import { refusePromise } from "../judged.ts";
import {
  environmentReader,
  observationBytes,
  signalBytes,
  writeBody,
  writeEnvironment,
  writeExchanges,
  writeLearned,
} from "../rows.ts";
import { KEPT_SIGNALS } from "../signals.ts";
import type { OpenOptions } from "./format.ts";
import { createDatabase, type Database, openDatabase } from "./open.ts";
import {
  type Row,
  readDemotion,
  readObservation,
  readQualification,
  readSignal,
  readSummary,
  rowOf,
} from "./read-rows.ts";
import { FILE, PROCEDURES } from "./schema.ts";
import { type Statements, statementsOf } from "./statements.ts";
import { writerOf } from "./writer.ts";

/** A new memory in a directory that does not exist or is empty. @throws RoteError as `createDatabase` */
export function createProcedures(
  directory: string,
  limits: MemoryLimits,
  options: OpenOptions = {},
): ProcedureStore {
  const file = path.join(path.resolve(directory), FILE);
  return proceduresIn(createDatabase(file, PROCEDURES, options), limits);
}

/** The memory that is in the directory. @throws RoteError as `openDatabase` */
export function openProcedures(
  directory: string,
  limits: MemoryLimits,
  options: OpenOptions = {},
): ProcedureStore {
  const file = path.join(path.resolve(directory), FILE);
  return proceduresIn(openDatabase(file, PROCEDURES, options), limits);
}

export function proceduresIn(database: Database, limits: MemoryLimits): ProcedureStore {
  const { read, write, tidy, close } = writerOf(database);
  const sql = statementsOf(database);
  const readEnvironment = environmentReader();
  const summary = (row: unknown) => readSummary(row, readEnvironment);

  return {
    read: (key) => read(() => database.transaction(() => recordOf(sql, procedureRow(sql, key)))()),

    find: (key) =>
      read(() => {
        const row = sql.find.get(plain(key));
        return row === undefined ? undefined : summary(row);
      }),

    findTask: (task, limit) => read(() => first(sql.findTask.iterate(task), limit).map(summary)),

    list: (limit) => read(() => first(sql.list.iterate(), limit).map(summary)),

    tasks: (limit) =>
      read(() =>
        first(sql.tasks.iterate(), limit).map((row) => storedText(rowOf(row)["task"], "a task")),
      ),

    stands: (qualification) => read(() => sql.stands.get(qualification) !== undefined),

    observe<Refusal>(
      key: ProcedureKey,
      name: ProcedureName,
      judge: (record: ProcedureRecord | undefined) => Result<ObservationChange, Refusal>,
    ): Result<Observed, Refusal | "memory_full"> {
      return write((): Result<Observed, Refusal | "memory_full"> => {
        const known = procedureRow(sql, key);
        const judged = refusePromise(judge(recordOf(sql, known)));
        if (!judged.ok) return judged;
        const { observation, demotion } = judged.value;
        const body = writeBody(observation);
        const bytes = observationBytes(observation, body);
        const evicted = makeRoom(sql, limits, bytes, known);
        if (evicted === undefined) return err("memory_full");
        const procedure = known === undefined ? addProcedure(sql, key, name) : idOf(known);
        const { run, inputs, phase, clean, observed_ms } = observation;
        const added = sql.addObservation.run({
          procedure,
          run,
          inputs,
          phase,
          clean: clean ? 1 : 0,
          body,
          observed_ms,
        });
        const seq = BigInt(added.lastInsertRowid);
        sql.countObservation.run({ procedure, seq, bytes });
        sql.addTotals.run({ rows: 1, bytes });
        if (demotion !== null) demote(sql, procedure, demotion);
        return ok({ seq, evicted });
      });
    },

    qualify<Answer>(
      key: ProcedureKey,
      judge: (record: ProcedureRecord | undefined) => QualificationChange<Answer>,
    ): Answer {
      return write(() => {
        const known = procedureRow(sql, key);
        const record = recordOf(sql, known);
        const { qualification, answer } = refusePromise(judge(record));
        if (qualification !== null && known !== undefined) {
          const fresh = record?.standing === null;
          putQualification(sql, idOf(known), qualification, fresh);
        }
        return answer;
      });
    },

    signal<Refusal>(
      key: ProcedureKey,
      judge: (record: ProcedureRecord) => Result<SignalChange, Refusal>,
    ): Result<SignalChange, Refusal> | undefined {
      return write(() => {
        const known = procedureRow(sql, key);
        const record = recordOf(sql, known);
        if (known === undefined || record === undefined || record.standing === null) {
          return undefined;
        }
        const judged = refusePromise(judge(record));
        if (!judged.ok) return judged;
        const { signal, counts, demotion } = judged.value;
        addSignal(sql, idOf(known), signal, counts);
        if (demotion !== null) demote(sql, idOf(known), demotion);
        return judged;
      });
    },

    demote: (key, demotion) =>
      write(() => {
        const known = procedureRow(sql, key);
        return known !== undefined && demote(sql, idOf(known), demotion);
      }),

    forget: (key) => {
      const forgotten = write(() => forget(sql, procedureRow(sql, key)));
      // The log would keep the forgotten texts until it is next tidied into the file.
      if (forgotten !== undefined) tidy();
      return forgotten;
    },

    close,
  };
}

function first(rows: Iterable<unknown>, limit: number): readonly unknown[] {
  const taken: unknown[] = [];
  // Leaving the loop is what ends the query, so it is entered even for nothing.
  for (const row of rows) {
    if (taken.length >= limit) break;
    taken.push(row);
  }
  return taken;
}

/** Only the members of the key: the driver binds by name and refuses what it does not know. */
function plain({ plan, verifier, environment, semantics }: ProcedureKey) {
  return { plan, verifier, environment, semantics };
}

function procedureRow(sql: Statements, key: ProcedureKey): Row | undefined {
  const row = sql.procedure.get(plain(key));
  return row === undefined ? undefined : rowOf(row);
}

function idOf(row: Row): bigint {
  return storedInteger(row["id"], "a procedure");
}

function recordOf(sql: Statements, row: Row | undefined): ProcedureRecord | undefined {
  if (row === undefined) return undefined;
  const id = idOf(row);
  return {
    task: storedText(row["task"], "a task"),
    observations: sql.observations.all(id).map(readObservation),
    signals: sql.signals.all(id).map(readSignal),
    demotions: sql.demotions.all(id).map(readDemotion),
    standing: readQualification(sql.qualification.get(id)),
    counts: {
      failures: storedNumber(row["failures"], "a count of failures"),
      successes: storedNumber(row["successes"], "a count of successes"),
    },
  };
}

function addProcedure(sql: Statements, key: ProcedureKey, name: ProcedureName): bigint {
  const parts = writeEnvironment(name.environment);
  const added = sql.addProcedure.run({ ...plain(key), task: name.task, parts });
  return BigInt(added.lastInsertRowid);
}

/**
 * Drops procedures until one more observation fits, and says how many; undefined, with nothing dropped, when that
 * cannot be reached.
 */
function makeRoom(
  sql: Statements,
  limits: MemoryLimits,
  bytes: number,
  own: Row | undefined,
): number | undefined {
  const totals = rowOf(sql.totals.get());
  let rowsOver = storedNumber(totals["rows"], "a total") + 1 - limits.rows;
  let bytesOver = storedNumber(totals["bytes"], "a total") + bytes - limits.bytes;
  if (rowsOver <= 0 && bytesOver <= 0) return 0;
  const dropped: Row[] = [];
  for (const candidate of sql.toDrop.iterate(own === undefined ? -1 : idOf(own))) {
    const row = rowOf(candidate);
    dropped.push(row);
    rowsOver -= storedNumber(row["rows"], "a count");
    bytesOver -= storedNumber(row["bytes"], "a count");
    if (rowsOver <= 0 && bytesOver <= 0) break;
  }
  if (rowsOver > 0 || bytesOver > 0) return undefined;
  for (const row of dropped) dropProcedure(sql, row);
  return dropped.length;
}

function dropProcedure(sql: Statements, row: Row): void {
  sql.dropProcedure.run(idOf(row));
  sql.addTotals.run({
    rows: -storedNumber(row["rows"], "a count"),
    bytes: -storedNumber(row["bytes"], "a count"),
  });
}

function putQualification(
  sql: Statements,
  procedure: bigint,
  qualification: StandingQualification,
  fresh: boolean,
): void {
  const { id, clean_runs, qualified_ms } = qualification;
  const learned = writeLearned(qualification.learned);
  sql.putQualification.run({ id, procedure, learned, clean_runs, qualified_ms });
  if (fresh) sql.markStanding.run({ procedure, standing: 1 });
}

function addSignal(sql: Statements, procedure: bigint, signal: Signal, counts: SignalCounts): void {
  const models = writeExchanges(signal.models);
  let rows = 1;
  let bytes = signalBytes(signal, models);
  const { run, reason, signalled_ms } = signal;
  const failed = signal.failed ? 1 : 0;
  sql.addSignal.run({ procedure, run, failed, reason, models, bytes, signalled_ms });
  for (const surplus of sql.surplusSignals.all(procedure, failed, KEPT_SIGNALS)) {
    const row = rowOf(surplus);
    sql.dropSignal.run(storedInteger(row["id"], "a signal"));
    rows -= 1;
    bytes -= storedNumber(row["bytes"], "a count");
  }
  sql.countSignals.run({ procedure, rows, bytes, ...counts });
  sql.addTotals.run({ rows, bytes });
}

function demote(sql: Statements, procedure: bigint, demotion: NewDemotion): boolean {
  const standing = readQualification(sql.qualification.get(procedure));
  if (standing === null) return false;
  const { cause, reason, run, demoted_ms } = demotion;
  sql.addDemotion.run({ procedure, qualification: standing.id, cause, reason, run, demoted_ms });
  sql.dropQualification.run(procedure);
  sql.markStanding.run({ procedure, standing: 0 });
  return true;
}

function forget(sql: Statements, row: Row | undefined): Forgotten | undefined {
  if (row === undefined) return undefined;
  const observations = storedNumber(row["observations"], "a count");
  const signals = storedNumber(row["signals"], "a count");
  const demotions = sql.demotions.all(idOf(row)).length;
  dropProcedure(sql, { ...row, rows: observations + signals });
  return { observations, signals, demotions, qualified: row["standing"] === 1n };
}
