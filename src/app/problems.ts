import { pointer } from "../base/pointer.ts";

/** As schemas tell of it. */
export interface Problems {
  readonly issues: readonly {
    readonly path: readonly PropertyKey[];
    readonly message: string;
  }[];
}

/** What a schema finds wrong, each with its place as a JSON Pointer. */
export function problemsIn({ issues }: Problems): readonly string[] {
  return issues.map(({ path, message }) => `${pointer(...path.map(String))}: ${message}`);
}
