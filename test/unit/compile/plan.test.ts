import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { nodeOf, planOf, pure, recipe, verifierOf } from "../../support/compiling.ts";

const EVERY_KIND = readFileSync(
  new URL("../../golden/compile/every-kind/recipe.json", import.meta.url),
);

/** Pointers of objects and lists that could still be changed. */
function unfrozen(value: unknown, at: string, seen: Set<unknown>): readonly string[] {
  if (typeof value !== "object" || value === null || seen.has(value)) return [];
  seen.add(value);
  const parts =
    value instanceof Map
      ? [...(value as ReadonlyMap<string, unknown>)]
      : Object.keys(value).map((key) => [key, value[key as keyof typeof value]] as const);
  const inner = parts.flatMap(([key, part]) => unfrozen(part, `${at}/${key}`, seen));
  return value instanceof Map || Object.isFrozen(value) ? inner : [at, ...inner];
}

describe("a plan", () => {
  it("is frozen through and through, its normal form too", () => {
    expect(unfrozen(planOf(EVERY_KIND), "", new Set())).toEqual([]);
  });

  it("gives the same normal form each time it is asked", () => {
    const plan = planOf(EVERY_KIND);
    expect(plan.normal).toBe(plan.normal);
  });

  it("needs a host only when some node reaches outside", () => {
    expect(planOf(EVERY_KIND).needsHost).toBe(true);
    expect(planOf(recipe([pure("a", 1)])).needsHost).toBe(false);
  });

  it("points back into the recipe", () => {
    const plan = planOf(recipe([pure("b", { node: "a" }), pure("a", 1)], { terminal: "b" }));
    expect(plan.nodes.map(({ id, pointer }) => [id, pointer])).toEqual([
      ["a", "/nodes/1"],
      ["b", "/nodes/0"],
    ]);
    const { step } = nodeOf(plan, "b");
    expect(step.kind === "pure" && step.value.at).toBe("/nodes/0/step/value");
  });

  it("changes its digest when a slot is renamed, added or retyped, not when keys move (B069)", () => {
    const value = { op: "add", left: { input: "a" }, right: 1 };
    const digest = (inputs: object, reads: unknown = value) =>
      planOf(recipe([pure("x", reads as never)], { inputs: inputs as never })).digest;
    const base = digest({ a: "integer", c: "text" });
    const renamed = digest({ b: "integer", c: "text" }, { ...value, left: { input: "b" } });
    const added = digest({ a: "integer", c: "text", d: "integer" });
    const retyped = digest({ a: "integer", c: { optional: "text" } });
    const scaled = digest({ a: { decimal: 2 }, c: "text" });
    expect(new Set([base, renamed, added, retyped, scaled]).size).toBe(5);
    expect(digest({ c: "text", a: "integer" })).toBe(base);
  });
});

describe("a verifier", () => {
  it("is frozen through and through", () => {
    const verifier = verifierOf(
      { version: 1, id: "x", result: true },
      planOf(recipe([pure("a", 1)])),
    );
    expect(unfrozen(verifier, "", new Set())).toEqual([]);
  });
});

describe("twins", () => {
  const twinsOf = (nodes: Parameters<typeof recipe>[0]) =>
    Object.fromEntries(
      planOf(recipe(nodes)).nodes.flatMap(({ id, twin }, _, all) =>
        twin === null ? [] : [[id, (planOf(recipe(nodes)).nodes[twin] ?? all[0])?.id]],
      ),
    );
  const end = (...read: readonly string[]) => pure("z", read.map((id) => ({ node: id })) as never);

  it("are pure nodes of one expression over the same sources, through other twins", () => {
    const sum = { op: "add", left: { input: "price" }, right: 1 };
    expect(
      twinsOf([
        pure("a", sum),
        pure("b", { right: 1, left: { op: "input", name: "price" }, op: "add" }),
        pure("c", { op: "add", left: { node: "a" }, right: 2 }),
        pure("d", { op: "add", left: { node: "b" }, right: 2 }),
        pure("e", { op: "add", left: { node: "b" }, right: 3 }),
        end("c", "d", "e"),
      ]),
    ).toEqual({ b: "a", d: "c" });
  });

  it("are found whether members that may be left out are written or not", () => {
    const sum = { op: "sum", list: [{ input: "price" }], as: "s" };
    expect(
      twinsOf([pure("a", sum), pure("b", { ...sum, value: { item: "s" } }), end("a", "b")]),
    ).toEqual({ b: "a" });
  });

  it("have the same guard, the same list and the same output", () => {
    expect(
      twinsOf([
        pure("a", "x"),
        pure("b", "x", { when: true }),
        pure("c", "x", { output: "text" }),
        pure("d", "x", { when: true }),
        pure("e", "x", { each: { list: [1], limit: 2 } }),
        pure("f", "x", { each: { list: [1], limit: 3 } }),
        pure("g", "x", { each: { list: [1], limit: 2 } }),
        pure("z", 1, { after: ["a", "b", "c", "d", "e", "f", "g"] }),
      ]),
    ).toEqual({ d: "b", g: "e" });
  });

  it("wait for whatever the original waits for, so the original is there first", () => {
    expect(
      twinsOf([
        pure("a", 1),
        pure("gate", 2),
        pure("m", 5, { after: ["gate"] }),
        pure("n", 5, { after: [] }),
        pure("o", 5, { after: ["a", "gate"] }),
        pure("z", 99, { after: ["m", "n", "o", "a"] }),
      ]),
    ).toEqual({ o: "m" });
  });

  it("are never found inside literals: data that looks like a reference is data", () => {
    const data = (id: string) => ({ op: "literal", value: { op: "node", id }, type: "json" });
    expect(
      twinsOf([
        pure("a", 1),
        pure("b", 1),
        pure("c", data("a")),
        pure("d", data("b")),
        pure("z", 99, { after: ["a", "b", "c", "d"] }),
      ]),
    ).toEqual({ b: "a" });
  });

  it("are pure: verify nodes always run", () => {
    const check = (id: string) => ({ id, step: { kind: "verify", condition: true, value: 1 } });
    expect(twinsOf([check("a"), check("b"), end("a", "b")])).toEqual({});
  });
});
