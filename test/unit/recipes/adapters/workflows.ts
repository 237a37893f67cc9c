/** Records of a test as the one engagement of a workflow, all of them in its sample, tested by a run at a real host. */

import type { JsonValue } from "../../../../src/base/json.ts";
import type { Workflow } from "../../../../src/model/workflows.ts";
import {
  approveAll,
  boundTo,
  entriesIn,
  hostIn,
  prepareWith,
  type Row,
  resultOf,
} from "../../../support/workflows.ts";

/** A record with the amount that its engagement names it by. */
export interface Listed {
  readonly record: { readonly id: string; readonly [member: string]: JsonValue };
  readonly amount: string;
}

type Members = { readonly [member: string]: JsonValue };

export function engagementOf(
  id: string,
  work: Workflow,
  listed: readonly Listed[],
  change: Members = {},
) {
  return {
    id,
    work,
    title: "all of it",
    authorised: { by: "partner", on: "2025-01-01" },
    population: listed.map(({ record, amount }) => ({ id: record.id, amount })),
    sample: { seed: "any", size: String(listed.length) },
    ...change,
  };
}

/** The rows that testing the records gives; each is in the workpaper when this returns. */
export async function rowsOf(
  folder: string,
  work: Workflow,
  listed: readonly Listed[],
  change: Members = {},
): Promise<readonly Row[]> {
  const evidence = listed.map(({ record }) => record);
  const engagements = [engagementOf("own", work, listed, change)];
  const [inputs = {}] = prepareWith(folder, { evidence, engagements });
  const at = await hostIn(folder);
  try {
    const { procedure, environment } = boundTo(at.host, work);
    const run = procedure.start(inputs, { environment });
    await approveAll(run, at.host);
    const rows = resultOf(run).rows.map(({ row }) => row);
    const entries = await entriesIn(at);
    if (
      JSON.stringify(entries.map(({ key }) => key)) !== JSON.stringify(rows.map(({ key }) => key))
    )
      throw new Error("the workpaper does not hold the rows");
    return rows;
  } finally {
    await at.close();
  }
}
