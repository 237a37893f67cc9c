import type { DemoStep as Step } from "./stage.ts";

export interface Chapter {
  readonly title: string;
  readonly recipe: string;
  readonly steps: readonly Step[];
}

const RUN_TABLE = ["state ", "verified ", "observed:"];

function observing(recipe: string, phase: string, say: string, more: readonly string[] = []): Step {
  const inputs = ["--inputs", `./${recipe}/${phase}.jsonl`];
  const memory = ["--memory", "./memory", "--phase", phase];
  return {
    say,
    words: ["run", `./${recipe}/recipe.json`, ...inputs, ...memory, ...more],
    exit: "verified",
    show: ["observed:"],
  };
}

function qualifying(recipe: string): Step {
  return {
    say: "Now the evidence suffices:",
    words: ["memory", "qualify", "./memory", `./${recipe}/recipe.json`],
    exit: "verified",
    show: ["ok ", "qualification-"],
  };
}

function ladder(recipe: string, more: readonly string[] = []): readonly Step[] {
  return [
    observing(recipe, "training", "Three guided runs on different inputs, observed:", more),
    observing(
      recipe,
      "shadow",
      "One held-out run, compared with what compiled mode would use:",
      more,
    ),
    observing(recipe, "canary", "And one more:", more),
    qualifying(recipe),
  ];
}

const LINE_TOTAL = "./line-total/recipe.json";
const ANSWERS = ["--answers", "./expense-posting/answers.jsonl"];

export const STORY: readonly Chapter[] = [
  {
    title: "== line-total: quantity times price, worked out twice, then verified from outside",
    recipe: "line-total",
    steps: [
      {
        say: "How strong is its verifier? Results are altered; it has to notice:",
        words: ["check", LINE_TOTAL, "--score", "--inputs", "./line-total/inputs.jsonl"],
        exit: "verified",
        show: ["score "],
      },
      observing("line-total", "training", "Three guided runs on different inputs, observed:"),
      {
        say: "Is that enough to run it compiled?",
        words: ["memory", "qualify", "./memory", LINE_TOTAL],
        exit: "denied",
        show: ["more shadow", "more canary", "error:"],
      },
      {
        say: "The same inputs again teach nothing:",
        words: [
          ...["run", LINE_TOTAL, "--inputs", "./line-total/training.jsonl"],
          ...["--memory", "./memory", "--phase", "training"],
        ],
        exit: "problem",
        show: ["line 1:", "observed:"],
      },
      {
        say: "Neither does a recipe that adds where it should multiply: the verifier says no.",
        words: [
          ...["run", "./line-total/recipe.wrong.json", "--verifier", "./line-total/verifier.json"],
          ...["--inputs", "./line-total/training.jsonl", "--memory", "./memory"],
          ...["--phase", "training"],
        ],
        exit: "rejected",
        show: ["line 1:", "rejected "],
      },
      observing(
        "line-total",
        "shadow",
        "One held-out run, compared with what compiled mode would use:",
      ),
      observing("line-total", "canary", "And one more:"),
      qualifying("line-total"),
      {
        say: "The sixth run is compiled: one value is reused, everything is verified again.",
        words: [
          ...["run", LINE_TOTAL, "--input", "quantity=6", "--input", "price=1200"],
          ...["--memory", "./memory"],
        ],
        exit: "verified",
        show: ["state ", "mode ", "result ", "nodes ", "time "],
      },
      {
        say: "Another verifier, even one that means the same, has none of this evidence:",
        words: [
          ...["run", LINE_TOTAL, "--verifier", "./line-total/verifier.changed.json"],
          ...["--input", "quantity=7", "--input", "price=1200"],
          ...["--memory", "./memory", "--mode", "compiled"],
        ],
        exit: "denied",
        show: ["error:", "verifier", "more training"],
      },
    ],
  },
  {
    title:
      "== recalculation-straight-line: a depreciation plan whose last period takes the residue",
    recipe: "recalculation-straight-line",
    steps: [
      ...ladder("recalculation-straight-line"),
      {
        say: "The other samples run compiled, each verified by bounds rather than by the same sums:",
        words: [
          ...["run", "./recalculation-straight-line/recipe.json"],
          ...["--inputs", "./recalculation-straight-line/later.jsonl", "--memory", "./memory"],
        ],
        exit: "verified",
        show: RUN_TABLE,
      },
    ],
  },
  {
    title:
      "== expense-posting: a model reads the text, rules do the rest (the model is a script here)",
    recipe: "expense-posting",
    steps: [
      ...ladder("expense-posting", ANSWERS),
      {
        say: "Compiled, the text it has seen needs no model; texts it has not seen still ask:",
        words: [
          ...["run", "./expense-posting/recipe.json", "--inputs", "./expense-posting/later.jsonl"],
          ...["--memory", "./memory", ...ANSWERS],
        ],
        exit: "verified",
        show: RUN_TABLE,
      },
    ],
  },
];
