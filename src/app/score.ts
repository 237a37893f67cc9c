/**
 * How strong a verifier is: the share of wrong results, and of wrong effects, that it refuses.
 *
 * What verified runs showed a verifier is altered in every way its type allows (`mutants.ts`), one place at a time, and
 * shown to it in the place of the true one. A verifier that only looks at half of the result accepts what is altered in
 * the other half; a verifier that accepts everything catches nothing.
 */
import type { JsonValue } from "../base/json.ts";
import { EvaluationFailure, readValue } from "../expression/index.ts";
import type { Plan, Verifier } from "../model/plan.ts";
import type { Type } from "../model/type.ts";
import type { CompiledExpression, RecordValue, Value } from "../model/value.ts";
import type { Shown } from "../run/index.ts";
import { type Mutant, mutantsOf } from "./mutants.ts";

/** Mutants tried for one sample at most; of more, evenly spread ones are taken. */
export const MAX_MUTANTS = 2000;
/** Mutants enumerated for one sample at most, so that no result costs unbounded memory. */
const MAX_ENUMERATED = 200_000;

/** One verified run of a procedure without a host. */
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

/** Scores a verifier over the verified runs of its own procedure. Pure; the same samples give the same score. */
export function scoreVerifier(
  plan: Plan,
  verifier: Verifier,
  samples: readonly Sample[],
): VerifierScore {
  const contexts = samples.map(({ inputs, result }) => contextOf(plan, inputs, result));
  return scoreRule(verifier.result, { part: "result", type: plan.result }, contexts);
}

/** Of both rules of a verifier. */
export interface ShownScore {
  readonly result: VerifierScore;
  /** Pointers go into arguments and key of what was proposed; null for a verifier without such a rule. */
  readonly before_effect: VerifierScore | null;
}

/** The same over what runs at a host showed their verifier: the results, and what was proposed before each effect. */
export function scoreShown(plan: Plan, verifier: Verifier, runs: readonly Shown[]): ShownScore {
  const { result, beforeEffect } = verifier;
  const results = runs.map((shown) => shown.result as RecordValue);
  const proposals = runs.flatMap((shown) => shown.proposals as readonly RecordValue[]);
  return {
    result: scoreRule(result, { part: "result", type: plan.result }, results),
    before_effect:
      beforeEffect === null
        ? null
        : scoreRule(beforeEffect, { part: "proposed", type: PROPOSED }, proposals),
  };
}

/** True when the verifier accepts what its own runs came to: nothing else can be altered into something wrong. */
export function acceptsShown(verifier: Verifier, { proposals, result }: Shown): boolean {
  const { beforeEffect } = verifier;
  return (
    accepts(verifier.result, result) &&
    (beforeEffect === null || proposals.every((proposal) => accepts(beforeEffect, proposal)))
  );
}

/** Of a proposal what is sent and what it is known by; node, tool and place in the batch are the recipe's. */
const PROPOSED: Type = {
  kind: "record",
  others: "refuse",
  fields: new Map<string, Type>([
    ["arguments", { kind: "json" }],
    ["key", { kind: "optional", of: { kind: "json" } }],
  ]),
};

/** The member of a context that is altered. */
interface Altered {
  readonly part: "result" | "proposed";
  readonly type: Type;
}

interface Group {
  readonly place: string;
  readonly change: string;
  tried: number;
  accepted: number;
  example: { readonly sample: number; readonly pointer: string } | null;
}

function scoreRule(
  rule: CompiledExpression,
  { part, type }: Altered,
  contexts: readonly RecordValue[],
): VerifierScore {
  const groups = new Map<string, Group>();
  let possible = 0;
  for (const [sample, context] of contexts.entries()) {
    const mutants = enumerate(type, context[part] ?? null);
    possible += mutants.length;
    for (const mutant of spread(mutants, MAX_MUTANTS)) {
      const group = groupOf(groups, mutant);
      group.tried += 1;
      if (!accepts(rule, withPart(context, part, mutant.build()))) continue;
      group.accepted += 1;
      group.example ??= { sample, pointer: mutant.pointer };
    }
  }
  return { samples: contexts.length, possible, ...totals([...groups.values()]) };
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

function enumerate(type: Type, value: Value): readonly Mutant[] {
  const mutants: Mutant[] = [];
  for (const mutant of mutantsOf(type, value)) {
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

function accepts(rule: CompiledExpression, context: Value): boolean {
  try {
    return rule.evaluate({ inputs: [context], nodes: [] }) === true;
  } catch (error) {
    // An altered result that cannot even be evaluated is refused by a run as well.
    if (error instanceof EvaluationFailure) return false;
    throw error;
  }
}

/** The verifier's own view (docs/expressions.md section 6); a procedure that runs without a host has no operations. */
function contextOf(plan: Plan, inputs: Sample["inputs"], result: JsonValue): RecordValue {
  const read = readValue(plan.result, result);
  if (!read.ok) throw new TypeError(`a verified result cannot be read: ${read.error.message}`);
  return record([
    ["inputs", inputRecord(plan, inputs)],
    ["operations", []],
    ["result", read.value],
  ]);
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

function withPart(context: RecordValue, part: Altered["part"], altered: Value): Value {
  return record([...Object.entries(context).filter(([name]) => name !== part), [part, altered]]);
}

function record(fields: readonly (readonly [string, Value])[]): RecordValue {
  const made: { [name: string]: Value } = Object.create(null);
  for (const [name, value] of fields) made[name] = value;
  return Object.freeze(made);
}
