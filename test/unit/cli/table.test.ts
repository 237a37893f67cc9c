import { expect, it } from "vitest";
import { count, table } from "../../../src/cli/table.ts";

it("a table aligns numbers to the right, and texts by characters seen", () => {
  const rows = [
    ["vérifié", 5],
    ["😀", 12],
  ];
  expect(table(["state", "runs"], rows).split("\n")).toEqual([
    "state    runs",
    "-------  ----",
    "vérifié     5",
    "😀          12",
  ]);
});

it("a table without rows is its head", () => {
  expect(table(["state", "runs"], [])).toBe("state  runs\n-----  ----");
});

it("a count is in words", () => {
  expect([count(1, "run"), count(0, "run"), count(2, "entry", "entries")]).toEqual([
    "1 run",
    "0 runs",
    "2 entries",
  ]);
});
