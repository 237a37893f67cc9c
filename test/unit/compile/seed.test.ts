import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { nodeOf, planOf, verifierOf } from "../../support/compiling.ts";
import { sharedPath, sharedPresent } from "../../support/shared.ts";

const seed = (name: string) => readFileSync(new URL(`../../golden/seed/${name}`, import.meta.url));
const PLAN = planOf(seed("recipe.json"));

describe("the seed's program", () => {
  it("is accepted unchanged: graph and verifier as Python prints them", () => {
    expect(PLAN).toMatchObject({ id: "line-total", terminal: 2, needsHost: false });
    expect(PLAN.inputs.map(({ name }) => name)).toEqual(["price", "quantity"]);
    expect(PLAN.nodes.map(({ id, after }) => [id, after])).toEqual([
      ["calculate", []],
      ["duplicate", []],
      ["result", [0, 1]],
    ]);
    expect(PLAN.result).toEqual({ kind: "integer" });
    expect(verifierOf(seed("verifier.json"), PLAN)).toMatchObject({ id: null, beforeEffect: null });
  });

  it("has one pure node to reuse: duplicate computes what calculate did", () => {
    expect(PLAN.nodes.map(({ twin }) => twin)).toEqual([null, 0, null]);
  });

  it("computes and verifies a line total", () => {
    const { step } = nodeOf(PLAN, "calculate");
    const value =
      step.kind === "pure" ? step.value.evaluate({ inputs: [1200n, 6n], nodes: [] }) : null;
    expect(value).toBe(7200n);
    const { result } = verifierOf(seed("verifier.json"), PLAN);
    const context = (total: bigint) => ({
      inputs: { price: 1200n, quantity: 6n },
      operations: [],
      result: total,
    });
    expect(result.evaluate({ inputs: [context(7200n)], nodes: [] })).toBe(true);
    expect(result.evaluate({ inputs: [context(7201n)], nodes: [] })).toBe(false);
  });

  it("keeps its digest", () => {
    expect(PLAN.digest).toBe(
      "sha256:27070ad453d22d8148fd3ce7847e22cbf4ccc8bb8e7f387c2c2c92d91db1a802",
    );
    expect(verifierOf(seed("verifier.json"), PLAN).digest).toBe(
      "sha256:6c196917180193a198a3f9cc95aa69df6e8581620ff747e12ec21c13653adeee",
    );
  });
});

const LISTING = "seeds/learned-procedures.md";

describe.skipIf(!sharedPresent(LISTING))(
  "the seed's listing (skipped where the seed is absent)",
  () => {
    it("is the one that the JSON was printed from", () => {
      const page = readFileSync(sharedPath(LISTING), "utf8");
      const start = page.indexOf('"""Learn a small verified procedure.');
      const end = page.indexOf("Search guides, examples and API reference.");
      const listing = `${page.slice(start, end).trimEnd()}\n`;
      expect(createHash("sha256").update(listing).digest("hex")).toBe(
        "daec5ea3d2bbb757dde66ac73d271196825bf2b2b75cbbcc680185eee8704740",
      );
    });
  },
);
