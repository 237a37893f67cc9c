import { expect, it } from "vitest";
import {
  EXIT_CODES,
  exitOf,
  type RunStateName,
  STOP_REASONS,
  stateOf,
  TERMINAL_STATES,
} from "../../../src/model/stop.ts";

const exitCodes: readonly [RunStateName, number][] = [
  ["verified", 0],
  ["rejected", 3],
  ["denied", 4],
  ["exhausted", 5],
  ["failed", 6],
  ["uncertain", 7],
  ["cancelled", 130],
  ["ready", 8],
  ["running", 8],
  ["awaiting_model", 8],
  ["awaiting_approval", 8],
];

it.each(exitCodes)("a run that is %s gives the exit code %i (B038)", (state, code) => {
  expect(EXIT_CODES[exitOf(state)].code).toBe(code);
});

it("no two exits share a code, and only success is 0 (B038)", () => {
  const codes = Object.values(EXIT_CODES).map((exit) => exit.code);
  expect(new Set(codes).size).toBe(codes.length);
  expect(codes.filter((code) => code === 0)).toHaveLength(1);
});

it("every stop reason belongs to exactly one state", () => {
  const reasons = TERMINAL_STATES.flatMap((state) => [...STOP_REASONS[state]]);
  expect(new Set(reasons).size).toBe(reasons.length);
  for (const state of TERMINAL_STATES) {
    for (const reason of STOP_REASONS[state]) expect(stateOf(reason)).toBe(state);
  }
});
