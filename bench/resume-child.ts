/** A process of `resume.ts`: `resume-child.js floor|rote start|resume DIRECTORY`. Says `paused` or `result`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [, , method = "", phase = "", directory = ""] = process.argv;
await (method === "floor" ? floor() : rote());
process.exit(0);

function say(word: string): void {
  process.stdout.write(`${word}\n`);
}

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
  say(phase === "start" ? "paused" : "result");
}

async function rote(): Promise<void> {
  const { createHost, Procedure, bindRecipe } = await import("../src/index.ts");
  const { decision, hostOptions, KEYS } = await import("../test/support/host.ts");
  const { answerOf, MODELS, publishTool, RECIPE, VERIFIER } = await import("./resume-parts.ts");
  const { trust, review } = JSON.parse(readFileSync(join(directory, "documents.json"), "utf8"));
  const tools = [{ tool: publishTool().tool, review }];
  const host = await createHost(hostOptions(join(directory, "store"), tools, { trust }));
  const unbound = new Procedure(RECIPE, { verifier: VERIFIER });
  const environment = host.environment(unbound.plan);
  const procedure = new Procedure(bindRecipe(RECIPE, environment), { verifier: VERIFIER });
  const [known] = host.runs(1);
  const run =
    known === undefined
      ? procedure.start({}, { environment, models: MODELS })
      : await procedure.resume(host, known.run);
  const request = run.pendingRequest;
  const approval = request === null ? {} : { approval: decision(request, KEYS.alice, "alice") };
  let state = await run.advanceAsync(host, approval);
  for (let step = 0; state === "awaiting_model"; step += 1) {
    state = await run.advanceAsync(host, { model: { answer: answerOf(step) } });
  }
  const wanted = phase === "start" ? "awaiting_approval" : "verified";
  if (state !== wanted) throw new Error(`the run is ${state}, not ${wanted}`);
  say(phase === "start" ? "paused" : "result");
}
