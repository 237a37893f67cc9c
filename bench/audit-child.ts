/**
 * A process of `audit.ts`: `audit-child.js BUNDLE TRUST ROUNDS`. Audits, and prints what that took as JSON. After every few
 * thousand entries the audit waits while the floor does its part on the same ones, so that a machine that slows down
 * slows both. Of these, the few signatures that the audit has given to other threads by then are verified meanwhile.
 */
import { readFileSync } from "node:fs";
import { auditDirectory } from "../src/app/audit.ts";
import type { AuditReport } from "../src/audit/index.ts";
import type { JsonValue } from "../src/base/json.ts";
import { floorOf, now, type Spent, since, sum } from "./audit-floor.ts";

export interface Measured {
  /** Of each round. */
  readonly ours: readonly Spent[];
  readonly floor: readonly Spent[];
  readonly peakBytes: number;
  readonly receipts: number;
  readonly entries: number;
  readonly signatures: number;
}

const [, , bundle = "", trust = "", rounds = "1"] = process.argv;
const own = JSON.parse(readFileSync(trust, "utf8")) as JsonValue;
/** Entries; a multiple of what the audit reports its progress by. */
const SLICE = 4_096;
const NOTHING = { wall: 0, cpu: 0 };
const ours: Spent[] = [];
const floor: Spent[] = [];
let counts: AuditReport["counts"] | undefined;
for (let round = 0; round < Number(rounds); round += 1) {
  const spent = { ours: NOTHING, floor: NOTHING };
  const beside = floorOf(bundle);
  let start = now();
  const wait = async (entries: number) => {
    spent.ours = sum(spent.ours, since(start));
    spent.floor = sum(spent.floor, await beside.upTo(entries));
    start = now();
  };
  const progress = async (entries: number) => {
    if (entries % SLICE === 0) await wait(entries);
  };
  const report = await auditDirectory(bundle, { trust: own, progress });
  await wait(Number.POSITIVE_INFINITY);
  if (!report.clean) throw new Error(JSON.stringify(report.findings.slice(0, 3)));
  counts = report.counts;
  ours.push(spent.ours);
  floor.push(spent.floor);
}
if (counts === undefined) throw new Error("nothing was audited");
const measured: Measured = {
  ours,
  floor,
  peakBytes: peakKiB() * 1024,
  receipts: counts.receipts.done,
  entries: counts.entries,
  signatures: counts.signatures + counts.heads,
};
process.stdout.write(JSON.stringify(measured));

/** The kernel's figure for this image, where there is one: that of getrusage starts from the parent's peak. */
function peakKiB(): number {
  try {
    const status = readFileSync("/proc/self/status", "utf8");
    return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]);
  } catch {
    return process.resourceUsage().maxRSS;
  }
}
