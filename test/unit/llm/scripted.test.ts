import { describe, expect, it } from "vitest";
import { scriptedModel } from "../../../src/llm/scripted.ts";
import type { PendingModel } from "../../../src/model/run.ts";

const question = (more: Partial<PendingModel> = {}): PendingModel => ({
  node: "classify",
  index: null,
  role: "default",
  instructions: null,
  prompt: { merchant: "RAIL" },
  answer_type: "text",
  ...more,
});

function modelOf(...lines: readonly string[]) {
  const model = scriptedModel(lines.join("\n"), "answers.jsonl");
  if (!model.ok) throw new Error(model.error.map((problem) => problem.message).join("; "));
  return model.value;
}

describe("a scripted model", () => {
  it("says that it is scripted", () => {
    expect(modelOf().identity).toEqual({ provider: "scripted", name: "answers.jsonl" });
  });

  it("answers with the narrowest line that matches, in any order of questions", async () => {
    const model = modelOf(
      '{"node":"classify","answer":"any"}',
      "",
      '{"node":"classify","prompt":{"merchant":"RAIL"},"answer":"this prompt"}',
      '{"node":"classify","index":1,"answer":"this element"}',
      '{"node":"classify","index":1,"prompt":{"merchant":"RAIL"},"answer":"both"}',
    );
    const ask = async (more: Partial<PendingModel>) => (await model.answer(question(more))).answer;
    expect(await ask({ index: 1 })).toBe("both");
    expect(await ask({ index: 0 })).toBe("this prompt");
    expect(await ask({ index: 1, prompt: "other" })).toBe("this element");
    expect(await ask({ index: 0, prompt: "other" })).toBe("any");
    expect(await ask({})).toBe("this prompt");
    expect(await ask({ prompt: null })).toBe("any");
  });

  it("tells a line for the prompt null from a line for any prompt", async () => {
    const model = modelOf('{"node":"classify","prompt":null,"answer":1}');
    expect((await model.answer(question({ prompt: null }))).answer).toBe(1);
    await expect(model.answer(question())).rejects.toMatchObject({ code: "provider_error" });
  });

  it("matches prompts by value: member order and number spelling do not matter", async () => {
    const model = modelOf('{"node":"classify","prompt":{"b":1.50,"a":"x"},"answer":true}');
    expect((await model.answer(question({ prompt: { a: "x", b: 1.5 } }))).answer).toBe(true);
  });

  it("reports usage as written, and usage left out as unknown rather than zero", async () => {
    const model = modelOf(
      '{"node":"classify","answer":1}',
      '{"node":"rate","answer":1,"usage":{"input_tokens":40,"output_tokens":0}}',
      '{"node":"half","answer":1,"usage":{"output_tokens":3}}',
    );
    const usage = async (node: string) => (await model.answer(question({ node }))).usage;
    expect(await usage("classify")).toEqual({ input_tokens: null, output_tokens: null });
    expect(await usage("rate")).toEqual({ input_tokens: 40, output_tokens: 0 });
    expect(await usage("half")).toEqual({ input_tokens: null, output_tokens: 3 });
  });

  it("fails for a question that no line answers, naming node and element", async () => {
    const model = modelOf('{"node":"other","answer":1}');
    await expect(model.answer(question({ index: 4 }))).rejects.toMatchObject({
      code: "provider_error",
      message: 'the script answers.jsonl has no answer for node "classify" element 4',
    });
  });

  it("refuses every bad line by its number and takes nothing from the others", () => {
    const script = [
      '{"node":"a","answer":1}',
      "{",
      "[]",
      '{"node":"a","answr":1}',
      '{"node":1,"answer":1}',
      '{"node":"a"}',
      '{"node":"b","index":-1,"answer":1}',
      '{"node":"b","answer":1,"usage":{"input_tokens":1.5}}',
      '{"node":"b","answer":1,"usage":{"cost":1}}',
      '{"node":"a","answer":2}',
      '{"node":"a","node":"b","answer":2}',
    ].join("\n");
    const model = scriptedModel(script, "answers.jsonl");
    expect(model.ok).toBe(false);
    if (model.ok) return;
    expect(model.error.map((problem) => problem.line)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    const message = (line: number) => model.error.find((found) => found.line === line)?.message;
    expect(message(4)).toContain('unknown member "answr"');
    expect(message(10)).toContain("line 1");
  });
});
