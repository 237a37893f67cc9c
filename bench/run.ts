/**
 * `npm run bench -- NAME [--json]`: runs `bench/<name>.ts` and prints its rows as a table, or with `--json` as one
 * object {name, machine, rows}. Only that goes to stdout; everything else goes to stderr.
 */
import { parseArgs } from "node:util";
import { machine } from "./machine.ts";
import type { Bench } from "./row.ts";
import { table } from "./table.ts";

export const NAMES = [
  "expressions",
  "compile",
  "runs",
  "memory",
  "durable",
  "audit",
  "resume",
  "kills",
  "start",
  "agent",
] as const;

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  options: { json: { type: "boolean", default: false } },
  allowPositionals: true,
});

const wanted = positionals.length === 1 && positionals[0] === "all" ? NAMES : positionals;
const unknown = wanted.filter((name) => !(NAMES as readonly string[]).includes(name));
if (wanted.length === 0 || unknown.length > 0) {
  const problem = unknown.length > 0 ? `no benchmark is called ${unknown.join(", ")}\n` : "";
  process.stderr.write(
    `${problem}usage: npm run -s bench -- NAME [--json]\n\nnames: ${NAMES.join(", ")}, or all\n`,
  );
  process.exit(2);
}

for (const name of wanted) {
  process.stderr.write(`${name} ..\n`);
  const bench = (await import(new URL(`./${name}.js`, import.meta.url).href)) as Bench;
  const rows = await bench.rows();
  if (values.json) {
    process.stdout.write(`${JSON.stringify({ name: bench.name, machine: machine(), rows })}\n`);
  } else {
    process.stdout.write(`${wanted.length > 1 ? `${bench.name}\n` : ""}${table(rows)}\n`);
  }
}
