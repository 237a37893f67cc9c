import { it } from "vitest";
import { compileRecipe, EMPTY_ENVIRONMENT } from "../../../src/compile/index.ts";
import { Procedure } from "../../../src/app/procedure.ts";
function time(name: string, f: () => unknown) { const t = process.cpuUsage(); const m = process.memoryUsage().rss; let r: unknown; try { r = f(); } catch (e) { r = String(e).slice(0, 300); } const u = process.cpuUsage(t); console.log(name, Math.round(u.user / 1000), "ms", Math.round((process.memoryUsage().rss - m) / 1e6), "MB", JSON.stringify(r)); }
const pad = (i: number, l: string) => `${l}${String(i).padStart(8, "0")}${"abcdefghij".repeat(5)}`.slice(0, 60);
it("fields", () => {
  for (const [n, m] of [[200, 200], [400, 200]] as const) {
    const nodes = [{ id: "n", step: { kind: "pure", value: { op: "list", values: Array.from({ length: m }, (_, i) => ({ input: `a/${pad(i, "q")}` })) } } }];
    const record = Object.fromEntries(Array.from({ length: n }, (_, i) => [pad(i, "n"), "text"]));
    const text = JSON.stringify({ version: 1, id: "r", inputs: { a: { record } }, terminal: "n", nodes });
    time(`unknown fields ${n}x${m}`, () => { const r = compileRecipe(text); return r.ok || [r.error.length, r.error[0]?.code]; });
  }
  for (const [n, m] of [[200, 200], [200, 400]] as const) {
    const inputs = Object.fromEntries(Array.from({ length: n }, (_, i) => [pad(i, "n"), "text"]));
    const p = new Procedure({ version: 1, id: "r", environment: EMPTY_ENVIRONMENT, inputs, terminal: "n", nodes: [{ id: "n", step: { kind: "pure", value: { input: pad(0, "n") } } }] } as never, { verifier: true as never });
    const given = Object.fromEntries(Array.from({ length: m }, (_, i) => [pad(i, "q"), "x"]));
    time(`start inputs ${n}x${m}`, () => p.start(given, { environment: EMPTY_ENVIRONMENT }));
    const types = Object.fromEntries(Array.from({ length: n }, (_, i) => [pad(i, "n"), "text"]));
    const inp = Object.fromEntries(Array.from({ length: m }, (_, i) => [pad(i, "i"), pad(i, "q")]));
    time(`types ${n}x${m}`, () => { const r = compileRecipe({ version: 1, id: "r", types, inputs: inp, terminal: "n", nodes: [{ id: "n", step: { kind: "pure", value: { op: "literal", value: true } } }] } as never); return r.ok || [r.error.length, r.error[0]?.code]; });
  }
}, 600000);
