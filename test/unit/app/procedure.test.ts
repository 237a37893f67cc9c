import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Procedure } from "../../../src/app/procedure.ts";
import { ENVIRONMENT } from "../../support/pure-procedure.ts";

const environment = ENVIRONMENT;

const read = (name: string) =>
  readFileSync(new URL(`../../golden/seed/${name}.json`, import.meta.url));

describe("a procedure", () => {
  it("takes recipe and verifier as bytes, as text and as parsed JSON, and they are the same", () => {
    const forms = [
      (name: string) => new Uint8Array(read(name)),
      (name: string) => read(name).toString("utf8"),
      (name: string) => JSON.parse(read(name).toString("utf8")) as unknown,
    ];
    const made = forms.map((form) => new Procedure(form("recipe"), { verifier: form("verifier") }));
    expect(new Set(made.map((procedure) => procedure.digest)).size).toBe(1);
    expect(new Set(made.map((procedure) => procedure.verifier.digest)).size).toBe(1);
    for (const procedure of made) {
      const run = procedure.start({ quantity: "6", price: 1200 }, { environment });
      expect(run.advancePure({ environment })).toBe("verified");
      expect(run.result).toBe("7200");
    }
  });

  it("that does not compile is refused with every diagnostic at once", () => {
    const recipe = {
      version: 1,
      id: "x",
      inputs: { n: "integr" },
      terminal: "r",
      nodes: [{ id: "r", step: { kind: "pure", value: { op: "ad", left: 1, right: 2 } } }],
    };
    expect(() => new Procedure(recipe, { verifier: true })).toThrow(
      expect.objectContaining({
        code: "recipe_invalid",
        data: {
          diagnostics: [
            expect.objectContaining({ code: "unknown_type", pointer: "/inputs/n" }),
            expect.objectContaining({ code: "unknown_operator" }),
          ],
        },
      }),
    );
  });

  it("whose verifier does not fit the recipe is refused", () => {
    const verifier = { op: "equal", left: { input: "context/result" }, right: "text" };
    expect(() => new Procedure(read("recipe"), { verifier })).toThrow(
      expect.objectContaining({ code: "verifier_invalid" }),
    );
  });

  it("cannot be altered", () => {
    const procedure = new Procedure(read("recipe"), { verifier: read("verifier") });
    expect(() => Object.assign(procedure, { verifier: null })).toThrow(TypeError);
    expect(() => Object.assign(procedure.plan, { digest: null })).toThrow(TypeError);
  });

  it("gives every run an id of its own", () => {
    const procedure = new Procedure(read("recipe"), { verifier: read("verifier") });
    const ids = Array.from({ length: 20 }, () => {
      return procedure.start({ quantity: 1, price: 1 }, { environment }).id;
    });
    expect(new Set(ids).size).toBe(20);
    for (const id of ids) expect(id).toMatch(/^run-[0-9a-f]{32}$/);
  });
});
