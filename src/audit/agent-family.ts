/** What an agent's run and its children use together, as the record has it so far. */
import type { Limits } from "./agent-bodies.ts";
import type { Bodies } from "./bodies.ts";

export interface Tokens {
  input: number;
  output: number;
  total: number;
}

export interface Family {
  /** The first run. */
  readonly first: string;
  /** Of the first run, which hold for all. */
  readonly limits: Limits;
  members: number;
  steps: number;
  calls: number;
  ms: number;
  /** Used and set aside. */
  readonly tokens: Tokens;
}

/** Families by each of their runs. */
export type Families = Map<string, Family>;

/** Takes a run into the family of its parent, or begins one with it. `fault`: why its start does not fit, or null. */
export function joinFamily(
  families: Families,
  { parent, root, limits }: Bodies["agent_started"],
  run: string,
): { readonly family: Family; readonly fault: string | null } {
  const above = parent === null ? undefined : families.get(parent);
  const tokens = { input: 0, output: 0, total: 0 };
  const family = above ?? { first: run, limits, members: 0, steps: 0, calls: 0, ms: 0, tokens };
  family.members += 1;
  families.set(run, family);
  if (parent === null) return { family, fault: root === null ? null : "it has no parent" };
  if (above === undefined) return { family, fault: `no agent ${parent} is on record before it` };
  if (root?.run !== above.first || !sameLimits(root.limits, above.limits)) {
    return { family, fault: `it does not name ${above.first} and the limits of that one` };
  }
  const [wider] = namesOf(limits).filter(
    // What is set aside may be more in a child: it is taken from what all of them have.
    (name) => name !== "reserve_tokens" && isWider(limits[name], above.limits[name]),
  );
  const fault = wider === undefined ? null : `its ${wider} is more than the family's`;
  return { family, fault };
}

function sameLimits(mine: Limits, theirs: Limits): boolean {
  return namesOf(theirs).every((name) => mine[name] === theirs[name]);
}

function namesOf(limits: Limits): readonly (keyof Limits)[] {
  return Object.keys(limits) as (keyof Limits)[];
}

function isWider(mine: number | null, theirs: number | null): boolean {
  return theirs !== null && (mine === null || mine > theirs);
}

export function spend(tokens: Tokens, more: Readonly<Tokens>): void {
  tokens.input += more.input;
  tokens.output += more.output;
  tokens.total += more.total;
}

export function limitsTokens(limits: Limits): boolean {
  return KINDS.some((kind) => limits[`max_${kind}_tokens`] !== null);
}

const KINDS = ["input", "output", "total"] as const;

/** The first of the token limits that `used`, with `aside` more, does not keep; null when there is none. */
export function overTokens(limits: Limits, used: Readonly<Tokens>, aside: number): string | null {
  for (const kind of KINDS) {
    const limit = limits[`max_${kind}_tokens`];
    if (limit === null || used[kind] + aside <= limit) continue;
    return `${used[kind] + aside} of ${limit} ${kind} tokens`;
  }
  return null;
}
