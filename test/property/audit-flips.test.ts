import { expect, it } from "vitest";
import { someFlips, unseen } from "../support/audit/flips.ts";
import { paidOnce } from "../support/audit/record.ts";

it("no bit of a record of one payment can be changed unseen (500 places by a seed; soaks try every byte)", async () => {
  const recorded = await paidOnce();
  const sizes = [...recorded.files.values()].map(({ byteLength }) => byteLength);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(16_384);
  const flips = someFlips(recorded, 500, 20_260_101);
  expect(new Set(flips.map(({ file }) => file)).size).toBe(recorded.files.size);
  expect(await unseen(recorded, flips)).toEqual([]);
});
