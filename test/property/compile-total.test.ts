import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { admitJson, type JsonValue, readJson } from "../../src/base/json.ts";
import { compileRecipe, compileVerifier, formatDiagnostics } from "../../src/compile/index.ts";
import { isPlainNode } from "../../src/compile/plain-node.ts";
import { DIAGNOSTIC_CODES } from "../../src/model/diagnostic.ts";
import { nodeSchema } from "../../src/model/recipe.ts";
import { planOf, pure, recipe } from "../support/compiling.ts";
import { draft, written } from "../support/recipe-arbitrary.ts";

const CODES: ReadonlySet<string> = new Set(DIAGNOSTIC_CODES);
const PLAN = planOf(recipe([pure("a", 1)]));

/** JSON that looks like a recipe here and there. */
const almost = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 6 },
    fc.constantFrom("a", "b", "pure", "verify", "effect", "approval", "add", "integer", "", "x/y"),
    fc.constantFrom<unknown>(null, true, 0, 1, 1.5, -1, undefined, Number.NaN, "\ud800"),
    fc.array(tie("json"), { maxLength: 4 }),
    fc.dictionary(
      fc.constantFrom(
        ...["version", "id", "nodes", "inputs", "types", "terminal", "step", "kind", "value", "op"],
        ...["left", "right", "after", "when", "each", "list", "limit", "output", "effects", "node"],
        ...["input", "condition", "tool", "arguments", "record", "optional", "__proto__", "result"],
      ),
      tie("json"),
      { maxKeys: 6 },
    ),
  ),
})).json;

describe("a first look at a node", () => {
  it("lets nothing through that the schema would refuse or change", () => {
    let plain = 0;
    fc.assert(
      fc.property(draft, fc.integer(), fc.nat(), fc.option(almost), (one, seed, place, wound) => {
        const { nodes } = JSON.parse(JSON.stringify(written(one, seed))) as {
          nodes: Record<string, JsonValue>[];
        };
        const node = nodes[place % nodes.length]!;
        const target = place % 3 === 0 ? (node["step"] as Record<string, JsonValue>) : node;
        const keys = [...Object.keys(target), "after", "kind", "extra"];
        if (wound !== null)
          target[keys[place % keys.length]!] = JSON.parse(JSON.stringify(wound ?? null));
        // Only what the reader lets in is ever looked at.
        const read = admitJson(node);
        if (!read.ok || !isPlainNode(read.value)) return;
        plain += 1;
        expect(nodeSchema.safeParse(read.value).data).toEqual(read.value);
      }),
      { numRuns: 2_000 },
    );
    expect(plain).toBeGreaterThan(300);
  });
});

describe("compiling", () => {
  it("never throws: anything at all is a plan or a list of problems", () => {
    fc.assert(
      fc.property(fc.oneof(almost, fc.anything(), fc.string(), fc.uint8Array()), (source) => {
        for (const compiled of [compileRecipe(source), compileVerifier(source, PLAN)]) {
          if (compiled.ok) continue;
          expect(compiled.error.length).toBeGreaterThan(0);
          for (const { code } of compiled.error) expect(CODES.has(code)).toBe(true);
          expect(formatDiagnostics(compiled.error)).toMatch(/^error\[/);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it("reports the same problems from text and from objects, whatever was broken", () => {
    const broken = fc.tuple(
      draft,
      fc.integer(),
      fc.array(fc.tuple(fc.nat(), almost), { minLength: 1, maxLength: 3 }),
    );
    fc.assert(
      fc.property(broken, ([one, seed, wounds]) => {
        const document = JSON.parse(JSON.stringify(written(one, seed))) as {
          nodes: Record<string, unknown>[];
        };
        for (const [place, value] of wounds) {
          const node = document.nodes[place % document.nodes.length];
          const keys = Object.keys(node ?? {});
          const key = keys[place % keys.length];
          if (node === undefined || key === undefined) continue;
          const json: unknown = JSON.parse(JSON.stringify(value ?? null));
          node[key] = json;
        }
        const text = JSON.stringify(document);
        // The two readers word their own refusals differently.
        fc.pre(readJson(text).ok);
        const plain = (source: unknown) => {
          const compiled = compileRecipe(source);
          return compiled.ok
            ? compiled.value.digest
            : compiled.error.map(({ code, pointer, message, hint }) => ({
                code,
                pointer,
                message,
                hint,
              }));
        };
        expect(plain(text)).toEqual(plain(JSON.parse(text)));
      }),
      { numRuns: 500 },
    );
  });
});
