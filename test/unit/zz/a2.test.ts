import { expect, it } from "vitest";
import { isDateFormat, numberText } from "../../../src/tools/spreadsheet-numbers.ts";
import { readXml } from "../../../src/tools/spreadsheet-xml.ts";
function time(name: string, f: () => unknown) { const t = process.cpuUsage(); try { f(); } catch (e) { console.log(String(e)); } const u = process.cpuUsage(t); console.log(name, Math.round(u.user / 1000), "ms"); }
it("x", () => {
  for (const n of [20000, 40000, 80000]) {
    time(`fmt ${n}`, () => isDateFormat(200, "[".repeat(n)));
    time(`num ${n}`, () => numberText("1" + "0".repeat(n) + ".1"));
  }
  for (const n of [100000, 200000]) {
    const ns = "n".repeat(n);
    const xml = `<worksheet xmlns="x"><a xmlns:p="${ns}">${"<p:b/>".repeat(n / 20)}</a></worksheet>`;
    time(`xml ${n}`, () => readXml(Buffer.from(xml), {}));
  }
}, 600000);
