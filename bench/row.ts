/**
 * One measurement beside others. `method` is what was measured ("rote" for ours); every other column is a number, a
 * text that says which case it is, or null for "could not be measured".
 */
export interface Row {
  readonly method: string;
  readonly [column: string]: string | number | null;
}

/** What a file `bench/<name>.ts` exports. */
export interface Bench {
  readonly name: string;
  rows(): Promise<readonly Row[]>;
}
