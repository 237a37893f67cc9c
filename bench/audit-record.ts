/**
 * The record that `audit.ts` audits: what real runs at a real host left, exported whenever it has grown to the next size.
 * It takes minutes, so it is kept in `bench/.build` and used again as long as the code that wrote it is the same.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { exportRecord } from "../src/app/audit.ts";
import { createHost } from "../src/app/create-host.ts";
import { Procedure } from "../src/app/procedure.ts";
import { sha256InPortions } from "../src/base/digest.ts";
import { bindRecipe } from "../src/compile/index.ts";
import type { Host } from "../src/host/index.ts";
import { READ_AND_TWO } from "../test/support/audit/record.ts";
import { bank, VERIFIER } from "../test/support/gate.ts";
import { decision, hostOptions, KEYS, trust } from "../test/support/host.ts";
import { ROOT } from "./paths.ts";

export interface Exported {
  readonly bundle: string;
  /** The file of the trust store to audit it by. */
  readonly trust: string;
  readonly exportMs: number;
}

const BUILT = join(ROOT, "bench/.build");
const RECORDS = join(BUILT, "records");
/** Receipts of one run: a read and two payments behind one approval. */
const PER_RUN = 3;
/** Runs under way at once, so that they share commits. */
const AT_ONCE = 64;

/** Bundles of at least as many receipts as the sizes say, which ascend; made where they are not kept from before. */
export async function recordsOf(sizes: readonly number[]): Promise<readonly Exported[]> {
  const kept = join(RECORDS, writerDigest());
  if (!sizes.every((size) => existsSync(done(kept, size)))) {
    // Of other code, or not whole.
    rmSync(RECORDS, { recursive: true, force: true });
    await make(kept, sizes);
  }
  return sizes.map((size) => ({
    bundle: join(kept, `bundle-${size}`),
    trust: join(kept, "trust.json"),
    exportMs: Number(readFileSync(done(kept, size), "utf8")),
  }));
}

/** Written last. */
function done(directory: string, size: number): string {
  return join(directory, `bundle-${size}.export-ms`);
}

async function make(directory: string, sizes: readonly number[]): Promise<void> {
  mkdirSync(directory, { recursive: true });
  const own = trust();
  writeFileSync(join(directory, "trust.json"), JSON.stringify(own));
  const store = join(directory, "store");
  const host = await createHost(hostOptions(store, bank().tools, { trust: own }));
  const unbound = new Procedure(READ_AND_TWO, { verifier: VERIFIER });
  const recipe = bindRecipe(READ_AND_TWO, host.environment(unbound.plan));
  const procedure = new Procedure(recipe, { verifier: VERIFIER });
  let made = 0;
  for (const size of sizes) {
    const start = performance.now();
    for (; made * PER_RUN < size; made += AT_ONCE) await manyRuns(host, procedure, made);
    const exporting = performance.now();
    await exportRecord(host, join(directory, `bundle-${size}`));
    const end = performance.now();
    writeFileSync(`${done(directory, size)}.new`, String(end - exporting));
    renameSync(`${done(directory, size)}.new`, done(directory, size));
    process.stderr.write(`a record of ${made * PER_RUN} receipts: ${seconds(end - start)} s\n`);
  }
  await host.close();
  rmSync(store, { recursive: true, force: true });
}

async function manyRuns(host: Host, procedure: Procedure, from: number): Promise<void> {
  const environment = host.environment(procedure.plan);
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, at) => {
      const inputs = { account: `account-${from + at}`, amount: "50" };
      const run = procedure.start(inputs, { environment });
      await run.advanceAsync(host);
      const request = run.pendingRequest;
      if (request === null) throw new Error(`nothing to approve: ${run.state}`);
      await run.advanceAsync(host, { approval: decision(request, KEYS.alice, "alice") });
      if (run.state !== "verified") throw new Error(`the run is ${run.state}`);
    }),
  );
}

/** Of all code but the auditor's, which is what changes between two measurements of it. */
function writerDigest(): string {
  const digest = sha256InPortions();
  for (const part of ["src", "bench/audit-record.js", "test/support"]) {
    for (const file of filesIn(join(BUILT, part))) digest.add(readFileSync(file));
  }
  return digest.hex().slice(0, 16);
}

function filesIn(place: string): readonly string[] {
  if (place.endsWith(".js")) return [place];
  return readdirSync(place, { withFileTypes: true })
    .toSorted((left, right) => (left.name < right.name ? -1 : 1))
    .flatMap((entry) => {
      if (entry.isDirectory() && ["audit", "cli"].includes(entry.name)) return [];
      if (!entry.isDirectory() && !entry.name.endsWith(".js")) return [];
      return filesIn(join(place, entry.name));
    });
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
