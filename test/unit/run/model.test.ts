import { describe, expect, it } from "vitest";
import type { ModelAnswer } from "../../../src/model/run.ts";
import { compiled, ENVIRONMENT, MODELS, recipeOf, started } from "../../support/pure-procedure.ts";

const environment = ENVIRONMENT;

const ANSWER = { record: { amount: { decimal: 2 }, label: { enum: ["food", "travel"] } } };

const TWO = compiled(
  recipeOf({ memo: "text" }, [
    {
      id: "b-kind",
      output: ANSWER,
      step: {
        kind: "model",
        prompt: { op: "record", fields: { memo: { input: "memo" } } },
        instructions: "Read the memo.",
      },
    },
    { id: "a-note", output: "json", step: { kind: "model", role: "writer", prompt: "note" } },
    {
      id: "r",
      step: {
        kind: "pure",
        value: {
          op: "record",
          fields: { kind: { node: "b-kind" }, note: { node: "a-note" } },
        },
      },
    },
  ]),
);

const models = { ...MODELS, writer: { provider: "test", name: "other" } };

function waiting() {
  const one = started(TWO, { memo: "train" }, { models });
  one.run.advancePure({ environment });
  return one;
}

describe("model boundaries", () => {
  it("several boundaries wait at once; the lexically first is shown first", () => {
    const { run } = waiting();
    expect(run.state).toBe("awaiting_model");
    expect(run.pendingModel).toEqual({
      node: "a-note",
      index: null,
      role: "writer",
      instructions: null,
      prompt: "note",
      answer_type: "json",
    });
    expect(run.pending.map((one) => one.node)).toEqual(["a-note", "b-kind"]);
    expect(run.pending[1]).toEqual({
      node: "b-kind",
      index: null,
      role: "default",
      instructions: "Read the memo.",
      prompt: { memo: "train" },
      answer_type: {
        record: { amount: { decimal: 2 }, label: { enum: ["food", "travel"] } },
      },
    });
  });

  it("an answer is read by the node's type, decimals once", () => {
    const { run, events } = waiting();
    run.advancePure({
      environment,
      model: { node: "b-kind", answer: { amount: 12.5, label: "travel" } },
    });
    expect(events.at(-1)).toMatchObject({ answer: { amount: "1250", label: "travel" } });
    expect(run.advancePure({ environment, model: { answer: null } })).toBe("verified");
    expect(run.result).toEqual({ kind: { amount: "1250", label: "travel" }, note: null });
  });

  const wrong: readonly [string, ModelAnswer["answer"], string][] = [
    ["another label", { amount: 1, label: "fuel" }, "/label"],
    ["a missing field", { label: "food" }, ""],
    ["a field too many", { amount: 1, label: "food", extra: 1 }, ""],
    ["too many digits", { amount: "1.234", label: "food" }, "/amount"],
    ["a text with JSON in it", '{"amount": 1, "label": "food"}', ""],
    ["null", null, ""],
  ];
  it.each(wrong)(
    "%s is refused by place and expected type, and the run waits on",
    (_, answer, at) => {
      const { run, events } = waiting();
      const before = [...events];
      expect(() => run.advancePure({ environment, model: { node: "b-kind", answer } })).toThrow(
        expect.objectContaining({
          code: "invalid_model_answer",
          message: expect.stringContaining('the answer for node "b-kind" was refused'),
          data: expect.objectContaining({
            node: "b-kind",
            pointer: expect.stringMatching(`^${at}`),
          }),
        }),
      );
      expect(events).toEqual(before);
      expect(run.state).toBe("awaiting_model");
      run.advancePure({
        environment,
        model: { node: "b-kind", answer: { amount: 1, label: "food" } },
      });
      expect(run.pending).toHaveLength(1);
    },
  );

  it("what is no JSON at all is refused as well", () => {
    const { run } = waiting();
    for (const answer of [undefined, 12n, Number.NaN, () => 1, new Date(0)]) {
      const model = { answer } as unknown as ModelAnswer;
      expect(() => run.advancePure({ environment, model })).toThrow(
        expect.objectContaining({ code: "invalid_model_answer" }),
      );
    }
    expect(run.pending).toHaveLength(2);
  });

  it("an answer for a node that does not wait is refused by name", () => {
    const { run } = waiting();
    const refusal = (model: ModelAnswer) => {
      try {
        run.advancePure({ environment, model });
      } catch (error) {
        return error;
      }
      return undefined;
    };
    expect(refusal({ node: "r", answer: 1 })).toMatchObject({
      code: "not_pending",
      message: 'node "r" is not waiting',
    });
    expect(refusal({ node: "nobody", answer: 1 })).toMatchObject({ code: "unknown_node" });
    expect(refusal({ node: "a-note", index: 0, answer: 1 })).toMatchObject({
      code: "not_pending",
      message: 'node "a-note" element 0 has no elements',
    });
    run.advancePure({ environment, model: { node: "a-note", answer: 1 } });
    expect(refusal({ node: "a-note", answer: 2 })).toMatchObject({
      code: "not_pending",
      message: 'node "a-note" is not waiting',
    });
    run.advancePure({ environment, model: { answer: { amount: 1, label: "food" } } });
    expect(run.state).toBe("verified");
    expect(run.result).toMatchObject({ note: 1 });
    expect(refusal({ node: "a-note", answer: 3 })).toMatchObject({
      code: "not_pending",
      message: 'node "a-note" cannot be answered: the run has ended (completed)',
    });
    expect(refusal({ answer: 3 })).toMatchObject({ code: "not_pending" });
  });

  it("an element that is answered already is refused by name", () => {
    const { run } = started(
      compiled(
        recipeOf({}, [
          {
            id: "each",
            each: { list: [1, 2], limit: 2 },
            output: { list: "integer" },
            step: { kind: "model", prompt: { item: "item" } },
          },
        ]),
      ),
      {},
    );
    run.advancePure({ environment, model: { node: "each", index: 1, answer: 5 } });
    for (const [index, why] of [
      [1, 'node "each" element 1 is already answered'],
      [2, 'node "each" element 2 has no such element'],
    ] as const) {
      expect(() =>
        run.advancePure({ environment, model: { node: "each", index, answer: 5 } }),
      ).toThrow(expect.objectContaining({ code: "not_pending", message: why }));
    }
    expect(() => run.advancePure({ environment, model: { node: "each", answer: 5 } })).toThrow(
      expect.objectContaining({ message: 'node "each" waits per element' }),
    );
  });

  it("answers are copies: changing the object afterwards changes nothing, and no branch is lost (B095)", () => {
    const { run } = waiting();
    const note = { lines: ["one"] };
    const kind = { amount: "1", label: "food" };
    run.advancePure({ environment, model: { node: "a-note", answer: note } });
    note.lines.push("two");
    run.advancePure({ environment, model: { node: "b-kind", answer: kind } });
    kind.label = "travel";
    const result = run.result as { readonly note: { readonly lines: string[] } };
    expect(result).toEqual({
      kind: { amount: "100", label: "food" },
      note: { lines: ["one"] },
    });
    expect(() => result.note.lines.push("three")).toThrow(TypeError);
  });

  it("every role needs a model identity before anything starts", () => {
    expect(() => started(TWO, { memo: "x" }, { models: MODELS })).toThrow(
      expect.objectContaining({ code: "model_unknown", data: { roles: ["writer"] } }),
    );
    expect(() =>
      started(TWO, { memo: "x" }, { models: { ...models, writer: { provider: "", name: "x" } } }),
    ).toThrow(expect.objectContaining({ code: "model_unknown" }));
  });
});

describe("usage", () => {
  const one = compiled(
    recipeOf({}, [
      { id: "m", output: "integer", step: { kind: "model", prompt: "?" } },
      { id: "n", output: "integer", step: { kind: "model", prompt: "!" } },
      { id: "r", after: ["m", "n"], step: { kind: "pure", value: 1 } },
    ]),
  );
  const tokens = (...answers: Omit<ModelAnswer, "answer">[]) => {
    const { run } = started(one, {});
    for (const answer of answers) run.advancePure({ environment, model: { answer: 1, ...answer } });
    return { tokens: run.report.tokens, calls: run.report.model_calls };
  };

  it("reported tokens are summed", () => {
    expect(
      tokens(
        { usage: { input_tokens: 40, output_tokens: 2 } },
        { usage: { input_tokens: 10, output_tokens: 0 } },
      ),
    ).toEqual({ tokens: { input: 50, output: 2 }, calls: 2 });
  });

  it("missing usage is unknown, never zero", () => {
    const usage = { input_tokens: 40, output_tokens: 2 };
    expect(tokens({ usage }, {})).toEqual({
      tokens: { input: "unknown", output: "unknown" },
      calls: 2,
    });
    expect(tokens({ usage }, { usage: { input_tokens: 1, output_tokens: null } }).tokens).toEqual({
      input: 41,
      output: "unknown",
    });
  });

  it("without model calls there are zero tokens, which is known", () => {
    expect(tokens()).toEqual({ tokens: { input: 0, output: 0 }, calls: 0 });
  });

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "12", 2 ** 53])(
    "%s is refused as a count of tokens, and the run waits on",
    (count) => {
      const { run } = started(one, {});
      const usage = { input_tokens: count as number, output_tokens: 1 };
      expect(() => run.advancePure({ environment, model: { answer: 1, usage } })).toThrow(
        expect.objectContaining({ code: "bad_model_usage" }),
      );
      expect(run.pending).toHaveLength(2);
    },
  );
});
