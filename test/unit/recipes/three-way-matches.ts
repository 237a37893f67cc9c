import { expect } from "vitest";
import { finish, type Inputs, shippedProcedure, startOptions } from "../../support/recipes.ts";

export const NAME = "three-way-match";
export const procedure = shippedProcedure(NAME);

export interface Finding {
  readonly kind: string;
  readonly line?: string;
  readonly invoice_line?: string;
  readonly left: string;
  readonly right: string;
  readonly difference?: string;
  readonly message: string;
}

interface Match {
  readonly order: string;
  readonly invoice?: string;
  readonly matched: boolean;
  readonly comparisons: string;
  readonly findings: readonly Finding[];
}

export function matchOf(inputs: Inputs): Match {
  const run = finish(procedure.start(inputs, startOptions), NAME);
  expect(run.report.failure).toBeNull();
  expect(run.report.independently_verified).toBe(true);
  return run.result as unknown as Match;
}

export function findingsOf(inputs: Inputs): readonly Finding[] {
  return matchOf(inputs).findings;
}
