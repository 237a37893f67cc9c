import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Measured } from "./audit-child.ts";
import type { Spent } from "./audit-floor.ts";
import { type Exported, recordsOf } from "./audit-record.ts";
import { median, rounded } from "./measure.ts";
import { ROOT } from "./paths.ts";
import type { Row } from "./row.ts";

export const name = "audit";

const SIZES = (process.env["SIZES"] ?? "1000,10000,100000").split(",").map(Number);
const CHILD = join(ROOT, "bench/.build/bench/audit-child.js");

/**
 * The audit of a whole exported record beside what no auditor can do without: hashing every entry twice (for its chain
 * and for the tree) and verifying every signature in it. The record is one that real runs at a real host left.
 */
export async function rows(): Promise<readonly Row[]> {
  const records = await recordsOf(SIZES);
  return records.flatMap((record, at) => rowsOf(record, (SIZES[at] ?? 0) < 50_000 ? 3 : 1));
}

function rowsOf({ bundle, trust, exportMs }: Exported, rounds: number): readonly Row[] {
  const { ours, floor, peakBytes, receipts, entries, signatures } = measure(bundle, trust, rounds);
  const common = {
    receipts,
    entries,
    signatures,
    megabytes: rounded(statSync(join(bundle, "journal.jsonl")).size / 1e6),
  };
  const timed = (method: string, spent: readonly Spent[]) => {
    const wall = median(spent.map((each) => each.wall));
    return {
      method,
      ...common,
      seconds: rounded(wall / 1000),
      cpu_seconds: rounded(median(spent.map(({ cpu }) => cpu)) / 1000),
      receipts_per_second: rounded((receipts * 1000) / wall),
    };
  };
  const over = (of: "wall" | "cpu") =>
    rounded(median(ours.map((spent, round) => spent[of] / (floor[round]?.[of] ?? Number.NaN))));
  return [
    {
      ...timed("hashes and signatures alone", floor),
      over_floor: 1,
      cpu_over_floor: 1,
      export_seconds: null,
      peak_megabytes: null,
    },
    {
      ...timed("rote", ours),
      over_floor: over("wall"),
      cpu_over_floor: over("cpu"),
      export_seconds: rounded(exportMs / 1000),
      peak_megabytes: rounded(peakBytes / 1e6),
    },
  ];
}

/** In a process of its own, so that its peak is the audit's. */
function measure(bundle: string, trust: string, rounds: number): Measured {
  const child = spawnSync(process.execPath, [CHILD, bundle, trust, String(rounds)], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (child.status !== 0) throw new Error("the audit in a process of its own failed");
  return JSON.parse(child.stdout) as Measured;
}
