import { Procedure } from "../../../src/app/procedure.ts";
import { type MemoryOptions, ProcedureMemory } from "../../../src/app/procedure-memory.ts";
import { PHASES } from "../../../src/model/memory.ts";
import type { Random } from "../../../src/ports/random.ts";
import type { Run } from "../../../src/run/index.ts";
import { countingRandom } from "../../support/counting-random.ts";
import { directories } from "../../support/directories.ts";

import {
  ENVIRONMENT as environment,
  MODELS as models,
  recipeOf,
} from "../../support/pure-procedure.ts";

/** A model names the kind of a memo; the verifier knows the right one. */
export const KIND = recipeOf({ memo: "text", expected: "text" }, [
  { id: "kind", output: "text", step: { kind: "model", prompt: { input: "memo" } } },
  { id: "note", output: "text", step: { kind: "model", prompt: "which note?" } },
  { id: "r", after: ["kind", "note"], step: { kind: "pure", value: { node: "kind" } } },
]);
export const AS_EXPECTED = {
  op: "equal",
  left: { input: "context/result" },
  right: { input: "context/inputs/expected" },
};

interface Memories {
  /** Of the one memory that a test has. */
  place(): string;
  created(options?: MemoryOptions): Promise<ProcedureMemory>;
  opened(options?: MemoryOptions): Promise<ProcedureMemory>;
  /** Closes every handle. */
  remove(): Promise<void>;
}

/** Memories on disk, one for each test, with any number of handles. */
export function memories(): Memories {
  const open: ProcedureMemory[] = [];
  const places = directories();
  let now: string | undefined;
  const place = () => {
    now ??= places.fresh();
    return now;
  };
  const kept = (memory: ProcedureMemory) => {
    open.push(memory);
    return memory;
  };
  return {
    place,
    created: async (options) => kept(await ProcedureMemory.create(place(), options)),
    opened: async (options) => kept(await ProcedureMemory.open(place(), options)),
    async remove() {
      for (const memory of open.splice(0)) await memory.close();
      places.remove();
      now = undefined;
    },
  };
}

export function kindProcedure(random: Random = countingRandom()): Procedure {
  return new Procedure(KIND, { verifier: AS_EXPECTED, random });
}

/** Answers every boundary: `kind` and `note`. */
export function answered(run: Run, kind: string, note = "n"): Run {
  let state = run.advancePure({ environment });
  while (state === "awaiting_model") {
    const node = run.pendingModel?.node ?? "";
    state = run.advancePure({
      environment,
      model: { node, answer: node === "kind" ? kind : note },
    });
  }
  return run;
}

/** A guided run whose memo differs each time. */
export function guided(procedure: Procedure, memo: string, kind = "invoice", note = "n"): Run {
  return answered(procedure.start({ memo, expected: kind }, { environment, models }), kind, note);
}

export async function climb(
  memory: ProcedureMemory,
  procedure: Procedure,
  round = "a",
): Promise<void> {
  for (const [index, phase] of ([0, 0, 0, 1, 2] as const).entries()) {
    const run = guided(procedure, `${round}${index}`);
    await memory.observe(run, { phase: PHASES[phase] });
  }
}

export async function refusal(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error("must be refused");
    },
    (error: unknown) => error,
  );
}

/** Ids that do not meet those of another `countingRandom`. */
export function offset(from: number): Random {
  const random = countingRandom();
  return {
    bytes: (count) => {
      const bytes = random.bytes(count);
      bytes[count - 1] = from;
      return bytes;
    },
  };
}
