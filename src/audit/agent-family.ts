/** What an agent's run and its children use together, as the record has it so far. */
import type { Limits } from "./agent-bodies.ts";
import type { Bodies } from "./bodies.ts";

export interface Tokens {
  input: number;
  output: number;
  total: number;
}

export interface Family {
  /** Of the first run, which hold for all. */
  readonly limits: Limits;
  members: number;
  steps: number;
  calls: number;
  ms: number;
  /** Used and set aside. */
  readonly tokens: Tokens;
}

/** Of a run that has no parent in the record, by what the run itself says of its first one. */
export function familyFor(
  families: Map<string, Family>,
  { root, limits }: Bodies["agent_started"],
  run: string,
): Family {
  const first = root?.run ?? run;
  const known = families.get(first);
  if (known !== undefined) {
    known.members += 1;
    return known;
  }
  const tokens = { input: 0, output: 0, total: 0 };
  const own = root?.limits ?? limits;
  const family: Family = { limits: own, members: 1, steps: 0, calls: 0, ms: 0, tokens };
  families.set(first, family);
  return family;
}

export function spend(tokens: Tokens, more: Readonly<Tokens>): void {
  tokens.input += more.input;
  tokens.output += more.output;
  tokens.total += more.total;
}

/** The first of the token limits that `used`, with `aside` more, does not keep; null when there is none. */
export function overTokens(limits: Limits, used: Readonly<Tokens>, aside: number): string | null {
  for (const kind of ["input", "output", "total"] as const) {
    const limit = limits[`max_${kind}_tokens`];
    if (limit === null || used[kind] + aside <= limit) continue;
    return `${used[kind] + aside} of ${limit} ${kind} tokens`;
  }
  return null;
}
