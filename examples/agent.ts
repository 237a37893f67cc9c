/**
 * An agent that pays somebody, with a model out of a script. Kill it at any moment, in the middle of the payment too, and
 * start it again with the same directory: it goes on, and nobody is paid twice. In the end it says why it stopped, goes
 * through its record once more without model or tools, and leaves a transcript. `npx tsx examples/agent.ts DIRECTORY`
 */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import { z } from "zod";
import { AgentRuntime, scriptedAgent } from "../src/app/agent.ts";
import { createHost } from "../src/index.ts";
import { functionTool } from "../src/tools/functions.ts";
import { notApplied } from "../src/tools/outcome.ts";
import { approved, ownersPart, reviewed } from "./gate/people.ts";

const directory = process.argv[2] ?? mkdtempSync(join(tmpdir(), "rote-agent-"));
/** Milliseconds that a payment takes: time enough to kill it. */
const slowness = Number(process.argv[3] ?? 0);
mkdirSync(directory, { recursive: true });
const db = new Sqlite(join(directory, "ledger.sqlite"));
for (const table of ["paid", "void"]) db.exec(`CREATE TABLE IF NOT EXISTS ${table} (id, payee)`);
const insert = (table: string, other: string) =>
  db.prepare(`INSERT INTO ${table} SELECT @id, @to WHERE @id NOT IN (SELECT id FROM ${other})`);
const [pay, fence] = [insert("paid", "void"), insert("void", "paid")];
const paid = db.prepare("SELECT payee FROM paid").pluck();

const payments = functionTool({
  name: "ledger.payments",
  description: "Everybody who was paid",
  input: z.strictObject({}),
  output: z.array(z.string()),
  run: () => paid.all() as string[],
});
const payTool = functionTool({
  name: "ledger.pay",
  description: "Pays somebody",
  input: z.strictObject({ to: z.string() }),
  output: z.string(),
  run: async ({ to }, { operationId: id }) => {
    await sleep(slowness / 2);
    const done = pay.run({ id, to }).changes > 0 ? to : notApplied("void", "fenced off");
    await sleep(slowness / 2);
    return done;
  },
  // Asked after a crash: what was not done by now is never done under this operation.
  probe: ({ to }, { operationId: id }) =>
    fence.run({ id, to }).changes > 0 ? { kind: "absent" } : { kind: "done", result: to },
});

/** What a model would say. It is read off whatever happens, so it claims nothing of which only the ledger can tell. */
const script = `
{"say": "I look who was paid.", "calls": [{"name": "ledger.payments", "arguments": {}}]}
{"calls": [{"name": "ledger.pay", "arguments": {"to": "Ada"}}]}
{"calls": [{"name": "ledger.payments", "arguments": {}}]}
{"say": "I asked for one payment to Ada."}
`;

const tools = [reviewed(payments, "read"), reviewed(payTool, "effect")];
const host = await createHost({ ...ownersPart(join(directory, "host")), tools });
const runtime = new AgentRuntime({ host, model: scriptedAgent(script, "ada.jsonl") });
const [last] = runtime.list(1);
let result = last
  ? await runtime.resume(last.run)
  : await runtime.run("Pay Ada, if nobody has", { onStart: (run) => console.log(`run ${run}`) });
while (result.state === "approval_pending") {
  for (const request of result.requests) await host.fileDecision(approved(request));
  result = await runtime.resume(result.run);
}
console.log(`${result.state} (${result.reason}): ${result.output ?? result.message}`);
for (const { time, event, what } of runtime.inspect(result.run).events) {
  console.log(new Date(time).toISOString(), event.padEnd(10), what);
}
console.log(`in the ledger: ${paid.all().join(", ") || "nobody was paid"}`);
const { report, replies, results } = runtime.replay(result.run);
console.log(
  `replayed to ${report.reason} from ${replies} replies and ${results} results on record`,
);
const transcript = join(directory, "transcript.jsonl");
writeFileSync(transcript, `${JSON.stringify(runtime.export(result.run))}\n`);
console.log(`transcript in ${transcript}`);
assert.ok(paid.all().length <= 1);
assert.equal(report.reason, result.reason);
await host.close();
