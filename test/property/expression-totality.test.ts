import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalText } from "../../src/base/canonical.ts";
import type { JsonValue } from "../../src/base/json.ts";
import {
  checkExpression,
  compileExpression,
  EvaluationFailure,
  parseExpression,
  parseTypes,
  readValue,
  type Scope,
  valueType,
  writeValue,
} from "../../src/expression/index.ts";
import { DIAGNOSTIC_CODES, type Diagnostic } from "../../src/model/diagnostic.ts";
import { EVALUATION_CODES, OPERATOR_NAMES, OPERATORS } from "../../src/model/operators.ts";
import { json, typeOf, valuesOf } from "../support/expressions.ts";
import { PROGRAM_INPUTS, programs } from "../support/random-programs.ts";

const RUNS = Number(process.env["PROPERTY_RUNS"] ?? 300);

const names = Object.keys(PROGRAM_INPUTS);
const scope: Scope = {
  input: (name) => {
    const type = Object.hasOwn(PROGRAM_INPUTS, name) ? PROGRAM_INPUTS[name] : undefined;
    return type === undefined ? undefined : valueType(typeOf(type));
  },
  inputNames: names,
  node: (id) => (id === "failed" ? "failed" : id === "later" ? "not_an_ancestor" : "unknown_node"),
  nodeNames: ["failed", "later"],
  item: { name: "line", type: valueType(typeOf({ record: { n: "integer" } })) },
};

interface Judged {
  readonly problems: readonly Diagnostic[];
  readonly evaluate:
    | ((inputs: Readonly<Record<string, unknown>>) => JsonValue | string)
    | undefined;
  readonly normal: JsonValue | undefined;
}

function judge(source: JsonValue): Judged {
  const problems: Diagnostic[] = [];
  const report = (problem: Diagnostic): void => {
    problems.push(problem);
  };
  const parsed = parseExpression(source, "/at", new Map(), report);
  const typed = parsed && checkExpression(parsed, scope, report);
  if (typed === undefined) return { problems, evaluate: undefined, normal: parsed?.normal };
  const layout = { input: (name: string) => names.indexOf(name), node: () => 0 };
  const compiled = compileExpression(typed, layout, { fuel: 50_000 });
  const evaluate = (inputs: Readonly<Record<string, unknown>>): JsonValue | string => {
    const given = Object.fromEntries(
      names.map((name) => [name, [PROGRAM_INPUTS[name], inputs[name]] as const]),
    );
    const item = readValue(typeOf({ record: { n: "integer" } }), { n: 7 });
    const sources = {
      inputs: valuesOf(given),
      nodes: [],
      item: item.ok ? item.value : null,
      index: 2,
    };
    try {
      return writeValue(compiled.type, compiled.evaluate(sources));
    } catch (error) {
      if (error instanceof EvaluationFailure) {
        expect(EVALUATION_CODES).toContain(error.code);
        expect(error.pointer.startsWith("/at")).toBe(true);
        expect(error.message.length).toBeLessThan(1000);
        return error.code;
      }
      throw error;
    }
  };
  return { problems, evaluate, normal: parsed?.normal };
}

/** JSON that looks like expressions: operators with their own and foreign members, holding anything. */
const { expression: almost } = fc.letrec<{ expression: unknown }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(
      fc.constantFrom<unknown>(null, true, 0, -1, 1.5, "", "a", [], {}),
      fc.constantFrom(...names).map((name) => ({ input: name })),
      fc.constantFrom("line/n", "item", "line/x", "nope").map((item) => ({ item })),
      fc.constantFrom<unknown>(
        { node: "failed/x" },
        { index: "line" },
        "integer",
        { list: "text" },
        { optional: "integer" },
        "floor",
        "/a/b",
        "descending",
      ),
      fc.jsonValue({ maxDepth: 2 }),
    ),
    fc.array(tie("expression"), { maxLength: 3 }),
    fc.constantFrom(...OPERATOR_NAMES).chain((op) =>
      fc
        .record(
          Object.fromEntries(
            [...Object.keys(OPERATORS[op].members), "extra"].map((member) => [
              member,
              tie("expression"),
            ]),
          ),
          {
            requiredKeys: Object.keys(OPERATORS[op].members).filter(
              (name) => OPERATORS[op].members[name]?.required,
            ),
          },
        )
        .map((members) => {
          const { extra, ...rest } = members as Record<string, unknown>;
          return { op, ...(typeof extra === "string" && { extra }), ...rest };
        }),
    ),
  ),
}));

const inputs = programs.map((program) => program.inputs);

describe("checking is total", () => {
  test("any JSON at all is judged, never thrown at", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (source) => {
        const { problems } = judge(json(source));
        for (const { code, pointer } of problems) {
          expect(DIAGNOSTIC_CODES).toContain(code);
          expect(pointer.startsWith("/at")).toBe(true);
        }
        parseTypes(json(source), "/types", () => undefined);
      }),
      { numRuns: RUNS },
    );
  });

  test("what looks like expressions is judged the same each time, and refused with a reason or evaluated to an end", () => {
    let evaluated = 0;
    fc.assert(
      fc.property(almost, inputs, (source, given) => {
        const first = judge(json(source));
        expect(judge(json(source)).problems).toEqual(first.problems);
        if (first.evaluate === undefined) {
          // Only what reads a node that failed by itself may be refused without a word.
          const silent = canonicalText(json(source)).includes('"failed');
          expect(first.problems.length > 0 || silent).toBe(true);
          return;
        }
        expect(first.problems).toEqual([]);
        evaluated += 1;
        const one = first.evaluate(given);
        expect(first.evaluate(given)).toEqual(one);
      }),
      { numRuns: RUNS * 4 },
    );
    expect(evaluated).toBeGreaterThan(RUNS / 10);
  });
});

describe("normal form", () => {
  test("is its own normal form, and means the same as what was written", () => {
    fc.assert(
      fc.property(programs, ({ expression, inputs: given }) => {
        const written = judge(json(expression));
        const normal = written.normal ?? null;
        const again = judge(normal);
        expect(canonicalText(again.normal ?? null)).toBe(canonicalText(normal));
        expect(again.evaluate?.(given)).toEqual(written.evaluate?.(given));
      }),
      { numRuns: RUNS / 2 },
    );
  });

  test("does not see the order of members", () => {
    const reversed = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(reversed);
      if (typeof value !== "object" || value === null) return value;
      const entries = Object.entries(value).reverse();
      return Object.assign(
        Object.create(null),
        ...entries.map(([key, part]) => {
          const made: Record<string, unknown> = Object.create(null);
          made[key] = reversed(part);
          return made;
        }),
      );
    };
    fc.assert(
      fc.property(programs, ({ expression, inputs: given }) => {
        const one = judge(json(expression));
        const other = judge(json(reversed(json(expression))));
        expect(canonicalText(other.normal ?? null)).toBe(canonicalText(one.normal ?? null));
        expect(other.evaluate?.(given)).toEqual(one.evaluate?.(given));
      }),
      { numRuns: RUNS / 2 },
    );
  });
});

describe("reading and writing", () => {
  test("the JSON form of a value reads back as the same value", () => {
    fc.assert(
      fc.property(programs, ({ inputs: given }) => {
        for (const [name, type] of Object.entries(PROGRAM_INPUTS)) {
          const reading = typeOf(type);
          const read = readValue(reading, json(given[name] ?? null));
          if (!read.ok) throw new Error(read.error.message);
          const form = writeValue(valueType(reading), read.value);
          expect(readValue(valueType(reading), form)).toEqual(read);
          expect(writeValue(valueType(reading), read.value)).toEqual(form);
        }
      }),
      { numRuns: RUNS / 4 },
    );
  });

  test("any JSON read as any type is a value or a refusal", () => {
    const types = [
      "integer",
      "text",
      "date",
      "timestamp",
      "json",
      { decimal: 2 },
      ...Object.values(PROGRAM_INPUTS),
    ];
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 4 }),
        fc.constantFrom<unknown>(...types),
        (source, type) => {
          const read = readValue(typeOf(type), json(source));
          if (read.ok) writeValue(valueType(typeOf(type)), read.value);
          else expect(["decode_failed", "unknown_field", "too_large"]).toContain(read.error.code);
        },
      ),
      { numRuns: RUNS },
    );
  });
});
