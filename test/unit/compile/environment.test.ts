import { describe, expect, it } from "vitest";
import { bindRecipe, EMPTY_ENVIRONMENT, environmentDigest } from "../../../src/compile/index.ts";
import { ENVIRONMENT, planOf, pure, recipe } from "../../support/compiling.ts";

const { environment: _, ...UNBOUND } = recipe([pure("a", 1)]);

describe("binding", () => {
  it("fills in the environment and leaves the rest as it was", () => {
    const bound = bindRecipe(JSON.stringify(UNBOUND), ENVIRONMENT);
    expect(bound).toEqual({ ...UNBOUND, environment: ENVIRONMENT });
    expect(Object.keys(bound as object)).toEqual([
      "version",
      "id",
      "environment",
      "inputs",
      "terminal",
      "nodes",
    ]);
    expect(planOf(bound).digest).toBe(planOf(recipe([pure("a", 1)])).digest);
  });

  it("replaces an environment that was there", () => {
    const bound = bindRecipe({ ...UNBOUND, environment: ENVIRONMENT }, EMPTY_ENVIRONMENT);
    expect(planOf(bound).environment).toEqual(EMPTY_ENVIRONMENT);
  });

  it("changes the plan's digest with every part of the environment", () => {
    const digests = new Set([planOf(bindRecipe(UNBOUND, ENVIRONMENT)).digest]);
    for (const part of Object.keys(ENVIRONMENT)) {
      const other = { ...ENVIRONMENT, [part]: "f".repeat(64) };
      digests.add(planOf(bindRecipe(UNBOUND, other)).digest);
    }
    expect(digests.size).toBe(6);
  });

  it.each(["[]", "{", "7"])("refuses %s, which is no recipe", (source) => {
    expect(() => bindRecipe(source, ENVIRONMENT)).toThrowError(
      expect.objectContaining({ code: "recipe_invalid" }),
    );
  });
});

describe("the environment of a host that has nothing", () => {
  it("is made of digests of empty documents", () => {
    expect(EMPTY_ENVIRONMENT).toEqual({
      policy: "ae3c7f10f7c3df42d4b1d9b49361ff48fa9ffcf2b9a4eaa9a9a219437af8833f",
      tools: "b9a89a8d1398982a8a3e1ce0c31575137546cbc7ca33224000cbf2966b8369f6",
      credentials: "327b8c12f1e7cab28d6ed454a6932e89646d523fe35a916a60a7678950a4e6a5",
      evidence: "a8c04480afd26cf9057aee7db399134ffae065047279623e9cac5d8f3892308b",
      host_configuration: null,
    });
  });
});

describe("the digest of an environment", () => {
  it("depends on every part", () => {
    expect(environmentDigest(ENVIRONMENT)).toBe(
      "sha256:b99806db07bf2e9830aa50093fea9c6f756dc717c080fd1ca6fd516cbc9df730",
    );
    const digests = new Set([environmentDigest(ENVIRONMENT)]);
    for (const part of Object.keys(ENVIRONMENT)) {
      digests.add(environmentDigest({ ...ENVIRONMENT, [part]: "f".repeat(64) }));
    }
    expect(digests.size).toBe(6);
  });
});
