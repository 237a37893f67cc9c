/**
 * Who this process is, and whether another process of this machine is certainly gone. A lease of a dead owner may be
 * taken at once; where it cannot be told, the lease runs out by itself.
 */
import { readFileSync } from "node:fs";
import { hostname } from "node:os";

const SEPARATOR = "|";

/** Machine, boot, process id and its start: never the same for two processes. */
export function processOwner(): string {
  return [hostname(), bootId(), process.pid, startOf(process.pid) ?? "?"].join(SEPARATOR);
}

/** True only when it is certain: same machine and boot, and no such process, or another one under its number. */
export function isOwnerDead(owner: string): boolean {
  const [machine, boot, pid, start] = owner.split(SEPARATOR);
  const number = Number(pid);
  if (machine !== hostname() || boot !== bootId() || !Number.isSafeInteger(number)) return false;
  try {
    process.kill(number, 0);
  } catch (error) {
    // Anything but "no such process" means that there is one, of another user perhaps.
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
  const now = startOf(number);
  return now !== undefined && start !== "?" && now !== start;
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
