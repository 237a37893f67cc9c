import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file system of its own, small enough to fill. Needs the right to mount. */
export interface SmallDisk {
  readonly directory: string;
  readOnly(): void;
  writable(): void;
  remove(): void;
}

function mount(...options: readonly string[]): boolean {
  return spawnSync("mount", options, { stdio: "ignore" }).status === 0;
}

export function smallDisk(kibibytes: number): SmallDisk | undefined {
  const directory = mkdtempSync(join(tmpdir(), "rote-disk-"));
  const options = `size=${kibibytes}k,mode=0700`;
  if (!mount("-t", "tmpfs", "-o", options, "rote-test", directory)) {
    rmSync(directory, { recursive: true });
    return undefined;
  }
  return {
    directory,
    readOnly: () => {
      if (!mount("-o", "remount,ro", directory)) throw new Error("cannot remount read-only");
    },
    writable: () => {
      if (!mount("-o", "remount,rw", directory)) throw new Error("cannot remount writable");
    },
    remove: () => {
      spawnSync("umount", ["-l", directory]);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Whether tests here may mount at all. */
export function canMount(): boolean {
  const disk = smallDisk(64);
  disk?.remove();
  return disk !== undefined;
}
