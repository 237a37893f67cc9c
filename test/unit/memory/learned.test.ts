import { describe, expect, it } from "vitest";
import { candidatesFrom, compare, covers, learnedFrom } from "../../../src/memory/learned.ts";
import type { Observation, ProcedureRecord, StoredExchange } from "../../../src/model/memory.ts";
import { PHASES } from "../../../src/model/memory.ts";
import type { LearnedAnswer } from "../../../src/model/run.ts";
import { digest, evidence, exchange, MODEL, observation } from "../../support/memory-evidence.ts";

type Run = readonly StoredExchange[];

function record(runs: readonly Run[], more: Partial<ProcedureRecord> = {}): ProcedureRecord {
  return {
    task: "t",
    observations: runs.map((models, index) => seen(index + 1, models)),
    signals: [],
    demotions: [],
    standing: null,
    counts: { failures: 0, successes: 0 },
    ...more,
  };
}

function seen(
  seq: number,
  models: Run,
  clean = true,
  phase: Observation["phase"] = "training",
): Observation {
  return { ...observation(`${seq}`, { models, clean, phase }), seq: BigInt(seq) };
}

/** A word per run: its phase by its first letter (`T` `S` `C` for failed ones), then the prompt it asked. */
function story(words: string): ProcedureRecord {
  const observations = words.split(" ").map((word, index) => {
    const letter = word.charAt(0);
    const phase = PHASES["tsc".indexOf(letter.toLowerCase())] ?? "training";
    const clean = letter === letter.toLowerCase();
    const models = clean ? [one(word.slice(1), "a")] : [exchange("other", "p", "x")];
    return seen(index + 1, models, clean, phase);
  });
  return record([], { observations });
}

const one = (prompt: string, answer: unknown, more: Partial<StoredExchange> = {}) =>
  exchange("sort", prompt, answer as never, more);

describe("an answer is learned", () => {
  it("when it was the same in every qualifying run, with its prompts", () => {
    expect(learnedFrom(record([[one("p", "a")], [one("p", "a")], [one("p", "a")]]))).toEqual([
      { node: "sort", answer: "a", prompts: [digest("p")], varied: false, model: MODEL },
    ]);
  });

  it("as varied when training prompts differed and held-out runs asked others", () => {
    const prompts = [1, 2, 3, 4].map((index) => digest(`p${index}`)).sort();
    expect(learnedFrom(story("tp1 tp2 tp1 sp3 cp4"))).toEqual([
      { node: "sort", answer: "a", prompts, varied: true, model: MODEL },
    ]);
  });

  it.each([
    ["training prompts differed, and nothing was held out", "t1 t2 t3", false],
    ["no canary run", "t1 t2 t3 s4", false],
    ["the held-out runs asked prompts of training", "t1 t2 t3 s1 c2", false],
    ["only the shadow run asked another", "t1 t2 t3 s4 c1", false],
    ["only the canary run asked another", "t1 t2 t3 s1 c4", false],
    ["the canary run asked what the shadow run had asked", "t1 t2 t3 s4 c4", false],
    ["training prompts were one and the same", "t1 t1 t1 s2 c3", false],
    ["training varied only after the held-out runs", "t1 t1 t1 s2 c3 t4", false],
    ["training varied later, and was shown only by a shadow run", "t1 t1 t1 s2 c3 t4 s5", false],
    ["training varied later, and was shown again", "t1 t1 t1 s2 c3 t4 s5 c6", true],
    ["the canary run came before the shadow run that shows it", "t1 t2 t3 s1 c4 s5", false],
    ["a failed shadow run took it back", "t1 t2 t3 s4 c5 S", false],
    ["a failed canary run took back the canary run", "t1 t2 t3 s4 c5 C", false],
    ["a canary run after the failed one showed it", "t1 t2 t3 s4 c5 C c6", true],
    ["another held-out run asked a prompt of training as well", "t1 t2 t3 s4 s1 c5 c2", true],
  ])("where %s (%s): any prompt is %s", (_, words, varied) => {
    expect(learnedFrom(story(words))).toMatchObject([{ answer: "a", varied }]);
  });

  it("and put to the test for any prompt as soon as training prompts differed", () => {
    expect(candidatesFrom(story("t1 t2 t3"))).toMatchObject([{ varied: true }]);
    expect(candidatesFrom(story("t1 t1 t1 s2"))).toMatchObject([{ varied: false }]);
  });

  it("by value: key order does not matter, types do", () => {
    const same = record([[one("p", { a: 1, b: 2 })], [one("p", { b: 2, a: 1 })]]);
    expect(learnedFrom(same)).toHaveLength(1);
    expect(learnedFrom(record([[one("p", 1)], [one("p", "1")]]))).toEqual([]);
    expect(learnedFrom(record([[one("p", null)], [one("p", false)]]))).toEqual([]);
  });

  it("by node, sorted, each for itself", () => {
    const run = (answer: string): Run => [
      exchange("z", "p", "same"),
      exchange("a", "p", "same"),
      exchange("m", "p", answer),
    ];
    expect(learnedFrom(record([run("1"), run("2")])).map((each) => each.node)).toEqual(["a", "z"]);
  });

  it("pooled over the elements of an each", () => {
    const run: Run = [one("p0", "a", { index: 0 }), one("p1", "a", { index: 1 })];
    expect(candidatesFrom(record([run, run]))).toMatchObject([{ answer: "a", varied: false }]);
    const longer: Run = [...run, one("p2", "a", { index: 2 })];
    for (const runs of [
      [run, longer],
      [longer, run],
    ]) {
      expect(candidatesFrom(record(runs))).toMatchObject([{ answer: "a", varied: true }]);
    }
    const mixed: Run = [one("p0", "a", { index: 0 }), one("p1", "b", { index: 1 })];
    expect(learnedFrom(record([run, mixed]))).toEqual([]);
  });
});

describe("an answer is not learned", () => {
  it("when some run gave another", () => {
    expect(learnedFrom(record([[one("p", "a")], [one("p", "a")], [one("p", "b")]]))).toEqual([]);
  });

  it("when some qualifying run never asked", () => {
    expect(learnedFrom(record([[one("p", "a")], [], [one("p", "a")]]))).toEqual([]);
    expect(learnedFrom(record([[], [one("p", "a")]]))).toEqual([]);
  });

  it("when different models answered", () => {
    const other = { model: { provider: "provider", name: "other" } };
    expect(learnedFrom(record([[one("p", "a")], [one("p", "a", other)]]))).toEqual([]);
  });

  it("when nothing qualifies", () => {
    expect(learnedFrom(record([]))).toEqual([]);
    expect(learnedFrom(record([], { observations: [seen(1, [one("p", "a")], false)] }))).toEqual(
      [],
    );
  });

  it("when a failed run, a signal, or a run before a demotion contradicts it", () => {
    const base = [seen(1, [one("p", "a")]), seen(2, [one("p", "a")])];
    const failed = [...base, seen(3, [one("p", "b")], false)];
    expect(learnedFrom(record([], { observations: failed }))).toEqual([]);
    const signal = {
      run: "r",
      failed: true,
      reason: "differed",
      models: [one("p", "b")],
      signalled_ms: 1,
    };
    expect(learnedFrom(record([], { observations: base, signals: [signal] }))).toEqual([]);
    const before = [seen(1, [one("p", "b")]), seen(2, [one("p", "a")]), seen(3, [one("p", "a")])];
    const demotions = [
      {
        qualification: "q",
        cause: "host" as const,
        reason: "r",
        run: null,
        demoted_ms: 1,
        barrier: 1n,
      },
    ];
    expect(learnedFrom(record([], { observations: before, demotions }))).toEqual([]);
  });

  it("but another model's answer contradicts nothing", () => {
    const other = { model: { provider: "provider", name: "other" } };
    const observations = [
      seen(1, [one("p", "a")]),
      seen(2, [one("p", "b", other)], false),
      seen(3, [one("p", "a")]),
    ];
    expect(learnedFrom(record([], { observations }))).toHaveLength(1);
  });

  it("and runs before a demotion support nothing", () => {
    const demotions = [
      {
        qualification: "q",
        cause: "host" as const,
        reason: "r",
        run: null,
        demoted_ms: 1,
        barrier: 2n,
      },
    ];
    const observations = [seen(1, [one("p", "a")]), seen(2, [one("p", "a")])];
    expect(learnedFrom(record([], { observations, demotions }))).toEqual([]);
    expect(
      learnedFrom(
        record([], { observations: [...observations, seen(3, [one("q", "a")])], demotions }),
      ),
    ).toMatchObject([{ prompts: [digest("q")], varied: false }]);
  });
});

describe("prompts of an answer that stands for any prompt", () => {
  it("are listed up to 64, since they are information only", () => {
    const words = Array.from({ length: 98 }, (_, index) => `t${index}`);
    const [learned] = learnedFrom(story([...words, "s98", "c99"].join(" ")));
    expect(learned?.varied).toBe(true);
    expect(learned?.prompts).toHaveLength(64);
    const fixed = Array.from({ length: 100 }, (_, index) => one(`p${index}`, "a", { index }));
    const [exact] = learnedFrom(record([fixed, fixed]));
    expect(exact?.varied).toBe(false);
    expect(exact?.prompts).toHaveLength(100);
  });
});

describe("comparing", () => {
  const learned: LearnedAnswer = {
    node: "sort",
    answer: { a: 1, b: 2 },
    prompts: [digest("p")],
    varied: false,
    model: MODEL,
  };

  it("answers are equal by value", () => {
    const run = evidence("r", { models: [one("p", { b: 2, a: 1 })] });
    expect(compare([learned], run)).toEqual({ mismatches: [], agreed: 1 });
  });

  it("places without anything learned are passed over", () => {
    const run = evidence("r", { models: [exchange("other", "p", 1), one("q", 1)] });
    expect(compare([learned], run)).toEqual({ mismatches: [], agreed: 0 });
  });
});

describe("covering", () => {
  const base: LearnedAnswer = {
    node: "sort",
    answer: "a",
    prompts: [digest("p1"), digest("p2")],
    varied: false,
    model: MODEL,
  };

  it.each([
    ["the same", [base], true],
    ["more nodes", [base, { ...base, node: "more" }], true],
    ["more prompts", [{ ...base, prompts: [...base.prompts, digest("p3")] }], true],
    ["any prompt", [{ ...base, prompts: [], varied: true }], true],
    ["nothing", [], false],
    ["fewer prompts", [{ ...base, prompts: [digest("p1")] }], false],
    ["another answer", [{ ...base, answer: "b" }], false],
    ["another model", [{ ...base, model: { provider: "x", name: "y" } }], false],
  ])("%s", (_name, after, expected) => {
    expect(covers(after as readonly LearnedAnswer[], [base])).toBe(expected);
  });

  it("listed prompts do not cover any prompt", () => {
    expect(covers([base], [{ ...base, varied: true }])).toBe(false);
  });
});
