import { madeTool } from "../test/support/host.ts";

const PUBLISH = "notes.publish";
const HALF = 5;

export const VERIFIER = { version: 1, id: "bench", before_effect: true, result: true };
export const MODELS = { default: { provider: "bench", name: "constant" } };

export function publishTool() {
  return madeTool(PUBLISH, () => ({ kind: "done", result: "published" }));
}

/** About 95 bytes, as in the engines' harness. */
export function answerOf(step: number) {
  const amount = (step * 7919) % 10_007;
  return { step, ok: true, amount, note: `line ${step} checked against its purchase order` };
}

/** Of one half of the run. */
export const ANSWERS = Array.from({ length: HALF }, (_, step) => answerOf(step));

/** Type of those. */
export const ANSWER = {
  record: { step: "integer", ok: "boolean", amount: "integer", note: "text" },
};

function asking(id: string, after: string): unknown {
  return { id, after: [after], output: ANSWER, step: { kind: "model", prompt: { node: after } } };
}

const names = (letter: string) => Array.from({ length: HALF }, (_, index) => `${letter}${index}`);
const [before, behind] = [names("a"), names("b")];

/** Five answers, an effect behind a fence, five answers. */
export const RECIPE = {
  version: 1,
  id: "resume",
  inputs: {},
  terminal: behind.at(-1),
  nodes: [
    { id: "begin", step: { kind: "pure", value: "begin" } },
    ...before.map((id, index) => asking(id, before[index - 1] ?? "begin")),
    {
      id: "complete",
      step: { kind: "verify", condition: true, value: { node: `${before.at(-1)}/note` } },
    },
    { id: "fence", after: ["complete"], step: { kind: "approval", effects: ["publish"] } },
    {
      id: "publish",
      after: ["fence", "complete"],
      output: "text",
      step: {
        kind: "effect",
        tool: PUBLISH,
        arguments: { op: "record", fields: { text: { node: "complete" } } },
      },
    },
    ...behind.map((id, index) => asking(id, behind[index - 1] ?? "publish")),
  ],
};
