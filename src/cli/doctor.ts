import { checkHealth } from "../app/health.ts";
import type { Call, Outcome } from "./spec.ts";

/** Says what rote needs from this machine, and whether it is there. */
export async function run(call: Call): Promise<Outcome> {
  const directory = call.arguments[0];
  const checks = await checkHealth(directory === undefined ? {} : { directory });
  const failed = checks.filter((check) => check.status === "fail").length;
  const lines = checks.flatMap(({ name, status, found, todo }) => [
    `${status.padEnd(4)}  ${name.padEnd(12)}  ${found}`,
    ...(todo === null ? [] : [`hint: ${todo}`]),
  ]);
  return {
    exit: failed === 0 ? "verified" : "problem",
    json: { checks: checks.map((check) => ({ ...check })) },
    text: lines.join("\n"),
  };
}
