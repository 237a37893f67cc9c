// Loaded first by `bench/start.ts` into the process it measures: writes the peak resident size (KiB) to stream 3.
// The kernel's per-image figure is preferred: the one of getrusage starts from the parent's peak.
const { readFileSync, writeSync } = require("node:fs");

process.on("exit", () => {
  let peak = process.resourceUsage().maxRSS;
  try {
    peak = Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? peak);
  } catch {
    // No /proc on this system.
  }
  writeSync(3, String(peak));
});
