/**
 * How strong a verifier is: the share of wrong results that it refuses.
 *
 * Verified results of sample runs are altered in every way their type allows (`mutants.ts`), one place at a time, and
 * shown to the verifier in the place of the true result. A verifier that only looks at half of the result accepts
 * what is altered in the other half; a verifier that accepts everything catches nothing.
 */
import type { JsonValue } from "../base/json.ts";
import { EvaluationFailure, readValue } from "../expression/index.ts";
import type { Plan, Verifier } from "../model/plan.ts";
import type { Value } from "../model/value.ts";
import { type Mutant, mutantsOf } from "./mutants.ts";

/** Mutants tried for one sample at most; of more, evenly spread ones are taken. */
export const MAX_MUTANTS = 2000;
/** Mutants enumerated for one sample at most, so that no result costs unbounded memory. */
const MAX_ENUMERATED = 200_000;

/** One verified run. */
export interface Sample {
  readonly inputs: { readonly [name: string]: JsonValue };
  /** In its JSON form. */
  readonly result: JsonValue;
}

/** Altered results that the verifier accepts, by the kind of place and of change. */
export interface Survivors {
  /** Pointer into the result, with `*` for positions in lists. */
  readonly place: string;
  readonly change: string;
  /** How many mutants of this kind there were, and how many of them were accepted. */
  readonly tried: number;
  readonly accepted: number;
  /** The first of them: number of the sample, from 0, and its exact pointer. */
  readonly example: { readonly sample: number; readonly pointer: string };
}

export interface VerifierScore {
  readonly samples: number;
  /** Mutants that there are; more than `tried` where a result has too many to try them all. */
  readonly possible: number;
  readonly tried: number;
  readonly caught: number;
  /** In the order in which their places occur. */
  readonly survivors: readonly Survivors[];
}

interface Group {
  readonly place: string;
  readonly change: string;
  tried: number;
  accepted: number;
  example: { readonly sample: number; readonly pointer: string } | null;
}

/** Scores a verifier over the verified runs of its own procedure. Pure; the same samples give the same score. */
export function scoreVerifier(
  plan: Plan,
  verifier: Verifier,
  samples: readonly Sample[],
): VerifierScore {
  const groups = new Map<string, Group>();
  let possible = 0;
  for (const [sample, { inputs, result }] of samples.entries()) {
    const given = inputRecord(plan, inputs);
    const mutants = enumerate(plan, result);
    possible += mutants.length;
    for (const mutant of spread(mutants, MAX_MUTANTS)) {
      const group = groupOf(groups, mutant);
      group.tried += 1;
      if (!accepts(verifier, given, mutant.build())) continue;
      group.accepted += 1;
      group.example ??= { sample, pointer: mutant.pointer };
    }
  }
  return { samples: samples.length, possible, ...totals([...groups.values()]) };
}

function totals(groups: readonly Group[]): Pick<VerifierScore, "tried" | "caught" | "survivors"> {
  let tried = 0;
  let caught = 0;
  const survivors: Survivors[] = [];
  for (const group of groups) {
    tried += group.tried;
    caught += group.tried - group.accepted;
    if (group.example !== null) survivors.push({ ...group, example: group.example });
  }
  return { tried, caught, survivors };
}

function enumerate(plan: Plan, result: JsonValue): readonly Mutant[] {
  const read = readValue(plan.result, result);
  if (!read.ok) throw new TypeError(`a verified result cannot be read: ${read.error.message}`);
  const mutants: Mutant[] = [];
  for (const mutant of mutantsOf(plan.result, read.value)) {
    mutants.push(mutant);
    if (mutants.length === MAX_ENUMERATED) break;
  }
  return mutants;
}

function spread(mutants: readonly Mutant[], most: number): readonly Mutant[] {
  if (mutants.length <= most) return mutants;
  const step = mutants.length / most;
  return Array.from({ length: most }, (_, index) => mutants[Math.floor(index * step)]).filter(
    (mutant) => mutant !== undefined,
  );
}

function groupOf(groups: Map<string, Group>, { pointer, change }: Mutant): Group {
  const place = pointer.replace(/\/\d+(?=\/|$)/g, "/*");
  const key = `${place} ${change}`;
  const known = groups.get(key);
  if (known !== undefined) return known;
  const group: Group = { place, change, tried: 0, accepted: 0, example: null };
  groups.set(key, group);
  return group;
}

/** The verifier's own view (docs/expressions.md section 6); a procedure that runs without a host has no operations. */
function accepts(verifier: Verifier, inputs: Value, result: Value): boolean {
  const context = record([
    ["inputs", inputs],
    ["operations", []],
    ["result", result],
  ]);
  try {
    return verifier.result.evaluate({ inputs: [context], nodes: [] }) === true;
  } catch (error) {
    // An altered result that cannot even be evaluated is refused by a run as well.
    if (error instanceof EvaluationFailure) return false;
    throw error;
  }
}

function inputRecord(plan: Plan, inputs: Sample["inputs"]): Value {
  return record(
    plan.inputs.map(({ name, reading }) => {
      const read = readValue(reading, Object.hasOwn(inputs, name) ? (inputs[name] ?? null) : null);
      if (!read.ok) throw new TypeError(`the inputs of a verified run cannot be read: ${name}`);
      return [name, read.value] as const;
    }),
  );
}

function record(fields: readonly (readonly [string, Value])[]): Value {
  const made: { [name: string]: Value } = Object.create(null);
  for (const [name, value] of fields) made[name] = value;
  return Object.freeze(made);
}
