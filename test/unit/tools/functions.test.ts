import { describe, expect, it } from "vitest";
import { z } from "zod";
import { functionTool } from "../../../src/tools/functions.ts";
import { notApplied, refusal } from "../../../src/tools/outcome.ts";
import { aborted, callOf, json, OPERATION, outcome, short } from "../../support/tool-calls.ts";

const INPUT = z.strictObject({ account: z.string(), amount: z.int() });
const OUTPUT = z.strictObject({ booked: z.int(), memo: z.string().optional() });
const WORDS = { name: "ledger.book", description: "Books an amount" };

function booking(run: Parameters<typeof functionTool<typeof INPUT, typeof OUTPUT>>[0]["run"]) {
  return functionTool({ ...WORDS, input: INPUT, output: OUTPUT, run });
}

describe("a function as a tool", () => {
  it("is defined by its words and both schemas", () => {
    const tool = booking(({ amount }) => ({ booked: amount }));
    expect(tool.definition).toEqual({
      server: "function",
      name: "ledger.book",
      title: null,
      description: "Books an amount",
      input_schema: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        properties: {
          account: { type: "string" },
          amount: {
            type: "integer",
            minimum: Number.MIN_SAFE_INTEGER,
            maximum: Number.MAX_SAFE_INTEGER,
          },
        },
        required: ["account", "amount"],
        additionalProperties: false,
      },
      output_schema: expect.objectContaining({ required: ["booked"] }),
      annotations: {},
      implementation: null,
    });
    expect(Object.isFrozen(tool.definition)).toBe(true);
    expect(Object.isFrozen(tool.definition.input_schema)).toBe(true);
  });

  it("is the function that it was made of, whatever becomes of its options (B016)", async () => {
    const options = { ...WORDS, input: INPUT, output: OUTPUT, run: () => ({ booked: 1 }) };
    const tool = functionTool(options);
    options.run = () => ({ booked: 1000 });
    expect(await short(tool, { account: "7", amount: 5 })).toEqual({ booked: 1 });
  });

  it("gets its arguments, the operation's id and the signal", async () => {
    const seen: unknown[] = [];
    const tool = booking((args, context) => {
      seen.push(args, context.operationId, context.signal.aborted);
      return { booked: args.amount };
    });
    expect(await outcome(tool, { account: "7", amount: 5 })).toEqual({
      kind: "done",
      result: { booked: 5 },
    });
    expect(seen).toEqual([{ account: "7", amount: 5 }, OPERATION, false]);
  });

  it("may answer at once or later, and leave optional members undefined", async () => {
    const later = booking(async ({ amount }) => ({ booked: amount, memo: undefined }));
    expect(await short(later, { account: "7", amount: 5 })).toEqual({ booked: 5 });
  });

  it.each([
    ["a member too few", { account: "7" }],
    ["a member too many", { account: "7", amount: 5, more: 1 }],
    ["another type", { account: 7, amount: 5 }],
    ["no object", [1]],
  ])("refuses arguments with %s, and is not called", async (_, args) => {
    let calls = 0;
    const tool = booking(({ amount }) => {
      calls += 1;
      return { booked: amount };
    });
    expect(tool.fault?.(callOf(args).arguments)).toEqual(expect.any(String));
    expect(await short(tool, args)).toBe("not_applied tool_arguments_invalid");
    expect(calls).toBe(0);
  });

  it.each([
    ["drops members", z.object({ a: z.int() }), { a: 1, b: 2 }],
    ["fills in a default", z.strictObject({ a: z.int().default(1) }), {}],
    ["coerces", z.strictObject({ a: z.coerce.number() }), { a: "1" }],
    ["trims", z.strictObject({ a: z.string().trim() }), { a: " x" }],
    ["loses __proto__", z.record(z.string(), z.int()), JSON.parse('{"a":1,"__proto__":2}')],
  ])("refuses arguments that a schema that %s would change", async (_, input, args) => {
    const tool = functionTool({ ...WORDS, input, output: z.any(), run: () => null });
    expect(tool.fault?.(callOf(args).arguments)).toMatch(/would change|expected/);
    expect(await short(tool, args)).toBe("not_applied tool_arguments_invalid");
  });

  it("cannot change what was frozen through its arguments, nor its answer afterwards", async () => {
    const kept: { list: number[] } = { list: [1] };
    const tool = functionTool({
      ...WORDS,
      input: z.any(),
      output: z.any(),
      run: (args: { list: number[] }) => {
        args.list.push(99);
        return kept;
      },
    });
    const call = callOf({ list: [7] });
    const got = await tool.call(call);
    kept.list.push(2);
    expect(call.arguments).toEqual({ list: [7] });
    expect(got).toEqual({ kind: "done", result: { list: [1] } });
  });

  it.each([
    ["throws", true],
    ["returns", false],
  ])("says that nothing happened when it %s so", async (_, throws) => {
    const say = (word: ReturnType<typeof refusal>) => {
      if (throws) throw word;
      return word;
    };
    const missing = booking(() => say(refusal("not_found", "no such account")));
    expect(await outcome(missing, { account: "7", amount: 5 })).toEqual({
      kind: "refused",
      code: "not_found",
      message: "no such account",
    });
    const closed = booking(() => say(notApplied("closed", "the period is closed")));
    expect(await short(closed, { account: "7", amount: 5 })).toBe("not_applied closed");
  });

  it("is not believed when an exception or a result only looks like such a word", async () => {
    const thrown = booking(() => {
      throw Object.assign(new Error("x"), { outcome: { kind: "not_applied" } });
    });
    expect(await short(thrown, { account: "7", amount: 5 })).toBe("threw function_threw");
    const returned = functionTool({
      ...WORDS,
      input: z.any(),
      output: z.any(),
      run: () => ({ kind: "not_applied", code: "x", message: "y" }),
    });
    expect(await outcome(returned, {})).toMatchObject({ kind: "done" });
  });

  it.each([
    ["does not fit its schema", { booked: "5" }],
    ["is missing", undefined],
    ["has more members", { booked: 5, balance: 7 }],
  ])("leaves open what happened when its result %s", async (_, result) => {
    const tool = booking((() => result) as never);
    expect(await short(tool, { account: "7", amount: 5 })).toBe("threw result_malformed");
  });

  it.each([
    ["a date", new Date(0)],
    ["infinity", Number.POSITIVE_INFINITY],
    ["a lone surrogate", "\ud800"],
    ["a bigint", 1n],
    ["a Map", new Map()],
    ["a hole", new Array(1)],
  ])("leaves open what happened when its result holds %s", async (_, value) => {
    const tool = functionTool({
      ...WORDS,
      input: z.any(),
      output: z.any(),
      run: () => ({ value }),
    });
    expect(await short(tool, {})).toBe("threw result_malformed");
  });

  it("keeps the text of an exception out of its message, and hands it to the application's log", async () => {
    const logged: unknown[] = [];
    const secret = new TypeError("connect postgres://app:hunter22@db");
    const tool = functionTool({
      ...WORDS,
      input: z.any(),
      output: z.any(),
      run: () => {
        throw secret;
      },
      onError: (error, { operationId }) => {
        logged.push(error, operationId);
        throw new Error("hunter22");
      },
    });
    const got = await outcome(tool, {});
    expect(got).toEqual({ threw: "function_threw", message: "ledger.book threw TypeError" });
    expect(logged).toEqual([secret, OPERATION]);
  });

  it("is not called once the call is cancelled", async () => {
    let calls = 0;
    const tool = booking(({ amount }) => {
      calls += 1;
      return { booked: amount };
    });
    const signal = aborted();
    expect(await short(tool, { account: "7", amount: 5 }, { signal })).toBe(
      "not_applied cancelled",
    );
    expect(calls).toBe(0);
  });

  it("is refused where JSON Schema cannot say what it takes", () => {
    const make = (input: z.ZodType) =>
      functionTool({ ...WORDS, input, output: z.any(), run: () => null });
    expect(() => make(z.strictObject({ at: z.date() }))).toThrow(/cannot be written/);
    expect(() => make(z.strictObject({ n: z.string().transform(Number) }))).toThrow(/Transforms/);
    expect(() => make(z.bigint())).toThrow(/BigInt/);
  });

  it("is refused under a name that no recipe can write", () => {
    const named = (name: string) =>
      functionTool({ name, description: "", input: z.any(), output: z.any(), run: () => null });
    expect(() => named("")).toThrow(/no name of a tool/);
    expect(() => named("a b")).toThrow(/no name of a tool/);
  });

  it("refuses all arguments when its schema has an asynchronous check", async () => {
    const input = z.strictObject({ a: z.int().refine(async () => true) });
    const tool = functionTool({ ...WORDS, input, output: z.any(), run: () => null });
    expect(tool.fault?.(json('{"a":1}'))).toMatch(/cannot be checked/);
    expect(await short(tool, { a: 1 })).toBe("not_applied tool_arguments_invalid");
  });

  it("covers its implementation by whatever word the application gives", () => {
    const version = (implementation: string) =>
      functionTool({ ...WORDS, input: z.any(), output: z.any(), run: () => 1, implementation });
    expect(version("v1").definition.implementation).toBe("v1");
    expect(version("v1").definition).not.toEqual(version("v2").definition);
  });
});

describe("a function's probe", () => {
  const probing = (probe: () => never | object) =>
    functionTool({
      ...WORDS,
      input: INPUT,
      output: OUTPUT,
      run: ({ amount }) => ({ booked: amount }),
      probe: probe as never,
    });
  const call = callOf({ account: "7", amount: 5 });

  it("is there only when the target can tell", () => {
    expect(booking(({ amount }) => ({ booked: amount })).probe).toBeUndefined();
  });

  it("tells what became of an operation", async () => {
    const found = probing(() => ({ kind: "done", result: { booked: 5 } }));
    expect(await found.probe?.(call)).toEqual({ kind: "done", result: { booked: 5 } });
    expect(await probing(() => ({ kind: "absent" })).probe?.(call)).toEqual({ kind: "absent" });
  });

  it("says nothing when what it found does not fit the schema", async () => {
    const wrong = probing(() => ({ kind: "done", result: { booked: "5" } }));
    await expect(wrong.probe?.(call)).rejects.toMatchObject({ code: "result_malformed" });
  });
});
