import { it } from "vitest";
import { compileRecipe } from "../../../src/compile/index.ts";
import { Procedure } from "../../../src/app/procedure.ts";
import { EMPTY_ENVIRONMENT } from "../../../src/compile/index.ts";
function time(name: string, f: () => unknown) { const t = process.cpuUsage(); const m = process.memoryUsage().rss; let r: unknown; try { r = f(); } catch (e) { r = String(e).slice(0, 200); } const u = process.cpuUsage(t); console.log(name, Math.round(u.user / 1000), "ms", Math.round((process.memoryUsage().rss - m) / 1e6), "MB", r); }
it("types", () => {
  for (const n of [10, 14, 18, 24]) {
    const types: Record<string, unknown> = { t0: "text" };
    for (let i = 1; i <= n; i += 1) types[`t${i}`] = { record: { x: `t${i - 1}`, y: `t${i - 1}` } };
    time(`types ${n}`, () => { const r = compileRecipe({ version: 1, id: "r", types, inputs: { a: `t${n}` }, terminal: "n", nodes: [{ id: "n", step: { kind: "pure", value: { input: "a" } } }] } as never); return r.ok || r.error.slice(0, 2).map((e) => `${e.code} ${e.message}`); });
  }
});
it("doubling", () => {
  for (const n of [20, 40, 60]) {
    const nodes: unknown[] = [{ id: "n0", step: { kind: "pure", value: { op: "literal", type: { list: "text" }, value: ["a"] } } }];
    for (let i = 1; i <= n; i += 1) nodes.push({ id: `n${i}`, step: { kind: "pure", value: { op: "record", fields: { a: { node: `n${i - 1}` }, b: { node: `n${i - 1}` } } } } });
    const rec = { version: 1, id: "r", inputs: { a: "text" }, terminal: `n${n}`, nodes };
    time(`record doubling ${n}`, () => { const p = new Procedure(rec, { verifier: true as never }); const run = p.start({ a: "x" }, { environment: EMPTY_ENVIRONMENT }); const s = run.advancePure({ environment: EMPTY_ENVIRONMENT }); return [s, run.report.failure?.message, JSON.stringify(run.result ?? null).length]; });
  }
}, 300000);
