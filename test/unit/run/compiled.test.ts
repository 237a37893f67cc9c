import { describe, expect, it } from "vitest";
import type { LearnedAnswer } from "../../../src/model/run.ts";
import type { Qualification } from "../../../src/ports/qualification.ts";
import { promptDigest } from "../../../src/run/index.ts";
import { compiled, ENVIRONMENT, MODELS, recipeOf, started } from "../../support/pure-procedure.ts";

const environment = ENVIRONMENT;

/** A qualification that stands until told otherwise, and keeps what it was told. */
function qualification(learned: readonly LearnedAnswer[] = []) {
  const demotions: { readonly run: string; readonly reason: string }[] = [];
  let asked = 0;
  let standing: () => boolean = () => true;
  const port: Qualification = {
    id: "test",
    learned,
    stands: () => {
      asked += 1;
      return standing();
    },
    demote: (why) => {
      demotions.push(why);
    },
  };
  return {
    port,
    demotions,
    asked: () => asked,
    fall: (after: () => boolean) => {
      standing = after;
    },
  };
}

const PRODUCT = { op: "multiply", left: { input: "quantity" }, right: { input: "price" } };
const TWINS = recipeOf({ quantity: "integer", price: "integer" }, [
  { id: "calculate", step: { kind: "pure", value: PRODUCT } },
  { id: "duplicate", step: { kind: "pure", value: PRODUCT } },
  {
    id: "r",
    after: ["calculate", "duplicate"],
    step: { kind: "verify", condition: true, value: { node: "calculate" } },
  },
]);
const RULE = {
  op: "equal",
  left: { input: "context/result" },
  right: {
    op: "multiply",
    left: { input: "context/inputs/quantity" },
    right: { input: "context/inputs/price" },
  },
};

describe("repeated pure nodes", () => {
  it("a compiled run takes a repeated expression from its twin, and says so", () => {
    const { run } = started(
      compiled(TWINS, RULE),
      { quantity: 6, price: 1200 },
      { mode: "compiled", qualification: qualification().port },
    );
    expect(run.advancePure({ environment })).toBe("verified");
    expect(run.result).toBe("7200");
    expect(run.report.reused_pure_nodes).toBe(1);
    expect(run.report.trace.map(({ node, reused_pure }) => [node, reused_pure])).toEqual([
      ["calculate", false],
      ["duplicate", true],
      ["r", false],
    ]);
  });

  it("a guided run computes both, and its evidence says whether they agreed", async () => {
    const { run } = started(compiled(TWINS, RULE), { quantity: 6, price: 1200 });
    run.advancePure({ environment });
    expect(run.report.reused_pure_nodes).toBe(0);
    const { evidenceOf } = await import("../../../src/run/index.ts");
    expect(evidenceOf(run).twins).toEqual([{ node: "duplicate", agreed: true }]);
  });

  it("the value of a whole each is taken, its length with it", () => {
    const each = { list: [1, 2, 3], as: "n", limit: 3 };
    const value = { op: "add", left: { item: "n" }, right: 1 };
    const { run } = started(
      compiled(
        recipeOf({}, [
          { id: "a", each, step: { kind: "pure", value } },
          { id: "b", each, step: { kind: "pure", value } },
          { id: "r", step: { kind: "pure", value: [{ node: "a" }, { node: "b" }] } },
        ]),
      ),
      {},
      { mode: "compiled", qualification: qualification().port },
    );
    run.advancePure({ environment });
    expect(run.result).toEqual([
      ["2", "3", "4"],
      ["2", "3", "4"],
    ]);
    expect(run.report.trace[1]).toMatchObject({ node: "b", reused_pure: true, elements: 3 });
  });

  it("every check still runs: a compiled run with a false condition is rejected", () => {
    const recipe = recipeOf({ n: "integer" }, [
      {
        id: "v",
        step: {
          kind: "verify",
          condition: { op: "less", left: { input: "n" }, right: 10 },
          value: { input: "n" },
        },
      },
    ]);
    const q = qualification();
    const { run } = started(
      compiled(recipe),
      { n: 10 },
      { mode: "compiled", qualification: q.port },
    );
    expect(run.advancePure({ environment })).toBe("rejected");
    expect(q.demotions).toEqual([{ run: run.id, reason: "verify_failed" }]);
  });
});

describe("qualification of a compiled run", () => {
  it("a compiled run without one is refused before anything starts", () => {
    expect(() => started(compiled(TWINS), { quantity: 1, price: 1 }, { mode: "compiled" })).toThrow(
      expect.objectContaining({ code: "not_qualified" }),
    );
  });

  it("a failed verifier demotes at once; a verified run demotes nothing", () => {
    const q = qualification();
    const options = { mode: "compiled", qualification: q.port } as const;
    const good = started(compiled(TWINS, RULE), { quantity: 2, price: 2 }, options).run;
    expect(good.advancePure({ environment })).toBe("verified");
    expect(q.demotions).toEqual([]);
    const bad = started(compiled(TWINS, false), { quantity: 2, price: 2 }, options).run;
    expect(bad.advancePure({ environment })).toBe("rejected");
    expect(q.demotions).toEqual([{ run: bad.id, reason: "verifier_rejected" }]);
  });

  it("a demotion that cannot be written down is told, and the run is rejected all the same", () => {
    const q = qualification();
    const port: Qualification = {
      ...q.port,
      demote: () => {
        throw new Error("disk full");
      },
    };
    const { run } = started(
      compiled(TWINS, false),
      { quantity: 2, price: 2 },
      { mode: "compiled", qualification: port },
    );
    expect(() => run.advancePure({ environment })).toThrow("disk full");
    expect(run.state).toBe("rejected");
    expect(run.advancePure({ environment })).toBe("rejected");
  });

  it("a guided run that fails demotes nothing", () => {
    const q = qualification();
    const options = { qualification: q.port };
    const { run } = started(compiled(TWINS, false), { quantity: 2, price: 2 }, options);
    expect(run.advancePure({ environment })).toBe("rejected");
    expect(q.demotions).toEqual([]);
    expect(q.asked()).toBe(0);
  });

  it.each([
    ["says no", () => false],
    [
      "cannot say",
      () => {
        throw new Error("database is locked");
      },
    ],
  ])("a qualification that %s ends the run before its first node", (_, answer) => {
    const q = qualification();
    q.fall(answer);
    const { run } = started(
      compiled(TWINS, RULE),
      { quantity: 2, price: 2 },
      { mode: "compiled", qualification: q.port },
    );
    expect(run.advancePure({ environment })).toBe("denied");
    expect(run.report.reason).toBe("not_qualified");
    expect(run.report.trace.every((node) => node.outcome === "not_reached")).toBe(true);
  });

  it("a demotion while the run waits ends it at the next step", () => {
    const q = qualification();
    const recipe = recipeOf({}, [
      { id: "m", output: "text", step: { kind: "model", prompt: "?" } },
    ]);
    const { run } = started(compiled(recipe), {}, { mode: "compiled", qualification: q.port });
    expect(run.advancePure({ environment })).toBe("awaiting_model");
    q.fall(() => false);
    expect(run.advancePure({ environment, model: { answer: "x" } })).toBe("denied");
    expect(run.report).toMatchObject({ reason: "not_qualified", model_calls: 0 });
  });
});

describe("learned answers", () => {
  const recipe = recipeOf({ memo: "text" }, [
    {
      id: "kind",
      output: { enum: ["food", "travel"] },
      step: { kind: "model", prompt: { input: "memo" } },
    },
    { id: "r", step: { kind: "pure", value: { node: "kind" } } },
  ]);
  const model = { provider: "test", name: "scripted" };
  const learned = (more: Partial<LearnedAnswer> = {}): LearnedAnswer => ({
    node: "kind",
    answer: "food",
    prompts: [promptDigest("lunch")],
    varied: false,
    model,
    ...more,
  });
  const run = (memo: string, answer: LearnedAnswer, verifier: unknown = true) => {
    const q = qualification([answer]);
    const one = started(
      compiled(recipe, verifier),
      { memo },
      { mode: "compiled", qualification: q.port },
    ).run;
    one.advancePure({ environment });
    return { run: one, q };
  };

  it("the identical prompt takes the learned answer, and the report counts a hit and no call", () => {
    const one = run("lunch", learned()).run;
    expect(one.state).toBe("verified");
    expect(one.result).toBe("food");
    expect(one.report).toMatchObject({
      learned_model_hits: 1,
      model_calls: 0,
      tokens: { input: 0, output: 0 },
    });
    expect(one.report.trace[0]).toMatchObject({ node: "kind", learned_hits: 1, model_calls: 0 });
  });

  it("another prompt takes it only when the prompts varied among the qualifying runs", () => {
    expect(run("dinner", learned()).run.state).toBe("awaiting_model");
    expect(run("dinner", learned({ varied: true })).run.result).toBe("food");
  });

  it("another model, by provider or by name, is asked", () => {
    const other = (identity: object) =>
      run("lunch", learned({ varied: true, model: { ...model, ...identity } })).run.state;
    expect(other({ name: "newer" })).toBe("awaiting_model");
    expect(other({ provider: "elsewhere" })).toBe("awaiting_model");
    expect(other({})).toBe("verified");
  });

  it("an answer for another node is not used", () => {
    expect(run("lunch", learned({ node: "r" })).run.state).toBe("awaiting_model");
  });

  it("a learned answer that does not fit the node's type makes a boundary, not a crash", () => {
    const one = run("lunch", learned({ answer: "fuel" })).run;
    expect(one.state).toBe("awaiting_model");
    expect(one.advancePure({ environment, model: { answer: "travel" } })).toBe("verified");
    expect(one.report).toMatchObject({ learned_model_hits: 0, model_calls: 1 });
  });

  it("a learned answer is read in its stored form: a decimal is not scaled twice", () => {
    const priced = recipeOf({}, [
      { id: "m", output: { decimal: 2 }, step: { kind: "model", prompt: "?" } },
      { id: "r", step: { kind: "pure", value: { node: "m" } } },
    ]);
    const guided = started(compiled(priced), {}).run;
    guided.advancePure({ environment, model: { answer: "12.50" } });
    expect(guided.result).toBe("1250");
    const q = qualification([
      { node: "m", answer: "1250", prompts: [promptDigest("?")], varied: false, model },
    ]);
    const options = { mode: "compiled", qualification: q.port } as const;
    const hit = started(compiled(priced), {}, options).run;
    expect(hit.advancePure({ environment })).toBe("verified");
    expect(hit.result).toBe("1250");
  });

  it("the verifier judges a run of learned answers as any other, and its no demotes", () => {
    const rule = { op: "equal", left: { input: "context/result" }, right: "travel" };
    const { run: one, q } = run("lunch", learned(), rule);
    expect(one.state).toBe("rejected");
    expect(q.demotions).toEqual([{ run: one.id, reason: "verifier_rejected" }]);
  });

  it("a guided run asks at every boundary, whatever was learned", () => {
    const q = qualification([learned({ varied: true })]);
    const one = started(compiled(recipe), { memo: "lunch" }, { qualification: q.port }).run;
    expect(one.advancePure({ environment })).toBe("awaiting_model");
  });

  it("a chain of learned answers runs through, asking each time whether the qualification stands", () => {
    const chain = recipeOf({}, [
      { id: "a", output: "text", step: { kind: "model", prompt: "1" } },
      { id: "b", output: "text", step: { kind: "model", prompt: { node: "a" } } },
      { id: "c", output: "text", step: { kind: "model", prompt: { node: "b" } } },
    ]);
    const answers = ["a", "b", "c"].map((node) => learned({ node, answer: node, varied: true }));
    const q = qualification(answers);
    const options = { mode: "compiled", qualification: q.port } as const;
    const through = started(compiled(chain), {}, options).run;
    expect(through.advancePure({ environment })).toBe("verified");
    expect(through.result).toBe("c");
    expect(q.asked()).toBe(4);

    let left = 2;
    q.fall(() => {
      left -= 1;
      return left >= 0;
    });
    const stopped = started(compiled(chain), {}, options).run;
    expect(stopped.advancePure({ environment })).toBe("denied");
    expect(stopped.report).toMatchObject({ reason: "not_qualified", learned_model_hits: 1 });
  });

  it("elements of an each are matched one by one", () => {
    const many = recipeOf({ memos: { list: "text" } }, [
      {
        id: "kind",
        each: { list: { input: "memos" }, as: "memo", limit: 9 },
        output: { list: "text" },
        step: { kind: "model", prompt: { item: "memo" } },
      },
    ]);
    const q = qualification([learned()]);
    const options = { mode: "compiled", qualification: q.port, models: MODELS } as const;
    const one = started(compiled(many), { memos: ["lunch", "hotel", "lunch"] }, options).run;
    expect(one.advancePure({ environment })).toBe("awaiting_model");
    expect(one.pending.map((boundary) => boundary.index)).toEqual([1]);
    one.advancePure({ environment, model: { answer: "travel" } });
    expect(one.result).toEqual(["food", "travel", "food"]);
    expect(one.report.trace[0]).toMatchObject({ elements: 3, learned_hits: 2, model_calls: 1 });
  });
});
