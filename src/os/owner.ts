/**
 * Who this process is, and whether another process of this machine is certainly gone. A lease of a dead owner may be
 * taken at once; where it cannot be told, the lease runs out by itself.
 */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { formatOwner, type OwnerParts, readOwner } from "../base/owner.ts";

/** Machine, boot, process namespace, process id and its start: never the same for two processes. */
export function processOwner(): string {
  const { pid } = process;
  return formatOwner({ ...here(), pid: String(pid), start: startOf(pid) ?? "?" });
}

/** True only when it is certain: the same place, and no such process, or another one under its number. */
export function isOwnerDead(owner: string): boolean {
  const parts = readOwner(owner);
  if (parts === undefined) return false;
  const { machine, boot, space, start } = parts;
  const number = Number(parts.pid);
  const { machine: ours, boot: since, space: inside } = here();
  const known = machine === ours && boot === since && space === inside;
  if (!known || !Number.isSafeInteger(number) || number < 1) return false;
  try {
    process.kill(number, 0);
  } catch (error) {
    // Anything but "no such process" means that there is one, of another user perhaps.
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
  const now = startOf(number);
  return now !== undefined && start !== "?" && now !== start;
}

/** Where a process number means something: containers of one machine count their own, and may have one name. */
function here(): Pick<OwnerParts, "machine" | "boot" | "space"> {
  return { machine: hostname(), boot: bootId(), space: processSpace() };
}

function processSpace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "?";
  }
}

/** Changes at each boot, so that a process number of an earlier one says nothing. */
function bootId(): string {
  return readOr("/proc/sys/kernel/random/boot_id") ?? "?";
}

/** Start time of a process in clock ticks, where the system tells; a zombie counts as gone by its parent's doing. */
function startOf(pid: number): string | undefined {
  const stat = readOr(`/proc/${pid}/stat`);
  // The name in brackets may itself hold spaces and brackets.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields?.[0] === "Z" ? "zombie" : fields?.[19];
}

function readOr(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return undefined;
  }
}
