/**
 * `npm run soak [-- --kills N] [--seed N] [--fresh]`: kills processes until N have died (default 10,000; 0 leaves them
 * alive), then changes every byte of a record and audits what is left, and says so on the way. Interrupted, it goes on
 * where it was when it is started again; `--fresh` begins anew. An effect that is there twice or that the journal does
 * not agree about, or a changed byte that no audit sees, ends it with exit code 1 and what shows it.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { flipEveryByte } from "../test/support/audit/flips.ts";
import { paidOnce } from "../test/support/audit/record.ts";
import { buildChildren } from "../test/support/children.ts";
import { NOTHING, type Tally, tallyOf } from "../test/support/kills/tally.ts";
import { ROOT } from "./stages.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "10000" },
    seed: { type: "string", default: "1000000" },
    fresh: { type: "boolean", default: false },
  },
});
const kills = Number(values.kills);
const seed = Number(values.seed);
if (!Number.isSafeInteger(kills) || !Number.isSafeInteger(seed) || kills < 0) {
  process.stderr.write("usage: npm run soak [-- --kills N] [--seed N] [--fresh]\n");
  process.exit(2);
}

const FOLDER = join(ROOT, ".soak");
const KEPT = join(FOLDER, `kills-${seed}.json`);
if (values.fresh) rmSync(KEPT, { force: true });
mkdirSync(FOLDER, { recursive: true });
const remove = await buildChildren();
const from = existsSync(KEPT) ? (JSON.parse(readFileSync(KEPT, "utf8")) as Tally) : NOTHING;
if (from.cases > 0) say(`going on after ${from.kills} kills, at seed ${seed + from.cases}`);

/** A line on the way this often. */
const TELL_MS = 10_000;
let toldMs = performance.now();
/** One key press may come twice: from the terminal, and passed on by whoever started this. */
const SAME_PRESS_MS = 1_000;
let interrupted = false;
let interruptedMs = 0;
const interrupt = () => {
  const now = performance.now();
  if (!interrupted)
    say("stopping after this case; start again to go on, or press again to stop now");
  else if (now - interruptedMs > SAME_PRESS_MS) process.exit(130);
  else return;
  interrupted = true;
  interruptedMs = now;
};
process.on("SIGINT", interrupt);

const tally = await tallyOf({
  kills,
  seed,
  from,
  stop: () => interrupted,
  progress(now, at, wrong) {
    for (const one of wrong) say(`seed ${at}: ${one}`);
    // Whole or not at all: this process may be killed, too.
    writeFileSync(`${KEPT}.new`, JSON.stringify(now));
    renameSync(`${KEPT}.new`, KEPT);
    if (performance.now() - toldMs >= TELL_MS) {
      toldMs = performance.now();
      say(`${now.kills} of ${kills} kills, seed ${at}, ${now.repeated} repeated, ${now.lost} lost`);
    }
  },
});
remove();
process.off("SIGINT", interrupt);
process.stdout.write(`${JSON.stringify(tally)}\n`);
const unseen = interrupted ? 0 : await unseenFlips();
const wrong = tally.repeated + tally.lost + tally.faults + unseen;
process.exitCode = wrong > 0 ? 1 : interrupted ? 130 : 0;

async function unseenFlips(): Promise<number> {
  const flips = await flipEveryByte(await paidOnce(), (tried, all) => {
    if (tried % 1_000 === 0) say(`${tried} of ${all} bytes changed`);
  });
  for (const { file, byte, bit } of flips.unseen) {
    say(`bit ${bit} of byte ${byte} of ${file}: unseen`);
  }
  process.stdout.write(`${JSON.stringify({ bytes: flips.tried, unseen: flips.unseen.length })}\n`);
  return flips.unseen.length;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
