import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { assembleHost } from "../src/app/create-host.ts";
import { Procedure } from "../src/app/procedure.ts";
import { bindRecipe } from "../src/compile/index.ts";
import { type Host, partsOf } from "../src/host/index.ts";
import type { Run } from "../src/run/index.ts";
import type { JournalTables } from "../src/store/journal/tables.ts";
import { hostOptions, madeTool, registration } from "../test/support/host.ts";
import { engines } from "./engines.ts";
import { growthExponent, median, rounded } from "./measure.ts";
import { rawCryptography } from "./raw-cryptography.ts";
import { ANSWER, answerOf, MODELS, VERIFIER } from "./resume-parts.ts";
import type { Row } from "./row.ts";

export const name = "durable";

const SIZES = [10, 100, 1000];
/** Steps measured per size: enough whole runs for a median. */
const STEPS = 2000;
/** Steps taken before anything is measured: what is compiled while it runs is compiled by then, for both. */
const WARM_STEPS = 3000;
const EFFECTS = 40;
/** Runs of effects before anything is measured, for the same reason. */
const WARM_RUNS = 40;
const CONCURRENT = [1, 8, 64];
const ROUNDS = 15;

/**
 * What durability costs: a step of a run, which is one entry in one commit, beside one synced insert; an effect with
 * its receipt beside two synced inserts and the same cryptography done raw; many runs at once, whose commits are
 * counted; and the same steps in two durable engines.
 */
export async function rows(): Promise<readonly Row[]> {
  const root = mkdtempSync(join(tmpdir(), "rote-bench-durable-"));
  try {
    return [
      ...(await steps(root)),
      ...(await effects(root)),
      ...(await concurrent(root)),
      ...(await engines(SIZES)),
    ];
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function steps(root: string): Promise<readonly Row[]> {
  const found: Row[] = [];
  const times: { ours: [number, number][]; floor: [number, number][] } = { ours: [], floor: [] };
  let before: { readonly steps: number; readonly bytes: number } | undefined;
  await warm(join(root, "steps-warm"));
  for (const size of SIZES) {
    const directory = join(root, `steps-${size}`);
    const host = await assembleHost(hostOptions(directory, []), {});
    const insert = syncedInsert(join(root, `floor-${size}`));
    const procedure = bound(chain(size), host);
    let empty = 0;
    const taken = { ours: [] as number[], floor: [] as number[] };
    const runs = Math.max(3, Math.round(STEPS / size));
    for (let round = 0; round <= runs; round += 1) {
      // The first round warms up, and leaves what is kept once per recipe.
      if (round === 1) empty = bytesIn(directory);
      const run = await started(procedure, host);
      // One and one in turn: a slow moment of the disk, and caches that other work has emptied, fall on both.
      for (let step = 0; step < size; step += 1) {
        const answer = answerOf(step);
        const floorMs = timed(() => insert.run(round, answer));
        const start = performance.now();
        await run.advanceAsync(host, { model: { answer } });
        if (round === 0) continue;
        taken.floor.push(floorMs);
        taken.ours.push(performance.now() - start);
      }
      if (run.state !== "verified") throw new Error(`the run is ${run.state}`);
    }
    await host.close();
    insert.close();
    const [ours, floor] = [median(taken.ours), median(taken.floor)];
    times.ours.push([size, ours]);
    times.floor.push([size, floor]);
    const bytes = (bytesIn(directory) - empty) / runs;
    const grown = before === undefined ? null : (bytes - before.bytes) / (size - before.steps);
    const common = { case: "step", steps: size, runs: 1 };
    found.push(
      { method: "better-sqlite3", ...common, ...perStep(floor, floor) },
      {
        method: "rote",
        ...common,
        ...perStep(ours, floor),
        bytes_on_disk: rounded(bytes / size),
        bytes_grown: grown === null ? null : rounded(grown),
        growth_exponent: size === SIZES.at(-1) ? rounded(growthExponent(times.ours)) : null,
      },
    );
    before = { steps: size, bytes };
  }
  return found;
}

async function warm(directory: string): Promise<void> {
  const host = await assembleHost(hostOptions(directory, []), {});
  const insert = syncedInsert(`${directory}-floor`);
  const size = 100;
  const procedure = bound(chain(size), host);
  for (let done = 0; done < WARM_STEPS; done += size) {
    const run = await started(procedure, host);
    for (let step = 0; step < size; step += 1) {
      insert.run(done, answerOf(step));
      await run.advanceAsync(host, { model: { answer: answerOf(step) } });
    }
  }
  await host.close();
  insert.close();
}

/**
 * One run of effects, each admitted and receipted, beside the same commits and the same cryptography. The floor's share of
 * an effect is done inside of the tool that the effect calls, and its time is taken off: so the same emptied caches and
 * the same slow moments of the disk fall on both.
 */
async function effects(root: string): Promise<readonly Row[]> {
  const directory = join(root, "effects");
  let floorMs = 0;
  let floor = () => {};
  const host = await paying(directory, {
    work: () => {
      floorMs += timed(floor);
    },
  });
  const procedure = bound(payments(EFFECTS), host);
  const raw = await rawCryptography(async () => {
    await finished(await started(procedure, host), host);
  });
  const insert = syncedInsert(join(root, "two-commits"));
  const empty = bytesIn(directory);
  const record = recordBytes(host);
  const entries = entrySizes(host);
  const taken = { ours: [] as number[], floor: [] as number[], crypto: [] as number[] };
  for (let round = -WARM_RUNS; round < ROUNDS; round += 1) {
    const cryptoMs = timed(() => raw.repeat());
    let effect = 0;
    floorMs = 0;
    floor = () => {
      raw.repeat(effect / EFFECTS, (effect + 1) / EFFECTS);
      insert.run(round, "a".repeat(entries.admitted));
      insert.run(round, "a".repeat(entries.receipt));
      effect += 1;
    };
    const run = await started(procedure, host);
    const start = performance.now();
    await finished(run, host);
    const bothMs = performance.now() - start;
    if (round < 0) continue;
    taken.crypto.push(cryptoMs / EFFECTS);
    taken.floor.push(floorMs / EFFECTS);
    taken.ours.push((bothMs - floorMs) / EFFECTS);
  }
  const count = (WARM_RUNS + ROUNDS) * EFFECTS;
  const bytes = (recordBytes(host) - record) / count;
  await host.close();
  const onDisk = (bytesIn(directory) - empty) / count;
  insert.close();
  const [ours, least] = [median(taken.ours), median(taken.floor)];
  const common = { case: "effect with receipt", steps: EFFECTS, runs: 1 };
  return [
    {
      method: "two synced inserts and the cryptography",
      ...common,
      ...perStep(least, least),
      signatures: rounded(raw.signatures / EFFECTS),
      verifications: rounded(raw.verifications / EFFECTS),
      digests: rounded(raw.digests / EFFECTS),
    },
    {
      method: "the cryptography alone",
      ...common,
      ...perStep(median(taken.crypto), least),
    },
    {
      method: "rote",
      ...common,
      ...perStep(ours, least),
      times_floor: rounded(ours / least),
      bytes: rounded(bytes),
      bytes_on_disk: rounded(onDisk),
    },
  ];
}

/** Runs at the same time, and how many commits an effect costs them. */
async function concurrent(root: string): Promise<readonly Row[]> {
  const found: Row[] = [];
  for (const runs of CONCURRENT) {
    let commits = 0;
    const host = await paying(join(root, `concurrent-${runs}`), {
      around: (tables) => ({
        ...tables,
        write<T>(work: () => T): T {
          commits += 1;
          return tables.write(work);
        },
      }),
    });
    const procedure = bound(payments(EFFECTS), host);
    const raw = await rawCryptography(async () => {
      await finished(await started(procedure, host), host);
    });
    const taken: number[] = [];
    const crypto: number[] = [];
    const counted: number[] = [];
    for (let round = -Math.ceil(WARM_RUNS / runs); round <= 2; round += 1) {
      const cryptoMs = timed(() => raw.repeat());
      commits = 0;
      const start = performance.now();
      await Promise.all(
        Array.from({ length: runs }, async () => finished(await started(procedure, host), host)),
      );
      if (round <= 0) continue;
      crypto.push(cryptoMs / EFFECTS);
      taken.push((performance.now() - start) / (runs * EFFECTS));
      counted.push(commits / (runs * EFFECTS));
    }
    await host.close();
    found.push({
      method: "rote",
      case: "effect with receipt, runs at once",
      steps: EFFECTS,
      runs,
      microseconds: rounded(median(taken) * 1000),
      per_second: rounded(1000 / median(taken)),
      commits_per_effect: rounded(median(counted)),
      times_cryptography: rounded(median(taken) / median(crypto)),
    });
  }
  return found;
}

function chain(length: number): unknown {
  const nodes = Array.from({ length }, (_, index) => ({
    id: `s${index}`,
    output: ANSWER,
    step: { kind: "model", prompt: index === 0 ? "begin" : { node: `s${index - 1}/note` } },
  }));
  return { version: 1, id: "steps", inputs: {}, terminal: `s${length - 1}`, nodes };
}

function payments(count: number): unknown {
  return {
    version: 1,
    id: "payments",
    inputs: { lines: { list: { record: { account: "text", amount: "integer" } } } },
    terminal: "pay",
    nodes: [
      {
        id: "known",
        step: { kind: "verify", condition: true, value: { input: "lines" } },
      },
      {
        id: "pay",
        after: ["known"],
        output: { list: "text" },
        each: { list: { node: "known" }, as: "line", limit: count },
        step: { kind: "effect", tool: "bank.pay", arguments: { item: "line" } },
      },
    ],
  };
}

interface Paying {
  readonly around?: (tables: JournalTables) => JournalTables;
  /** Done by the tool, in each of its calls. */
  readonly work?: () => void;
}

function paying(directory: string, { around, work = () => {} }: Paying) {
  const tool = madeTool("bank.pay", () => {
    work();
    return { kind: "done", result: "paid" };
  });
  const change = {
    policy: {
      version: 1 as const,
      id: "bench",
      profile: "standard" as const,
      grants: ["tool:effect:bank.pay"],
      approvable: [],
      deny: [],
      approvals: { required: 1, requester_may_approve: false },
    },
  };
  const options = hostOptions(directory, [registration(tool, "effect")], change);
  return assembleHost(options, around === undefined ? {} : { around });
}

function bound(recipe: unknown, host: Host): Procedure {
  const unbound = new Procedure(recipe, { verifier: VERIFIER });
  return new Procedure(bindRecipe(recipe, host.environment(unbound.plan)), { verifier: VERIFIER });
}

async function started(procedure: Procedure, host: Host): Promise<Run> {
  const environment = host.environment(procedure.plan);
  const lines = Array.from({ length: EFFECTS }, (_, index) => ({
    account: `account-${index}`,
    amount: "1200",
  }));
  const inputs = procedure.plan.inputs.length === 0 ? {} : { lines };
  const models = procedure.plan.inputs.length === 0 ? MODELS : {};
  const run = procedure.start(inputs, { environment, models });
  if (procedure.plan.inputs.length === 0) await run.advanceAsync(host);
  return run;
}

async function finished(run: Run, host: Host): Promise<void> {
  const state = await run.advanceAsync(host);
  if (state !== "verified") throw new Error(`the run is ${state}: ${run.report.failure?.message}`);
}

interface Inserting {
  run(run: number, body: unknown): void;
  close(): void;
}

/** As durable as a commit of ours, and nothing else. */
function syncedInsert(directory: string): Inserting {
  mkdirSync(directory);
  const database = new Sqlite(join(directory, "floor.sqlite"));
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  database.exec(
    `CREATE TABLE event (run INTEGER NOT NULL, seq INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (run, seq))
     STRICT, WITHOUT ROWID`,
  );
  const insert = database.prepare("INSERT INTO event VALUES (?, ?, ?)");
  let seq = 0;
  return {
    run(run, body) {
      seq += 1;
      insert.run(run, seq, typeof body === "string" ? body : JSON.stringify(body));
    },
    close: () => void database.close(),
  };
}

/** Length of an admission and of a receipt in the record. */
function entrySizes(host: Host): { readonly admitted: number; readonly receipt: number } {
  const sizes = { admitted: 0, receipt: 0 };
  for (const { entry, bytes } of partsOf(host).journal.scan(0, 100)) {
    if (entry.type === "admitted" || entry.type === "receipt") {
      sizes[entry.type] = bytes.byteLength;
    }
  }
  return sizes;
}

function recordBytes(host: Host): number {
  const { journal } = partsOf(host);
  let sum = 0;
  for (let from = 0; ; ) {
    const portion = journal.scan(from, 1000);
    if (portion.length === 0) return sum;
    from += portion.length;
    sum += portion.reduce((total, { bytes }) => total + bytes.byteLength, 0);
  }
}

function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function perStep(ms: number, floorMs: number) {
  return {
    microseconds: rounded(ms * 1000),
    per_second: rounded(1000 / ms),
    of_floor: rounded(floorMs / ms),
  };
}

/** Of all files, with what the log of writes still holds moved into the database. */
function bytesIn(directory: string): number {
  const database = new Sqlite(join(directory, "procedures.sqlite"));
  database.pragma("wal_checkpoint(TRUNCATE)");
  database.close();
  return readdirSync(directory)
    .map((file) => statSync(join(directory, file)).size)
    .reduce((sum, size) => sum + size, 0);
}
