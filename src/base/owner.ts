/** How leases name a process: by five parts, which no two processes have in common. */
const SEPARATOR = "|";

export interface OwnerParts {
  readonly machine: string;
  readonly boot: string;
  /** Process namespace. */
  readonly space: string;
  readonly pid: string;
  readonly start: string;
}

export function formatOwner({ machine, boot, space, pid, start }: OwnerParts): string {
  return [machine, boot, space, pid, start].join(SEPARATOR);
}

/** Undefined for an owner that is named in another way. */
export function readOwner(owner: string): OwnerParts | undefined {
  const [machine, boot, space, pid, start, ...more] = owner.split(SEPARATOR);
  if (machine === undefined || boot === undefined || space === undefined) return undefined;
  if (pid === undefined || start === undefined || more.length > 0) return undefined;
  return { machine, boot, space, pid, start };
}

/** As people look for it: `process 4711 on build-3`. */
export function ownerInWords(owner: string): string {
  const parts = readOwner(owner);
  return parts === undefined ? owner : `process ${parts.pid} on ${parts.machine}`;
}
