/**
 * A read, an approval and two effects at a real database. Kill it at any moment and start it again with the same
 * directory: each payment is made once. `npx tsx examples/gate.ts DIRECTORY`
 */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { z } from "zod";
import { bindRecipe, createHost, Procedure } from "../src/index.ts";
import { functionTool } from "../src/tools/functions.ts";
import { notApplied } from "../src/tools/outcome.ts";
import { approved, ownersPart, reviewed } from "./gate/people.ts";

const directory = process.argv[2] ?? mkdtempSync(join(tmpdir(), "rote-gate-"));
mkdirSync(directory, { recursive: true });
const db = new Sqlite(join(directory, "ledger.sqlite"));
for (const table of ["paid", "void"]) db.exec(`CREATE TABLE IF NOT EXISTS ${table} (id, payee)`);
const insert = (table: string, other: string) =>
  db.prepare(`INSERT INTO ${table} SELECT @id, @to WHERE @id NOT IN (SELECT id FROM ${other})`);
const [pay, fence] = [insert("paid", "void"), insert("void", "paid")];
const paid = db.prepare("SELECT payee FROM paid ORDER BY payee").pluck();

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
  run: ({ to }, { operationId: id }) =>
    pay.run({ id, to }).changes > 0 ? to : notApplied("void", "fenced off"),
  // Asked after a crash: what was not done by now is never done.
  probe: ({ to }, { operationId: id }) =>
    fence.run({ id, to }).changes > 0 ? { kind: "absent" } : { kind: "done", result: to },
});

const tools = [reviewed(payments, "read"), reviewed(payTool, "effect")];
const host = await createHost({ ...ownersPart(join(directory, "host")), tools });
const verifier = { version: 1, id: "paid", before_effect: true, result: true };
const recipe = readFileSync(new URL("gate/recipe.json", import.meta.url));
const environment = host.environment(new Procedure(recipe, { verifier }).plan);
const procedure = new Procedure(bindRecipe(recipe, environment), { verifier });
for (let [last] = host.runs(1); last?.state !== "verified"; [last] = host.runs(1)) {
  const inputs = { first: "Ada", second: "Ben" };
  const open = last?.state === null ? last.run : undefined;
  const run = open ? await procedure.resume(host, open) : procedure.start(inputs, { environment });
  while ((await run.advanceAsync(host)) === "awaiting_approval" && run.pendingRequest !== null) {
    await host.fileDecision(approved(run.pendingRequest));
  }
}
assert.deepEqual(paid.all(), ["Ada", "Ben"]);
await host.close();
