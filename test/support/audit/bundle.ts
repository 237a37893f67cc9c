/** Bundles in memory, made by real hosts. */
import type { BundleSource, BundleWriter } from "../../../src/ports/bundle.ts";

/** Files of a bundle by name. */
export type Files = ReadonlyMap<string, Uint8Array>;

export function memoryWriter(): {
  readonly files: Map<string, Uint8Array>;
  readonly writer: BundleWriter;
} {
  const files = new Map<string, Uint8Array>();
  const writer: BundleWriter = {
    async append(name, bytes) {
      files.set(name, Buffer.concat([files.get(name) ?? new Uint8Array(0), bytes]));
    },
    async put(name, bytes) {
      files.set(name, Uint8Array.from(bytes));
    },
    async close() {},
  };
  return { files, writer };
}

export function memorySource(files: Files): BundleSource {
  return {
    async *names() {
      yield* files.keys();
    },
    async read(name) {
      const bytes = files.get(name);
      return bytes === undefined ? undefined : portions(bytes);
    },
  };
}

async function* portions(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  // Odd and small, so that lines fall across portions.
  for (let at = 0; at < bytes.byteLength; at += 1_777) yield bytes.subarray(at, at + 1_777);
}
