import { expect, it } from "vitest";
import { formatOwner, ownerInWords, readOwner } from "../../../src/base/owner.ts";

const PARTS = { machine: "build-3", boot: "e587", space: "pid:[402]", pid: "4711", start: "26" };

it("a process is told to people by its number and machine, and any other name as it is", () => {
  expect(ownerInWords(formatOwner(PARTS))).toBe("process 4711 on build-3");
  expect(ownerInWords("worker-2")).toBe("worker-2");
});

it("a name reads back as it was written, and what has other parts is none", () => {
  expect(readOwner(formatOwner(PARTS))).toEqual(PARTS);
  expect(readOwner("build-3|e587|pid:[402]|4711")).toBeUndefined();
  expect(readOwner(`${formatOwner(PARTS)}|more`)).toBeUndefined();
});
