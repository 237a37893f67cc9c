import { it } from "vitest";
import { Procedure } from "../../../src/app/procedure.ts";
import { EMPTY_ENVIRONMENT } from "../../../src/compile/index.ts";
function time(name: string, f: () => unknown) { const t = process.cpuUsage(); const m = process.memoryUsage().rss; let r: unknown; try { r = f(); } catch (e) { r = String(e).slice(0, 300); } const u = process.cpuUsage(t); console.log(name, Math.round(u.user / 1000), "ms", Math.round((process.memoryUsage().rss - m) / 1e6), "MB", JSON.stringify(r)); }
const run = (value: unknown, verifier: unknown = true) => { const p = new Procedure({ version: 1, id: "r", environment: EMPTY_ENVIRONMENT, inputs: { a: "text" }, terminal: "n", nodes: [{ id: "n", step: { kind: "pure", value } }] } as never, { verifier: verifier as never }); const r = p.start({ a: "x" }, { environment: EMPTY_ENVIRONMENT }); const s = r.advancePure({ environment: EMPTY_ENVIRONMENT }); return [s, r.report.failure?.code, r.report.failure?.message]; };
const total = { item: "total" };
const range = (count: string) => ({ op: "range", from: { op: "literal", type: "integer", value: "0" }, count: { op: "literal", type: "integer", value: count } });
const fold = (n: string, from: unknown, value: unknown) => ({ op: "fold", list: range(n), from, value });
const json = { op: "to_json", value: { op: "literal", type: "text", value: "aaaa" } };
it("folds", () => {
  for (const n of ["10", "20", "24", "30", "60"]) {
    time(`json doubling ${n}`, () => run(fold(n, json, { op: "to_json", value: { op: "list", values: [total, total] } })));
    time(`json doubling digest ${n}`, () => run({ op: "digest", value: fold(n, json, { op: "to_json", value: { op: "list", values: [total, total] } }) }));
    time(`json doubling equal ${n}`, () => run({ op: "let", name: "q", value: fold(n, json, { op: "to_json", value: { op: "list", values: [total, total] } }), in: { op: "equal", left: { item: "q" }, right: { op: "to_json", value: { op: "list", values: [{ item: "q" }] } } } }));
    time(`text doubling ${n}`, () => run(fold(n, { op: "literal", type: "text", value: "aaaa" }, { op: "concat", values: [total, total] })));
    time(`square ${n}`, () => run(fold(n, { op: "literal", type: "integer", value: "3" }, { op: "multiply", left: total, right: total })));
    time(`flatten ${n}`, () => run(fold(n, { op: "literal", type: { list: "integer" }, value: ["3"] }, { op: "flatten", list: { op: "list", values: [total, total] } })));
    time(`power ${n}`, () => run({ op: "power", base: { op: "literal", type: "integer", value: "99999999999999999999" }, exponent: { op: "literal", type: "integer", value: `9${"0".repeat(Number(n))}` } }));
  }
  time("range", () => run(range("1000000000")));
  time("cross", () => run({ op: "count", list: { op: "map", list: range("100000"), value: { op: "map", list: range("100000"), as: "z", value: { item: "z" } } } }));
  time("split", () => run({ op: "count", list: { op: "split", value: fold("20", { op: "literal", type: "text", value: "a" }, { op: "concat", values: [total, total] }), separator: { op: "literal", type: "text", value: "a" } } }));
  time("contains", () => run({ op: "contains", in: fold("19", { op: "literal", type: "text", value: "a" }, { op: "concat", values: [total, total] }), value: { op: "concat", values: [fold("18", { op: "literal", type: "text", value: "a" }, { op: "concat", values: [total, total] }), { op: "literal", type: "text", value: "b" }] } }));
}, 600000);
