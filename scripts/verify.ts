/**
 * `tsx scripts/verify.ts check|verify`.
 *
 * `check` is the fast loop beside an editor. `verify` is what CI runs: every static check, then the tests, then what
 * the tests leave out, each once. A failure lets the rest run, so that one run tells everything; the last line counts
 * tests and stages together, and the exit code is 0 only when nothing failed and at least one test ran.
 */
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Outcome, ROOT, runStages, type Stage } from "./stages.ts";

const REPORTS = join(ROOT, ".verify");

/** A stage of tests, counted one by one. */
function tests(script: string): Stage {
  const file = `--outputFile.json=${reportOf(script)}`;
  // Minimal: what failed, and a summary.
  return { script, arguments: ["--reporter=minimal", "--reporter=json", file], alone: true };
}

function reportOf(script: string): string {
  return join(REPORTS, `${script.replace(":", "-")}.json`);
}

const TESTS = ["test", "test:quick", "crash"];

const STATIC: readonly Stage[] = [
  { script: "types" },
  { script: "lint:typed" },
  { script: "lint" },
];

const PLANS: Readonly<Record<string, readonly Stage[]>> = {
  check: [
    ...STATIC,
    { script: "layers" },
    { script: "generate", arguments: ["--check"] },
    tests("test:quick"),
  ],
  // Layers and generated files are looked at by the pins, which are among the tests.
  verify: [
    { script: "build" },
    ...STATIC,
    { script: "dead" },
    // What was built is what is packed: without this, packing would build again.
    { script: "exports", after: ["build"], environment: { npm_config_ignore_scripts: "true" } },
    { script: "package", after: ["build"] },
    { script: "examples" },
    tests("test"),
    tests("crash"),
  ],
};

interface TestReport {
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly testResults: readonly { readonly status: string; readonly name: string }[];
}

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Counts of one vitest report. A file that could not even be loaded has no failed test in it and counts as one. */
function testCounts({ script, state }: Outcome): Counts {
  let report: TestReport;
  try {
    report = JSON.parse(readFileSync(reportOf(script), "utf8")) as TestReport;
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const files = report.testResults.filter((file) => file.status === "failed").length;
  const red = report.success ? report.numFailedTests : Math.max(1, files, report.numFailedTests);
  // The runner may fail without a failed test (an unhandled rejection, a type test), and that counts as one.
  const failed = state === "passed" ? red : Math.max(1, red);
  return { passed: report.numPassedTests, failed, skipped: report.numPendingTests };
}

function say(outcome: Outcome): void {
  const time = `${outcome.seconds.toFixed(1)} s`;
  process.stdout.write(`${outcome.state.padEnd(8)} ${outcome.script.padEnd(12)} ${time}\n`);
  if (outcome.state === "failed" || TESTS.includes(outcome.script)) {
    process.stdout.write(`${outcome.output.trimEnd()}\n`);
  }
}

const plan = PLANS[process.argv[2] ?? ""];
if (plan === undefined) {
  process.stderr.write(`usage: verify.ts ${Object.keys(PLANS).join("|")}\n`);
  process.exit(2);
}
rmSync(REPORTS, { recursive: true, force: true });
mkdirSync(REPORTS, { recursive: true });
const outcomes = await runStages(plan, { width: 2, report: say });
const counts = outcomes.filter(({ script }) => TESTS.includes(script)).map(testCounts);
const sum = (of: keyof Counts) => counts.reduce((total, one) => total + one[of], 0);
const stages = outcomes.filter(({ script }) => !TESTS.includes(script));
const passed = sum("passed") + stages.filter(({ state }) => state === "passed").length;
const failed = sum("failed") + stages.filter(({ state }) => state !== "passed").length;
const red = outcomes.filter(({ state }) => state !== "passed").map(({ script }) => script);
if (red.length > 0) process.stdout.write(`not passed: ${red.join(", ")}\n`);
const skipped = sum("skipped") > 0 ? `, ${sum("skipped")} skipped` : "";
process.stdout.write(`${passed} passed, ${failed} failed${skipped}\n`);
process.exitCode = failed > 0 || sum("passed") === 0 ? 1 : 0;
