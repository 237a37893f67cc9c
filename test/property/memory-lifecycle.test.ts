import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { observe } from "../../src/memory/observe.ts";
import { qualify } from "../../src/memory/qualify.ts";
import { signalOfRun } from "../../src/memory/signal.ts";
import { statusOf } from "../../src/memory/status.ts";
import {
  DEFAULT_MEMORY_LIMITS,
  LEAST_REQUIREMENT,
  PHASES,
  type Phase,
} from "../../src/model/memory.ts";
import type { ProcedureStore } from "../../src/ports/procedures.ts";
import { memoryProcedures } from "../../src/store/memory/procedures.ts";
import { createProcedures, openProcedures } from "../../src/store/sqlite/procedures.ts";
import { digest, evidence, exchange, KEY } from "../support/memory-evidence.ts";
import { ENVIRONMENT } from "../support/pure-procedure.ts";

/** What the ladder is, told as plainly as possible: counts, and the answers that were ever seen. */
interface Model {
  runs: number;
  counted: Record<Phase, number>;
  failed: Record<Phase, number>;
  /** Clean runs since the last demotion, whether or not their phase still counts them. */
  clean: number;
  /** Answers of the one model node, ever. */
  readonly answers: Set<string>;
  demotions: number;
  standing: { readonly id: string; readonly learned: string | null } | null;
  evidence: number;
}

interface Real {
  store: ProcedureStore;
  readonly reopen: (store: ProcedureStore) => ProcedureStore;
}

const key = KEY;
const options = { requirement: LEAST_REQUIREMENT, nowMs: 1 };

function fresh(): Model {
  return {
    runs: 0,
    counted: { training: 0, shadow: 0, canary: 0 },
    failed: { training: 0, shadow: 0, canary: 0 },
    clean: 0,
    answers: new Set(),
    demotions: 0,
    standing: null,
    evidence: 1,
  };
}

function learned(model: Model): string | null {
  const [only] = model.answers;
  return model.clean > 0 && model.answers.size === 1 ? (only ?? null) : null;
}

function enough(model: Model): boolean {
  return PHASES.every((phase) => model.counted[phase] >= LEAST_REQUIREMENT[phase]);
}

function demoted(model: Model): void {
  model.counted = { training: 0, shadow: 0, canary: 0 };
  model.failed = { training: 0, shadow: 0, canary: 0 };
  model.clean = 0;
  model.demotions += 1;
  model.standing = null;
  model.evidence = 1;
}

function verdict(model: Model): string {
  if (enough(model)) return "pass";
  const unfinished = (["shadow", "canary"] as const).some(
    (phase) => model.failed[phase] > 0 && model.counted[phase] < LEAST_REQUIREMENT[phase],
  );
  return unfinished || model.demotions > 0 ? "fail" : "no_evidence";
}

/** Holds after every command. */
function agree(model: Model, { store }: Real): void {
  const status = statusOf(store, {
    task: "task-a",
    key,
    environment: ENVIRONMENT,
    requirement: LEAST_REQUIREMENT,
  });
  expect(PHASES.map((phase) => status.phases[phase].counted)).toEqual(
    PHASES.map((phase) => model.counted[phase]),
  );
  expect(status.verdict).toBe(verdict(model));
  expect(status.missing.length === 0).toBe(status.verdict === "pass");
  expect(status.qualification?.id ?? null).toBe(model.standing?.id ?? null);
  if (model.standing !== null) expect(store.stands(model.standing.id)).toBe(true);
  const answers = status.learned.map((one) => one.answer);
  const expected = model.standing === null ? learned(model) : model.standing.learned;
  expect(answers).toEqual(expected === null ? [] : [expected]);
}

const inputs = (run: number) => ({ inputs: digest(`inputs ${run}`) });
const answering = (answer: string) => ({ models: [exchange("sort", "p", answer)] });

class Observe implements fc.Command<Model, Real> {
  readonly phase: Phase;
  readonly answer: string;
  constructor(phase: Phase, answer: string) {
    this.phase = phase;
    this.answer = answer;
  }
  check = () => true;
  run(model: Model, real: Real): void {
    const { phase, answer } = this;
    model.runs += 1;
    const run = evidence(`${model.runs}`, { ...inputs(model.runs), ...answering(answer) });
    const observed = observe(real.store, run, { ...options, phase });
    const early = PHASES.slice(0, PHASES.indexOf(phase)).some(
      (before) => model.counted[before] < LEAST_REQUIREMENT[before],
    );
    if (early) {
      expect(observed).toMatchObject({ ok: false, error: { code: "phase_out_of_order" } });
    } else {
      const used =
        model.standing !== null
          ? model.standing.learned
          : phase === "training"
            ? null
            : learned(model);
      model.answers.add(answer);
      const clean = used === null || used === answer;
      const ends = !clean && model.standing !== null;
      expect(observed).toMatchObject({
        ok: true,
        value: { outcome: clean ? "counted" : "failed", demoted: ends },
      });
      if (clean) {
        model.counted[phase] += 1;
        model.clean += 1;
      } else if (ends) {
        demoted(model);
      } else {
        model.failed[phase] += 1;
        if (phase === "shadow") model.counted.shadow = 0;
        if (phase !== "training") model.counted.canary = 0;
      }
    }
    agree(model, real);
  }
  toString = () => `observe(${this.phase}, ${this.answer})`;
}

/** The run that is missing next, which agrees: without it few stories would reach the top, and fewer get there twice. */
class Climb implements fc.Command<Model, Real> {
  check = () => true;
  run(model: Model, real: Real): void {
    const next = PHASES.find((phase) => model.counted[phase] < LEAST_REQUIREMENT[phase]);
    if (next === undefined) new Qualify().run(model, real);
    else new Observe(next, "a").run(model, real);
  }
  toString = () => "climb";
}

/** A run or inputs that were seen before, or a compiled run: never evidence, whatever the moment. */
class ObserveAgain implements fc.Command<Model, Real> {
  readonly phase: Phase;
  readonly what: "run" | "inputs" | "compiled" | "unverified";
  constructor(phase: Phase, what: ObserveAgain["what"]) {
    this.phase = phase;
    this.what = what;
  }
  check = (model: Readonly<Model>) => model.counted.training > 0;
  run(model: Model, real: Real): void {
    const seen = real.store.read(key)?.observations[0];
    if (seen === undefined) throw new Error("nothing was observed");
    const word = seen.run.slice("run-".length);
    const run = {
      run: evidence(word),
      inputs: evidence("new", { inputs: seen.inputs }),
      compiled: evidence("new", { mode: "compiled" }),
      unverified: evidence("new", {
        state: "rejected",
        reason: "verifier_rejected",
        independentlyVerified: false,
      }),
    } as const;
    expect(observe(real.store, run[this.what], { ...options, phase: this.phase }).ok).toBe(false);
    agree(model, real);
  }
  toString = () => `observeAgain(${this.phase}, ${this.what})`;
}

class Qualify implements fc.Command<Model, Real> {
  check = () => true;
  run(model: Model, real: Real): void {
    model.runs += 1;
    const id = `q${model.runs}`;
    const answer = qualify(real.store, key, { ...options, newId: () => id });
    expect(answer.ok).toBe(enough(model));
    if (answer.ok) {
      // An answer that was contradicted since is not used any more, under a new id.
      const covered = model.standing?.learned == null || model.standing.learned === learned(model);
      if (model.standing === null || !covered) model.standing = { id, learned: learned(model) };
      expect(answer.value.id).toBe(model.standing.id);
    }
    agree(model, real);
  }
  toString = () => "qualify";
}

class Demote implements fc.Command<Model, Real> {
  check = () => true;
  run(model: Model, real: Real): void {
    const stood = model.standing !== null;
    const demotion = { cause: "host", reason: "r", run: null, demoted_ms: 1 } as const;
    expect(real.store.demote(key, demotion)).toBe(stood);
    if (stood) demoted(model);
    agree(model, real);
  }
  toString = () => "demote";
}

class Signal implements fc.Command<Model, Real> {
  readonly answer: string;
  constructor(answer: string) {
    this.answer = answer;
  }
  check = () => true;
  run(model: Model, real: Real): void {
    model.runs += 1;
    const run = evidence(`signal ${model.runs}`, answering(this.answer));
    const taken = signalOfRun(real.store, run, 1);
    expect(taken.ok).toBe(model.standing !== null);
    if (taken.ok && model.standing !== null) {
      const failed = model.standing.learned !== null && model.standing.learned !== this.answer;
      if (failed) model.answers.add(this.answer);
      model.evidence = Math.max(1, model.evidence * (failed ? 10 : 10 / 11));
      const ends = model.evidence >= 20;
      expect(taken.value).toMatchObject({ failed, demoted: ends });
      if (ends) demoted(model);
    }
    agree(model, real);
  }
  toString = () => `signal(${this.answer})`;
}

class Reopen implements fc.Command<Model, Real> {
  check = () => true;
  run(model: Model, real: Real): void {
    real.store = real.reopen(real.store);
    agree(model, real);
  }
  toString = () => "reopen";
}

const answer = fc.constantFrom("a", "a", "a", "a", "a", "a", "b");
const commands = (size: number) =>
  fc.commands(
    [
      fc.tuple(fc.constantFrom(...PHASES), answer).map(([phase, word]) => new Observe(phase, word)),
      fc.constant(new Climb()),
      fc.constant(new Climb()),
      fc.constant(new Climb()),
      fc.constant(new Qualify()),
      fc.constant(new Demote()),
      answer.map((word) => new Signal(word)),
      fc
        .tuple(
          fc.constantFrom(...PHASES),
          fc.constantFrom("run", "inputs", "compiled", "unverified" as const),
        )
        .map(([phase, what]) => new ObserveAgain(phase, what as ObserveAgain["what"])),
      fc.constant(new Reopen()),
    ],
    { maxCommands: size, size: "max" },
  );

describe("the life of a procedure in memory is the plain ladder", () => {
  it("in process, whatever is done in whatever order", () => {
    fc.assert(
      fc.property(commands(60), (story) => {
        fc.modelRun(
          () => ({
            model: fresh(),
            real: { store: memoryProcedures(DEFAULT_MEMORY_LIMITS), reopen: (store) => store },
          }),
          story,
        );
      }),
      { numRuns: 200 },
    );
  });

  it("in SQLite, also when the memory is closed and opened in between", () => {
    const root = mkdtempSync(join(tmpdir(), "rote-lifecycle-"));
    let round = 0;
    try {
      fc.assert(
        fc.property(commands(40), (story) => {
          round += 1;
          const directory = join(root, String(round));
          const real: Real = {
            store: createProcedures(directory, DEFAULT_MEMORY_LIMITS),
            reopen: (store) => {
              store.close();
              return openProcedures(directory, DEFAULT_MEMORY_LIMITS);
            },
          };
          try {
            fc.modelRun(() => ({ model: fresh(), real }), story);
          } finally {
            real.store.close();
          }
        }),
        { numRuns: 30 },
      );
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });

  it("the stories above do reach qualifications, demotions and second qualifications", () => {
    const reached = { qualified: 0, demoted: 0, again: 0 };
    for (const [story] of fc.sample(fc.tuple(commands(60)), { numRuns: 100, seed: 1 })) {
      const model = fresh();
      const real: Real = {
        store: memoryProcedures(DEFAULT_MEMORY_LIMITS),
        reopen: (store) => store,
      };
      let stood = false;
      for (const command of story) {
        if (!command.check(model)) continue;
        command.run(model, real);
        if (model.standing !== null && !stood) {
          reached.qualified += 1;
          if (model.demotions > 0) reached.again += 1;
        }
        if (model.standing === null && stood) reached.demoted += 1;
        stood = model.standing !== null;
      }
    }
    expect(reached.qualified).toBeGreaterThan(50);
    expect(reached.demoted).toBeGreaterThan(40);
    expect(reached.again).toBeGreaterThan(10);
  });
});
