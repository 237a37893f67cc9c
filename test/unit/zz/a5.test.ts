import { it } from "vitest";
import { compileRecipe } from "../../../src/compile/index.ts";
function time(name: string, f: () => unknown) { const t = process.cpuUsage(); const m = process.memoryUsage().rss; let r: unknown; try { r = f(); } catch (e) { r = String(e).slice(0, 300); } const u = process.cpuUsage(t); console.log(name, Math.round(u.user / 1000), "ms", Math.round((process.memoryUsage().rss - m) / 1e6), "MB", JSON.stringify(r)); }
const pad = (i: number, l: string) => `${l}${String(i).padStart(8, "0")}${"abcdefghij".repeat(5)}`.slice(0, 60);
it("nearest", () => {
  for (const n of [250, 500, 1000, 2000]) {
    const nodes = Array.from({ length: n }, (_, i) => ({ id: pad(i, "n"), step: { kind: "pure", value: { node: pad(i, "q") } } }));
    const text = JSON.stringify({ version: 1, id: "r", inputs: { a: "text" }, terminal: nodes[0]!.id, nodes });
    time(`unknown nodes ${n}`, () => { const r = compileRecipe(text); return r.ok || r.error.length; });
  }
  for (const n of [1000, 4000]) {
    const nodes = Array.from({ length: 1 }, () => ({ id: "n", step: { kind: "pure", value: { op: "list", values: Array.from({ length: n }, (_, i) => ({ input: pad(i, "q") })) } } }));
    const inputs = Object.fromEntries(Array.from({ length: n }, (_, i) => [pad(i, "n"), "text"]));
    const text = JSON.stringify({ version: 1, id: "r", inputs, terminal: "n", nodes });
    time(`unknown inputs ${n}`, () => { const r = compileRecipe(text); return r.ok || [r.error.length, r.error[0]?.code]; });
  }
}, 600000);
