/** A process of `resume.ts`: `resume-child.js floor|rote start|resume DIRECTORY`. Says `paused` or `result`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [, , method = "", phase = "", directory = ""] = process.argv;
await (method === "floor" ? floor() : rote());
process.stdout.write(phase === "start" ? "paused\n" : "result\n");
process.exit(0);

/** Nothing but the rows. */
async function floor(): Promise<void> {
  const { default: Sqlite } = await import("better-sqlite3");
  const database = new Sqlite(join(directory, "floor.sqlite"));
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  database.exec("CREATE TABLE IF NOT EXISTS event (seq INTEGER PRIMARY KEY, body TEXT NOT NULL)");
  const insert = database.prepare("INSERT INTO event (body) VALUES (?)");
  // Five steps; then the approval and five more.
  const rows = phase === "start" ? 5 : 6;
  for (let row = 0; row < rows; row += 1) insert.run(`{"step":${row},"note":"${"-".repeat(70)}"}`);
}

async function rote(): Promise<void> {
  const { begin, goOn } = await import("./resume-rote.ts");
  const read = (name: string) => JSON.parse(readFileSync(join(directory, name), "utf8"));
  await (phase === "start"
    ? begin(directory, read("setting.json"))
    : goOn(directory, read("setting.json"), read("approval.json")));
}
