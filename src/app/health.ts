/**
 * What Rote needs from the machine, looked at one by one: nothing is assumed from the platform's name, each thing is
 * tried. Trying leaves nothing behind.
 */
import {
  accessSync,
  constants,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { RoteError } from "../base/error.ts";
import { quoted } from "../base/quoted.ts";
import { systemClock } from "../os/clock.ts";
import type { Clock } from "../ports/clock.ts";
import { ProcedureMemory } from "./procedure-memory.ts";

export const HEALTH_STATUSES = ["ok", "warn", "fail"] as const;
export type HealthStatus = (typeof HEALTH_STATUSES)[number];

export interface HealthCheck {
  readonly name: string;
  readonly status: HealthStatus;
  /** What was found. */
  readonly found: string;
  /** What to do about it; null when all is well. */
  readonly todo: string | null;
}

export interface HealthOptions {
  /** A memory directory to look at; without one only the machine is looked at. */
  readonly directory?: string;
  /** Default: the machine's clocks. */
  readonly clock?: Clock;
}

const LEAST_NODE = [20, 19] as const;
const FEW_BYTES = 1_073_741_824;
const TOO_FEW_BYTES = 67_108_864;
/** Wall clocks outside these years are wrong: 2025-01-01 and 2100-01-01. */
const EARLIEST_MS = 1_735_689_600_000;
const LATEST_MS = 4_102_444_800_000;
const MOST_SKEW_MS = 10_000;

/** All checks, in the order in which they matter. Never throws. */
export async function checkHealth(options: HealthOptions = {}): Promise<readonly HealthCheck[]> {
  const { directory, clock = systemClock } = options;
  const place = directory === undefined ? tmpdir() : path.dirname(path.resolve(directory));
  const native = await nativeModule();
  const checks = [nodeVersion(process.versions.node), native];
  if (native.status !== "fail") checks.push(await trialMemory(place));
  checks.push(diskSpace(place), wallClock(clock, place), drawing());
  if (directory !== undefined) checks.push(...(await memoryDirectory(directory)));
  return checks;
}

export function nodeVersion(version: string): HealthCheck {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const enough = major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1]);
  if (enough) return ok("node", `Node ${version}`);
  return fail("node", `Node ${version}`, `install Node ${LEAST_NODE.join(".")} or newer`);
}

async function nativeModule(): Promise<HealthCheck> {
  const name = "sqlite";
  try {
    const { sqliteVersion } = await import("../store/sqlite/version.ts");
    return ok(name, `SQLite ${sqliteVersion()}, native module loaded`);
  } catch (error) {
    const [line = ""] = messageOf(error).split("\n");
    const todo = "npm rebuild better-sqlite3 with this Node; it may need a C++ compiler";
    return fail(name, `the native module does not load: ${line}`, todo);
  }
}

/** Makes a memory, opens it again (which reads the durability settings back) and looks at the modes it got. */
async function trialMemory(place: string): Promise<HealthCheck> {
  const name = "durability";
  let trial: string | undefined;
  try {
    trial = mkdtempSync(path.join(place, ".rote-doctor-"));
    const directory = path.join(trial, "memory");
    await (await ProcedureMemory.create(directory)).close();
    await (await ProcedureMemory.open(directory)).close();
    const open = openToOthers(directory);
    if (open.length === 0) {
      return ok(name, `synchronous = FULL read back, files private, in ${place}`);
    }
    const found = `${place} does not keep file modes: ${open.join(", ")}`;
    return fail(name, found, "keep memories on a file system with Unix permissions");
  } catch (error) {
    const todo = hintOf(error) ?? `make ${place} writable, or name a memory elsewhere`;
    return fail(name, `no memory can be made in ${place}: ${messageOf(error)}`, todo);
  } finally {
    if (trial !== undefined) rmSync(trial, { recursive: true, force: true });
  }
}

/** Files and directory that anybody but their owner may open, with their modes. */
function openToOthers(directory: string): readonly string[] {
  if (process.platform === "win32") return [];
  const places = [directory, ...readdirSync(directory).map((file) => path.join(directory, file))];
  return places.flatMap((place) => {
    // A file that was listed may be gone by now, as the log of writes goes with the last process that uses it.
    const mode = (statSync(place, { throwIfNoEntry: false })?.mode ?? 0) & 0o777;
    return (mode & 0o077) === 0 ? [] : [`${place} has mode ${mode.toString(8).padStart(4, "0")}`];
  });
}

function diskSpace(place: string): HealthCheck {
  const name = "disk";
  let free: number;
  try {
    const { bavail, bsize } = statfsSync(place);
    free = bavail * bsize;
  } catch (error) {
    return warn(name, `free space of ${place} is not known: ${messageOf(error)}`, "look yourself");
  }
  const found = `${Math.floor(free / 1_048_576)} MiB free at ${place}`;
  if (free < TOO_FEW_BYTES) return fail(name, found, "free some space: writes will fail");
  if (free < FEW_BYTES) return warn(name, found, "free some space before it runs out");
  return ok(name, found);
}

export function wallClock(clock: Clock, place: string): HealthCheck {
  const name = "clock";
  const now = clock.wallMs();
  const shown = new Date(now).toISOString();
  if (now < EARLIEST_MS || now > LATEST_MS) {
    return fail(name, `the clock says ${shown}`, "set the clock: stamps would be wrong");
  }
  const earlier = clock.monotonicMs();
  if (clock.monotonicMs() < earlier) {
    return fail(name, "the monotonic clock went back", "run limits need a working clock");
  }
  const skew = fileSkew(clock, place);
  if (skew !== null && Math.abs(skew) > MOST_SKEW_MS) {
    const found = `${place} stamps files ${Math.round(skew / 1000)} s off the clock ${shown}`;
    return warn(name, found, "synchronise the clocks of this machine and its file server");
  }
  return ok(name, shown);
}

/** How far the file system's clock is ahead, or null where nothing can be written. */
function fileSkew(clock: Clock, place: string): number | null {
  try {
    const trial = mkdtempSync(path.join(place, ".rote-doctor-"));
    try {
      const file = path.join(trial, "stamp");
      writeFileSync(file, "");
      return statSync(file).mtimeMs - clock.wallMs();
    } finally {
      rmSync(trial, { recursive: true, force: true });
    }
  } catch {
    return null;
  }
}

function drawing(): HealthCheck {
  const name = "drawing";
  try {
    createRequire(import.meta.url).resolve("@viz-js/viz");
    return ok(name, "@viz-js/viz is installed");
  } catch {
    return warn(name, "@viz-js/viz is not installed", "npm install @viz-js/viz@3.31.0 to draw SVG");
  }
}

async function memoryDirectory(directory: string): Promise<readonly HealthCheck[]> {
  const modes = memoryModes(directory);
  if (modes.status === "fail") return [modes];
  const name = "memory";
  try {
    const memory = await ProcedureMemory.open(directory);
    try {
      const procedures = await memory.list();
      const qualified = procedures.filter((one) => one.qualification !== null).length;
      const found = `${directory} opens; procedures ${procedures.length}, qualified ${qualified}`;
      return [modes, ok(name, found)];
    } finally {
      await memory.close();
    }
  } catch (error) {
    const todo = hintOf(error) ?? "name the directory of a memory that rote made";
    return [modes, fail(name, messageOf(error), todo)];
  }
}

function memoryModes(directory: string): HealthCheck {
  const name = "memory files";
  try {
    accessSync(directory, constants.R_OK | constants.X_OK);
    const open = openToOthers(directory);
    if (open.length === 0) return ok(name, `${directory} and its files are private`);
    return fail(name, open.join(", "), `chmod -R go= ${quoted(directory)}`);
  } catch (error) {
    return fail(name, messageOf(error), "name a directory that exists and that you own");
  }
}

const ok = (name: string, found: string): HealthCheck => ({
  name,
  status: "ok",
  found,
  todo: null,
});
const warn = (name: string, found: string, todo: string): HealthCheck => ({
  name,
  status: "warn",
  found,
  todo,
});
const fail = (name: string, found: string, todo: string): HealthCheck => ({
  name,
  status: "fail",
  found,
  todo,
});

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function hintOf(error: unknown): string | null {
  const hint = error instanceof RoteError ? error.data["hint"] : undefined;
  return typeof hint === "string" ? hint : null;
}
