import { describe, expect, it } from "vitest";
import { failureRateBound, judge } from "../../../src/memory/ladder.ts";
import { requirement } from "../../../src/memory/requirement.ts";
import {
  LEAST_REQUIREMENT,
  type Observation,
  type Phase,
  type ProcedureRecord,
} from "../../../src/model/memory.ts";
import { observation } from "../../support/memory-evidence.ts";

/** `t` `s` `c`: a clean run of a phase; in upper case a failed one; `|`: a demotion. */
function record(story: string, kind: "model" | "twin" = "model"): ProcedureRecord {
  const phases: { readonly [letter: string]: Phase } = { t: "training", s: "shadow", c: "canary" };
  const observations: Observation[] = [];
  const demotions: ProcedureRecord["demotions"][number][] = [];
  for (const letter of story) {
    if (letter === "|") {
      demotions.push({
        qualification: "q",
        cause: "verification_failed",
        reason: "a compiled run ended verifier_rejected",
        run: "run-x",
        demoted_ms: 1,
        barrier: BigInt(observations.length),
      });
      continue;
    }
    const word = `${observations.length + 1}`;
    const clean = letter === letter.toLowerCase();
    observations.push({
      ...observation(word, {
        phase: phases[letter.toLowerCase()] ?? "training",
        clean,
        mismatches: clean ? [] : [{ node: "sort", index: null, kind }],
      }),
      seq: BigInt(word),
    });
  }
  return {
    task: "t",
    observations,
    signals: [],
    demotions,
    standing: null,
    counts: { failures: 0, successes: 0 },
  };
}

const verdict = (story: string) => judge(record(story), LEAST_REQUIREMENT).verdict;

describe("the verdict", () => {
  it.each([
    ["", "no_evidence"],
    ["ttt", "no_evidence"],
    ["ttts", "no_evidence"],
    ["ttc", "no_evidence"],
    ["tttsc", "pass"],
    ["tttttsscc", "pass"],
    ["tttS", "fail"],
    ["tttSs", "no_evidence"],
    ["tttSsc", "pass"],
    ["tttsC", "fail"],
    ["tttsCc", "pass"],
    ["tttscC", "fail"],
    ["tttscCc", "pass"],
    ["tttscS", "fail"],
    ["tttscSs", "no_evidence"],
    ["tttscSsc", "pass"],
    ["tttsc|", "fail"],
    ["tttsc|t", "fail"],
    ["tttsc|ttts", "fail"],
    ["tttsc|tttsc", "pass"],
    ["tttsc|tttsc|", "fail"],
    ["tttsC|tttsc", "pass"],
  ])("of %j is %s", (story, expected) => {
    expect(verdict(story)).toBe(expected);
  });

  it("is no evidence where nothing was ever observed", () => {
    expect(judge(undefined, LEAST_REQUIREMENT)).toEqual({
      verdict: "no_evidence",
      phases: {
        training: { required: 3, counted: 0, failed: 0, distinct_inputs: 0 },
        shadow: { required: 1, counted: 0, failed: 0, distinct_inputs: 0 },
        canary: { required: 1, counted: 0, failed: 0, distinct_inputs: 0 },
      },
      missing: [
        "3 more training runs with inputs not observed before (0 of 3)",
        "1 more shadow run with inputs not observed before (0 of 1)",
        "1 more canary run with inputs not observed before (0 of 1)",
      ],
      clean_runs: 0,
      failure_rate_bound: null,
      learned: [],
    });
  });

  it("is fail for good once a pure node differed from its twin, whatever comes after", () => {
    const standing = judge(record("tTttsc|tttsc", "twin"), LEAST_REQUIREMENT);
    expect(standing.verdict).toBe("fail");
    expect(standing.missing).toEqual([
      "in run run-2 the pure node sort differed from the node whose value compiled runs would take for it; " +
        "this procedure cannot qualify",
    ]);
  });

  it("passes exactly when nothing is missing", () => {
    for (const story of ["", "t", "tttsc", "tttsC", "tttsc|tts", "tttsc|tttsc"]) {
      const { verdict: is, missing } = judge(record(story), LEAST_REQUIREMENT);
      expect([story, is === "pass"]).toEqual([story, missing.length === 0]);
    }
  });
});

describe("what is missing, in words", () => {
  const missing = (story: string, asked = {}) => judge(record(story), requirement(asked)).missing;

  it("counts what is there", () => {
    expect(missing("t")).toEqual([
      "2 more training runs with inputs not observed before (1 of 3)",
      "1 more shadow run with inputs not observed before (0 of 1)",
      "1 more canary run with inputs not observed before (0 of 1)",
    ]);
  });

  it("names the run and the node that failed a phase", () => {
    expect(missing("tttS")).toEqual([
      "the shadow run run-4 failed: compiled mode would have used another value at sort; " +
        "the shadow phase has to be shown again",
      "1 more shadow run with inputs not observed before (0 of 1)",
      "1 more canary run with inputs not observed before (0 of 1)",
    ]);
  });

  it("names the demotion, and that only fresh runs count", () => {
    expect(missing("tttsc|ttts")).toEqual([
      "the qualification was demoted (verification_failed: a compiled run ended verifier_rejected); " +
        "only runs observed since then, with inputs never observed before, count",
      "1 more canary run with inputs not observed before (0 of 1)",
    ]);
  });

  it("asks for as many more as the host asks for", () => {
    expect(missing("tttsc", { training: 5, canary: 57 })).toEqual([
      "2 more training runs with inputs not observed before (3 of 5)",
      "56 more canary runs with inputs not observed before (1 of 57)",
    ]);
  });
});

describe("the failure rate that clean runs leave possible", () => {
  it.each([
    [1, 0.95],
    [5, 0.4507197283469411],
    [59, 0.0495076],
    [299, 0.009969],
    [1000, 0.002991],
  ])("of %i runs is %f", (runs, bound) => {
    expect(failureRateBound(runs)).toBeCloseTo(bound, 6);
  });

  it("is unknown without runs", () => {
    expect(failureRateBound(0)).toBeNull();
  });

  it("counts only runs since the last failure and the last demotion", () => {
    const clean = (story: string) => judge(record(story), LEAST_REQUIREMENT).clean_runs;
    expect(clean("tttsc")).toBe(5);
    expect(clean("tttSsc")).toBe(2);
    expect(clean("tttsC")).toBe(0);
    expect(clean("tttsc|tt")).toBe(2);
    expect(judge(record("tttsc"), LEAST_REQUIREMENT).failure_rate_bound).toBeCloseTo(0.4507, 4);
  });
});

describe("a host may ask for more, never for less", () => {
  it("without asking it is three, one and one", () => {
    expect(requirement()).toEqual({ training: 3, shadow: 1, canary: 1 });
  });

  it("more is taken, phase by phase", () => {
    expect(requirement({ canary: 59 })).toEqual({ training: 3, shadow: 1, canary: 59 });
    expect(requirement({ shadow: 2 }, requirement({ training: 7 }))).toEqual({
      training: 7,
      shadow: 2,
      canary: 1,
    });
  });

  it.each([
    [{ training: 2 }],
    [{ shadow: 0 }],
    [{ canary: -1 }],
    [{ canary: 1.5 }],
    [{ training: Number.NaN }],
    [{ training: 2 ** 53 }],
    [{ training: 999, canary: 1 }],
  ])("%j is refused", (asked) => {
    expect(() => requirement(asked)).toThrow(expect.objectContaining({ code: "bad_requirement" }));
  });

  it("what a memory was opened with cannot be lowered by a call", () => {
    expect(() => requirement({ training: 4 }, requirement({ training: 5 }))).toThrow(
      "4 training runs were asked for; 5 or more can be asked for, never fewer",
    );
  });
});
