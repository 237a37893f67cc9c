import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { Procedure } from "../src/app/procedure.ts";
import { ProcedureMemory } from "../src/app/procedure-memory.ts";
import { type Digest, digestOf } from "../src/base/digest.ts";
import { environmentDigest } from "../src/compile/environment.ts";
import { DEFAULT_MEMORY_LIMITS, type ProcedureKey } from "../src/model/memory.ts";
import type { Run } from "../src/run/index.ts";
import { writeBody, writeEnvironment } from "../src/store/rows.ts";
import { type Database, openDatabase } from "../src/store/sqlite/open.ts";
import { openProcedures } from "../src/store/sqlite/procedures.ts";
import { FILE, PROCEDURES } from "../src/store/sqlite/schema.ts";
import { growthExponent, median, rates, rounded } from "./measure.ts";
import type { Row } from "./row.ts";

export const name = "memory";

const SIZES = [10, 100, 1000, 10_000, 100_000];
/** Observed runs per seeded procedure: a ladder just climbed. */
const OBSERVED = 5;
/** Observations measured per case. */
const TIMES = 90;
/** Runs that a procedure has when one more is observed. */
const DEPTHS = [0, 100, 900];

const environment = {
  policy: "1".repeat(64),
  tools: "2".repeat(64),
  credentials: "3".repeat(64),
  evidence: "4".repeat(64),
  host_configuration: null,
};
const recipe = {
  version: 1,
  id: "line-total",
  environment,
  inputs: { quantity: "integer", price: "integer" },
  terminal: "total",
  nodes: [
    {
      id: "total",
      step: {
        kind: "pure",
        value: { op: "multiply", left: { input: "quantity" }, right: { input: "price" } },
      },
    },
  ],
};
const verifier = {
  op: "equal",
  left: { input: "context/result" },
  right: {
    op: "multiply",
    left: { input: "context/inputs/price" },
    right: { input: "context/inputs/quantity" },
  },
};

/**
 * Look-ups in a memory of 10 to 100,000 qualified procedures beside a bare primary-key get in a table of as many rows,
 * and observing a run beside a bare insert that is synced as well. Everything in one process, on files in one place.
 */
export async function rows(): Promise<readonly Row[]> {
  const root = mkdtempSync(join(tmpdir(), "rote-bench-memory-"));
  try {
    return [...(await lookUps(root)), ...(await observing(root))];
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function lookUps(root: string): Promise<readonly Row[]> {
  const directory = join(root, "look-up");
  await (await ProcedureMemory.create(directory)).close();
  const bare = bareTable(join(root, "bare"));
  const get = bare.prepare("SELECT value FROM t WHERE key = ?");
  const found: Row[] = [];
  const times = new Map<string, [number, number][]>();
  let seeded = 0;
  for (const size of SIZES) {
    const seeding = openDatabase(join(directory, FILE), PROCEDURES);
    seed(seeding, bare, seeded, size);
    seeding.close();
    seeded = size;
    const memory = await ProcedureMemory.open(directory);
    const store = openProcedures(directory, DEFAULT_MEMORY_LIMITS);
    // A stride that is prime to every size visits procedures far apart, so caches are used as in real life.
    const at = (round: number) => (round * 7919) % size;
    const keys = Array.from({ length: Math.min(size, 4096) }, (_, round) => keyOf(at(round)));
    const key = (round: number) => keys[round % keys.length]!;
    const measured = await rates({
      "primary-key get": (round) => get.get(key(round).plan),
      "look-up by digests": (round) => store.find(key(round)),
      "look-up by digests, awaited": (round) => memory.lookUp(key(round)),
      "look-up by task": (round) => store.findTask(taskOf(at(round)), 10),
      "does it stand": (round) => store.stands(qualificationOf(at(round))),
    });
    const floor = measured["primary-key get"];
    for (const [what, rate] of Object.entries(measured)) {
      const points = times.get(what) ?? [];
      points.push([size, 1 / rate]);
      times.set(what, points);
      found.push({
        method: what === "primary-key get" ? "better-sqlite3" : "rote",
        case: what,
        procedures: size,
        per_second: rounded(rate),
        microseconds: rounded(1e6 / rate),
        over_floor: rounded(floor / rate),
        growth_exponent: size === SIZES.at(-1) ? rounded(growthExponent(points)) : null,
      });
    }
    store.close();
    await memory.close();
  }
  bare.close();
  return found;
}

async function observing(root: string): Promise<readonly Row[]> {
  const procedure = new Procedure(recipe, { verifier });
  const found: Row[] = [];
  for (const depth of DEPTHS) {
    const memory = await ProcedureMemory.create(join(root, `observe-${depth}`));
    const bare = bareTable(join(root, `insert-${depth}`));
    const insert = bare.prepare("INSERT INTO t VALUES (?, ?)");
    for (let index = 0; index < depth; index += 1) {
      await memory.observe(verified(procedure, index), { phase: "training" });
    }
    const value = "x".repeat(300);
    const observed: number[] = [];
    const inserted: number[] = [];
    for (let index = 0; index < TIMES; index += 1) {
      const run = verified(procedure, depth + index);
      let start = performance.now();
      await memory.observe(run, { phase: "training" });
      observed.push(performance.now() - start);
      start = performance.now();
      insert.run(`key ${index}`, value);
      inserted.push(performance.now() - start);
    }
    bare.close();
    await memory.close();
    const floor = median(inserted);
    for (const [method, what, took] of [
      ["better-sqlite3", "insert, synced", floor],
      ["rote", "observe", median(observed)],
    ] as const) {
      found.push({
        method,
        case: what,
        observed_before: depth,
        per_second: rounded(1000 / took),
        microseconds: rounded(took * 1000),
        over_floor: rounded(took / floor),
      });
    }
  }
  return found;
}

function verified(procedure: Procedure, index: number): Run {
  const run = procedure.start({ quantity: String(index + 1), price: "1200" }, { environment });
  if (run.advancePure({ environment }) !== "verified") throw new Error("the run was not verified");
  return run;
}

/** One table, written as durably as ours. */
function bareTable(directory: string): Sqlite.Database {
  mkdirSync(directory);
  const database = new Sqlite(join(directory, "bare.sqlite"));
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  database.exec("CREATE TABLE t (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT");
  return database;
}

/** As the store writes it, but many procedures in one transaction. */
function seed(database: Database, bare: Sqlite.Database, from: number, to: number): void {
  const parts = writeEnvironment(environment);
  const body = writeBody({ result: digest("result", 0), receipts: [], models: [], mismatches: [] });
  const addProcedure = database.prepare(
    `INSERT INTO procedures (id, plan, verifier, environment, semantics, task, environment_parts, touched, standing,
     observations, bytes) VALUES (@id, @plan, @verifier, @environment, @semantics, @task, @parts, @id, 1, @observed, 0)`,
  );
  const addObservation = database.prepare(
    `INSERT INTO observations (procedure, run, inputs, phase, clean, body, observed_ms)
     VALUES (?, ?, ?, 'training', 1, ?, 0)`,
  );
  const addQualification = database.prepare("INSERT INTO qualifications VALUES (?, ?, '[]', 5, 0)");
  const addRow = bare.prepare("INSERT INTO t VALUES (?, ?)");
  database
    .transaction(() => {
      for (let index = from; index < to; index += 1) {
        const id = index + 1;
        addProcedure.run({ ...keyOf(index), id, task: taskOf(index), parts, observed: OBSERVED });
        for (let each = 0; each < OBSERVED; each += 1) {
          addObservation.run(id, `run-${index}-${each}`, digest("inputs", each), body);
        }
        addQualification.run(qualificationOf(index), id);
      }
      database.prepare("UPDATE totals SET rows = rows + ?").run((to - from) * OBSERVED);
    })
    .immediate();
  bare.transaction(() => {
    for (let index = from; index < to; index += 1) addRow.run(keyOf(index).plan, body);
  })();
}

const VERIFIER = digest("verifier", 0);
const ENVIRONMENT = environmentDigest(environment);

function keyOf(index: number): ProcedureKey {
  return {
    plan: digest("plan", index),
    verifier: VERIFIER,
    environment: ENVIRONMENT,
    semantics: 1,
  };
}

function taskOf(index: number): string {
  return `task-${index}`;
}

function qualificationOf(index: number): string {
  return `qualification-${index}`;
}

function digest(what: string, index: number): Digest {
  return digestOf("rote-bench/v1", [what, index]);
}
