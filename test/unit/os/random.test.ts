import { expect, it } from "vitest";
import { systemRandom } from "../../../src/os/random.ts";

it("gives as many bytes as asked for, never the same ones twice, and never a view of its own store", () => {
  const seen = new Set<string>();
  for (let index = 0; index < 2000; index += 1) {
    const bytes = systemRandom.bytes(16);
    expect(bytes).toHaveLength(16);
    expect(bytes.buffer.byteLength).toBe(16);
    seen.add(Buffer.from(bytes).toString("hex"));
  }
  expect(seen.size).toBe(2000);
  expect(systemRandom.bytes(0)).toHaveLength(0);
  expect(new Set(systemRandom.bytes(10_000)).size).toBe(256);
});
