import { spawnSync } from "node:child_process";
import { createReadStream, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { auditDirectory, exportRecord } from "../src/app/audit.ts";
import { createHost } from "../src/app/create-host.ts";
import { Procedure } from "../src/app/procedure.ts";
import type { AuditReport } from "../src/audit/index.ts";
import { fromBase64 } from "../src/base/bytes.ts";
import { sha256Hex } from "../src/base/digest.ts";
import { preAuthEncoding } from "../src/base/dsse.ts";
import type { JsonValue } from "../src/base/json.ts";
import { leafHash } from "../src/base/merkle.ts";
import { parseNote } from "../src/base/note.ts";
import { type PublicKey, verify } from "../src/base/sign.ts";
import { bindRecipe } from "../src/compile/index.ts";
import type { Host } from "../src/host/index.ts";
import { READ_AND_TWO } from "../test/support/audit/record.ts";
import { bank, VERIFIER } from "../test/support/gate.ts";
import { decision, hostOptions, KEYS, trust } from "../test/support/host.ts";
import { median, rounded } from "./measure.ts";
import { ROOT } from "./paths.ts";
import type { Row } from "./row.ts";

export const name = "audit";

const SIZES = (process.env["SIZES"] ?? "1000,10000,100000").split(",").map(Number);
const CHILD = join(ROOT, "bench/.build/bench/audit-child.js");
/** Receipts of one run: a read and two payments behind one approval. */
const PER_RUN = 3;
/** Runs under way at once, so that they share commits. */
const AT_ONCE = 64;

/**
 * The audit of a whole exported record beside what no auditor can do without: hashing every entry twice (for its chain
 * and for the tree) and verifying every signature in it. The record is one that real runs at a real host left.
 */
export async function rows(): Promise<readonly Row[]> {
  const root = mkdtempSync(join(tmpdir(), "rote-bench-audit-"));
  try {
    const own = trust();
    const options = hostOptions(join(root, "store"), bank().tools, { trust: own });
    const found: Row[] = [];
    let made = 0;
    for (const size of SIZES) {
      const host = await createHost(options);
      for (; made * PER_RUN < size; made += AT_ONCE) await manyRuns(host, made);
      const bundle = join(root, `bundle-${size}`);
      const start = performance.now();
      await exportRecord(host, bundle);
      const exportMs = performance.now() - start;
      await host.close();
      found.push(...(await measured(bundle, own, exportMs, size < 50_000 ? 3 : 1)));
      rmSync(bundle, { recursive: true, force: true });
    }
    return found;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function manyRuns(host: Host, from: number): Promise<void> {
  const unbound = new Procedure(READ_AND_TWO, { verifier: VERIFIER });
  const recipe = bindRecipe(READ_AND_TWO, host.environment(unbound.plan));
  const procedure = new Procedure(recipe, { verifier: VERIFIER });
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

async function measured(
  bundle: string,
  own: JsonValue,
  exportMs: number,
  rounds: number,
): Promise<readonly Row[]> {
  const taken = { ours: [] as number[], raw: [] as number[] };
  let report: AuditReport | undefined;
  for (let round = 0; round < rounds; round += 1) {
    taken.raw.push(await rawMs(bundle));
    const start = performance.now();
    report = await auditDirectory(bundle, { trust: own });
    taken.ours.push(performance.now() - start);
    if (!report.clean) throw new Error(JSON.stringify(report.findings.slice(0, 3)));
  }
  if (report === undefined) throw new Error("nothing was audited");
  const peak = peakOf(bundle, own);
  const { counts } = report;
  const receipts = counts.receipts.done;
  const [ours, raw] = [median(taken.ours), median(taken.raw)];
  const common = {
    receipts,
    entries: counts.entries,
    signatures: counts.signatures + counts.heads,
    megabytes: rounded(statSync(join(bundle, "journal.jsonl")).size / 1e6),
  };
  return [
    {
      method: "hashes and signatures alone",
      ...common,
      seconds: rounded(raw / 1000),
      receipts_per_second: rounded((receipts * 1000) / raw),
      over_floor: 1,
      export_seconds: null,
      peak_megabytes: null,
    },
    {
      method: "rote",
      ...common,
      seconds: rounded(ours / 1000),
      receipts_per_second: rounded((receipts * 1000) / ours),
      over_floor: rounded(ours / raw),
      export_seconds: rounded(exportMs / 1000),
      peak_megabytes: rounded(peak / 1e6),
    },
  ];
}

/** Of an audit in a process of its own, in bytes. */
function peakOf(bundle: string, own: JsonValue): number {
  const trustFile = `${bundle}.trust.json`;
  writeFileSync(trustFile, JSON.stringify(own));
  const child = spawnSync(process.execPath, [CHILD, bundle, trustFile], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  rmSync(trustFile);
  if (child.status !== 0) throw new Error("the audit in a process of its own failed");
  return Number(child.stdout);
}

interface Signed {
  readonly key: PublicKey;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

/** Portions of the record in memory at once; only what is done with them is timed. */
const PORTION = 1_000;

async function rawMs(bundle: string): Promise<number> {
  let spent = 0;
  const heads = await linesIn(join(bundle, "heads.txt"), Number.POSITIVE_INFINITY, (lines) => {
    const text = lines.join("\n");
    return text.split("\n%").flatMap((note) => headIn(`${note.replace(/^\n/u, "")}\n`));
  });
  spent += timed(() =>
    heads.flat().every(({ key, message, signature }) => verify(key, message, signature)),
  );
  await linesIn(join(bundle, "journal.jsonl"), PORTION, (lines) => {
    const entries = lines.map((line) => Buffer.from(line));
    const signed = lines.flatMap(envelopeIn);
    spent += timed(() => {
      for (const bytes of entries) {
        sha256Hex(bytes);
        leafHash(bytes);
      }
      return signed.every(({ key, message, signature }) => verify(key, message, signature));
    });
  });
  return spent;
}

function timed(work: () => boolean): number {
  const start = performance.now();
  if (!work()) throw new Error("a signature does not verify");
  return performance.now() - start;
}

const SIGNERS = new Map<string, PublicKey>(
  [KEYS.root, KEYS.receipt, KEYS.alice].map(({ publicKey }) => [publicKey.id, publicKey]),
);

/** Found by its text, so that preparing costs little and is no part of the time anyway. */
function envelopeIn(line: string): readonly Signed[] {
  const [, payload, type, keyid, sig] =
    /"payload":"([^"]*)","payloadType":"([^"]*)","signatures":\[\{"keyid":"([^"]*)","sig":"([^"]*)"/u.exec(
      line,
    ) ?? [];
  const key = SIGNERS.get(keyid ?? "");
  if (payload === undefined || type === undefined || sig === undefined || key === undefined)
    return [];
  const message = preAuthEncoding(type, bytesOf(payload));
  return [{ key, message, signature: bytesOf(sig) }];
}

function headIn(text: string): readonly Signed[] {
  const note = parseNote(text);
  if (!note.ok) return [];
  const [first] = note.value.signatures;
  if (first === undefined) return [];
  const message = Buffer.from(note.value.text);
  return [{ key: KEYS.journal.publicKey, message, signature: first.signature }];
}

function bytesOf(text: string): Uint8Array {
  const bytes = fromBase64(text);
  if (bytes === undefined) throw new Error("not base64");
  return bytes;
}

/** Hands on the lines of a file in portions. */
async function linesIn<T>(
  file: string,
  portion: number,
  take: (lines: readonly string[]) => T,
): Promise<readonly T[]> {
  const found: T[] = [];
  let lines: string[] = [];
  let rest = "";
  for await (const chunk of createReadStream(file, { encoding: "utf8" })) {
    const parts = (rest + String(chunk)).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
    if (lines.length < portion) continue;
    found.push(take(lines));
    lines = [];
  }
  if (lines.length > 0) found.push(take(lines));
  return found;
}
