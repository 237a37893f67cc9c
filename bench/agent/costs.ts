/** What a turn costs beside the model, each method in a process of its own, one run of each after the other. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { growthExponent, median, rounded } from "../measure.ts";
import type { Row } from "../row.ts";
import { costScript, spentBy } from "./cost-script.ts";
import type { Method } from "./dramas.ts";
import type { CostScript, Spent } from "./job.ts";
import { start } from "./processes.ts";

const SIZES = [10, 100, 1_000];
/** Runs of each size that count; the first of each size is another one and only warms up. */
const RUNS: Readonly<Record<number, number>> = { 10: 8, 100: 3, 1000: 1 };
/** A run that took longer is measured once. Processor time, as below: who else is at work does not matter. */
const LONG_MS = 4_000;
/** A run that would take longer is ended early, and its row has the turns that it came to. */
const LIMIT_MS = 1_000 * Number(process.env["LIMIT_S"] ?? 12);

/** Turns of the floor that are taken right before and right behind each run: the disk is another one every second. */
const FLOOR_TURNS = 10;

interface Sample extends Spent {
  /** Milliseconds of the floor, per turn. */
  readonly floor: number;
}

interface Subject {
  readonly method: string;
  readonly run: (turns: number) => Promise<Spent>;
  readonly close: () => void;
}

export async function costs(methods: readonly Method[]): Promise<readonly Row[]> {
  const root = mkdtempSync(join(tmpdir(), "rote-bench-agent-"));
  const floor = inserting(join(root, "floor.sqlite"));
  const subjects: readonly Subject[] = [
    ...methods.flatMap((method) => [
      inProcess(method, method.method, join(root, method.method.replace(/\W/g, "-"))),
      inProcess(method, `${method.method}, in memory`, null),
    ]),
    here("minimal loop", minimal),
    floor,
  ];
  try {
    return await measured(subjects, floor);
  } finally {
    for (const { close } of subjects) close();
    rmSync(root, { recursive: true, force: true });
  }
}

async function measured(subjects: readonly Subject[], floor: Subject): Promise<readonly Row[]> {
  const sampled = async ({ run }: Subject, turns: number): Promise<Sample> => {
    const before = await floor.run(FLOOR_TURNS);
    const spent = await run(turns);
    const behind = await floor.run(FLOOR_TURNS);
    return { ...spent, floor: (before.ms + behind.ms) / 2 / FLOOR_TURNS };
  };
  const rows: Row[] = [];
  const costsOf = new Map<string, [number, number][]>(subjects.map(({ method }) => [method, []]));
  for (const turns of SIZES) {
    process.stderr.write(`${turns} turns ..\n`);
    const taken = new Map<string, Sample[]>(subjects.map(({ method }) => [method, []]));
    for (let round = 0; round <= (RUNS[turns] ?? 1); round += 1) {
      for (const subject of subjects) {
        const samples = taken.get(subject.method) ?? [];
        if ((samples[0]?.cpuMs ?? 0) > LONG_MS) continue;
        samples.push(await sampled(subject, turns));
      }
    }
    const counted = (method: string): readonly Sample[] => {
      const spent = taken.get(method) ?? [];
      return spent.length > 1 ? spent.slice(1) : spent;
    };
    const perTurn = (method: string, of: "ms" | "cpuMs"): number =>
      median(counted(method).map((one) => one[of] / one.turns));
    for (const { method } of subjects) {
      const cpu = perTurn(method, "cpuMs");
      const had = median(counted(method).map((one) => one.turns));
      const points = costsOf.get(method) ?? [];
      points.push([had, cpu]);
      rows.push({
        method,
        case: "a turn with one call",
        turns: had,
        ms_per_turn: rounded(perTurn(method, "ms")),
        cpu_ms_per_turn: rounded(cpu),
        of_floor: rounded(median(counted(method).map((one) => (one.floor * one.turns) / one.ms))),
        growth_exponent: turns === SIZES.at(-1) ? rounded(growthExponent(points)) : null,
        reason: had < turns ? `ended at ${had} of ${turns} turns` : null,
      });
    }
  }
  return rows;
}

function inProcess({ program }: Method, method: string, directory: string | null): Subject {
  if (directory !== null) mkdirSync(directory);
  const child = start(program);
  return {
    method,
    async run(turns) {
      const answer = await child.work({ kind: "cost", directory, turns, limitMs: LIMIT_MS });
      if (answer !== "killed" && "spent" in answer) return answer.spent;
      throw new Error(answer !== "killed" && "problem" in answer ? answer.problem : method);
    },
    close: child.close,
  };
}

function here(
  method: string,
  work: (script: CostScript) => Promise<void>,
  close = () => {},
): Subject {
  return {
    method,
    run(turns) {
      const script = costScript(turns);
      return spentBy(
        () => script.begin(LIMIT_MS),
        () => work(script),
      );
    },
    close,
  };
}

async function minimal({ reply }: CostScript): Promise<void> {
  const messages: unknown[] = ["look everything up"];
  for (;;) {
    const said = await Promise.resolve(reply((messages.length - 1) / 2));
    messages.push(said);
    const [call] = said.calls;
    if (call === undefined) return;
    messages.push(await Promise.resolve(JSON.parse(call.arguments)));
  }
}

/** As many commits as a turn of Rote makes: question, reply, admission, receipt. */
function inserting(file: string): Subject {
  const db = new Sqlite(file);
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.exec("CREATE TABLE entries (id INTEGER PRIMARY KEY, body TEXT)");
  const insert = db.prepare("INSERT INTO entries (body) VALUES (?)");
  const body = "x".repeat(600);
  const work = async ({ turns, reply }: CostScript) => {
    for (let turn = 0; turn < turns; turn += 1) {
      reply(turn);
      for (let commit = 0; commit < 4; commit += 1) insert.run(body);
    }
  };
  return here("four synced inserts", work, () => db.close());
}
