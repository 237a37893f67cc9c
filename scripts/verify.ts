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

const TEST_REPORT = join(ROOT, ".verify/tests.json");
const REPORTERS = ["--reporter=default", "--reporter=json", `--outputFile.json=${TEST_REPORT}`];

const STATIC: readonly Stage[] = [
  { script: "types" },
  { script: "lint" },
  { script: "lint:typed" },
  { script: "layers" },
  { script: "generate", arguments: ["--check"] },
];

const PLANS: Readonly<Record<string, readonly Stage[]>> = {
  check: [
    ...STATIC,
    {
      script: "test",
      arguments: [...REPORTERS, "--project=unit", "--project=golden", "--project=types"],
      alone: true,
    },
  ],
  verify: [
    { script: "build" },
    ...STATIC,
    { script: "dead" },
    { script: "exports", after: ["build"] },
    { script: "test", arguments: REPORTERS, alone: true },
    // Checking the exports packs, and packing builds anew: nothing else may read the build meanwhile.
    { script: "package", after: ["exports"] },
    { script: "examples", after: ["exports"] },
  ],
};

interface TestReport {
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly testResults: readonly { readonly status: string; readonly name: string }[];
}

/** Counts of one vitest report. A file that could not even be loaded has no failed test in it and counts as one. */
function testCounts(): {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
} {
  let report: TestReport;
  try {
    report = JSON.parse(readFileSync(TEST_REPORT, "utf8")) as TestReport;
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const files = report.testResults.filter(({ status }) => status === "failed").length;
  const failed = report.success ? report.numFailedTests : Math.max(1, files, report.numFailedTests);
  return { passed: report.numPassedTests, failed, skipped: report.numPendingTests };
}

function say(outcome: Outcome): void {
  const time = `${outcome.seconds.toFixed(1)} s`;
  process.stdout.write(`${outcome.state.padEnd(8)} ${outcome.script.padEnd(12)} ${time}\n`);
  if (outcome.state === "failed" || outcome.script === "test") {
    process.stdout.write(`${outcome.output.trimEnd()}\n`);
  }
}

const plan = PLANS[process.argv[2] ?? ""];
if (plan === undefined) {
  process.stderr.write(`usage: verify.ts ${Object.keys(PLANS).join("|")}\n`);
  process.exit(2);
}
rmSync(TEST_REPORT, { force: true });
mkdirSync(join(ROOT, ".verify"), { recursive: true });
const outcomes = await runStages(plan, { width: 2, report: say });
const tests = testCounts();
const stages = outcomes.filter(({ script }) => script !== "test");
const passed = tests.passed + stages.filter(({ state }) => state === "passed").length;
const broken = stages.filter(({ state }) => state !== "passed").length;
// The runner may fail without a failed test (an unhandled rejection, a type test), and that counts as one.
const runner = outcomes.some(({ script, state }) => script === "test" && state !== "passed");
const failed = broken + (runner ? Math.max(1, tests.failed) : tests.failed);
const red = outcomes.filter(({ state }) => state !== "passed").map(({ script }) => script);
if (red.length > 0) process.stdout.write(`not passed: ${red.join(", ")}\n`);
const skipped = tests.skipped > 0 ? `, ${tests.skipped} skipped` : "";
process.stdout.write(`${passed} passed, ${failed} failed${skipped}\n`);
process.exitCode = failed > 0 || tests.passed === 0 ? 1 : 0;
