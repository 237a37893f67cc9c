/** What every adapter of the tool port promises, each against a real target that counts. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { admitJson, type JsonValue } from "../../src/base/json.ts";
import { TOOL_PATTERN } from "../../src/model/names.ts";
import { definitionDigest } from "../../src/trust/tool-review.ts";
import { aborted, callOf, outcome } from "../support/tool-calls.ts";
import { ADAPTERS, SECRET, type Subject } from "./tool-adapters.ts";

function frozen(value: JsonValue): JsonValue {
  if (value !== null && typeof value === "object") {
    for (const member of Object.values(value)) frozen(member);
    Object.freeze(value);
  }
  return value;
}

describe.each(ADAPTERS)("tool adapter $name", ({ make, once }) => {
  let root: string;
  let subject: Subject;

  async function open(): Promise<void> {
    root = mkdtempSync(join(tmpdir(), "rote-tools-"));
    // A secret in every path, too.
    const directory = join(root, SECRET);
    mkdirSync(directory);
    subject = await make(directory);
  }
  async function close(): Promise<void> {
    await subject.close();
    rmSync(root, { recursive: true, force: true });
  }
  if (once === true) {
    beforeAll(open);
    afterAll(close);
  } else {
    beforeEach(open);
    afterEach(close);
  }

  it("has one definition for as long as nothing changes, complete and out of reach", async () => {
    const { tool, good } = subject;
    const { definition } = tool;
    const digest = definitionDigest(definition as unknown as JsonValue);
    expect(Object.keys(definition).sort()).toEqual([
      "annotations",
      "description",
      "implementation",
      "input_schema",
      "name",
      "output_schema",
      "server",
      "title",
    ]);
    expect(definition.name).toMatch(TOOL_PATTERN);
    expect(definition.description).not.toBe("");
    expect(Object.isFrozen(definition)).toBe(true);
    expect(Object.isFrozen(definition.input_schema)).toBe(true);
    expect(Object.isFrozen(definition.annotations)).toBe(true);
    expect(JSON.stringify(definition)).not.toContain(SECRET);
    await tool.call(callOf(good));
    expect(definitionDigest(tool.definition as unknown as JsonValue)).toBe(digest);
  });

  it("finds no fault in arguments that it then takes, and reaches the target by the call alone", async () => {
    const { tool, good, entries, reached } = subject;
    const before = entries();
    expect(tool.fault?.(callOf(good).arguments)).toBeNull();
    expect(entries()).toBe(before);
    const got = await outcome(tool, good);
    expect(got).toMatchObject({ kind: "done" });
    if ("kind" in got && got.kind === "done") expect(admitJson(got.result).ok).toBe(true);
    expect(entries() - before).toBe(reached);
  });

  it("finds fault in arguments that it does not take, in few words, and does nothing with them", async () => {
    const { tool, faulty, entries } = subject;
    const before = entries();
    for (const args of faulty) {
      const fault = tool.fault?.(callOf(args).arguments);
      expect(fault).toEqual(expect.any(String));
      expect(String(fault).length).toBeLessThanOrEqual(300);
      expect(await outcome(tool, args)).toEqual({
        kind: "not_applied",
        code: "tool_arguments_invalid",
        message: fault,
      });
    }
    expect(entries()).toBe(before);
  });

  it("leaves its arguments as they are", async () => {
    const { tool, good } = subject;
    const args = frozen(callOf(good).arguments);
    expect(tool.fault?.(args)).toBeNull();
    expect(await tool.call(callOf(good, { arguments: args }))).toMatchObject({ kind: "done" });
    expect(args).toEqual(callOf(good).arguments);
  });

  it("does nothing once the call is cancelled, and says so", async () => {
    const { tool, good, entries } = subject;
    const before = entries();
    expect(await outcome(tool, good, { signal: aborted() })).toEqual({
      kind: "not_applied",
      code: "cancelled",
      message: "cancelled before anything was sent",
    });
    expect(entries()).toBe(before);
  });

  it("breaks in few words, without secrets and paths", async () => {
    const { tool, args } = subject.breaking;
    const got = await outcome(tool, args);
    expect(got).not.toMatchObject({ kind: "done" });
    expect(JSON.stringify(got)).not.toContain(SECRET);
    expect("message" in got ? got.message.length : 0).toBeGreaterThan(0);
    expect("message" in got ? got.message.length : 0).toBeLessThanOrEqual(300);
  });
});
