/** A process of `audit.ts`: `audit-child.js BUNDLE TRUST`. Audits, and prints the peak of its memory in bytes. */
import { readFileSync } from "node:fs";
import { auditDirectory } from "../src/app/audit.ts";
import type { JsonValue } from "../src/base/json.ts";

const [, , bundle = "", trust = ""] = process.argv;
const own = JSON.parse(readFileSync(trust, "utf8")) as JsonValue;
const { clean } = await auditDirectory(bundle, { trust: own });
if (!clean) throw new Error("the record is not clean");
process.stdout.write(`${peakKiB() * 1024}\n`);

/** The kernel's figure for this image, where there is one: that of getrusage starts from the parent's peak. */
function peakKiB(): number {
  try {
    const status = readFileSync("/proc/self/status", "utf8");
    return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]);
  } catch {
    return process.resourceUsage().maxRSS;
  }
}
