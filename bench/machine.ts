import { cpus, totalmem } from "node:os";

/** What the numbers were taken on, so that nobody compares two machines by accident. */
export function machine(): Readonly<Record<string, string | number>> {
  const processors = cpus();
  return {
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    cores: processors.length,
    processor: processors[0]?.model.trim() ?? "unknown",
    memory_gib: Math.round(totalmem() / 2 ** 30),
  };
}
