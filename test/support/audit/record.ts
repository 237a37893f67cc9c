/** Records to audit: what real hosts wrote, exported. */

import { type AuditReport, auditBundle, exportBundle } from "../../../src/audit/index.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { type Host, partsOf } from "../../../src/host/index.ts";
import type { Run } from "../../../src/run/index.ts";
import {
  asked,
  type Bank,
  bank,
  begin,
  CHECK,
  fence,
  hostAt,
  INPUTS,
  type Options,
  pay,
  READ,
  recipeOf,
} from "../gate.ts";
import { decision, KEYS, trust, trustDocument } from "../host.ts";
import { type Files, memorySource, memoryWriter } from "./bundle.ts";

export interface Recorded {
  readonly files: Files;
  /** What the auditor brings along. */
  readonly trust: JsonValue;
}

export interface Recording extends Recorded {
  readonly run: Run;
}

/** One read, one fence, two effects behind it. */
export const READ_AND_TWO = recipeOf([
  READ,
  { ...CHECK, after: ["balance"] },
  fence(["one", "two"]),
  pay("one", ["fence"], {}, { key: { op: "concat", values: [{ input: "account" }, "-1"] } }),
  pay("two", ["one"], {}, { key: { op: "concat", values: [{ input: "account" }, "-2"] } }),
]);

export async function exported(host: Host): Promise<Files> {
  const { files, writer } = memoryWriter();
  const { journal } = partsOf(host);
  await journal.seal();
  await exportBundle(journal, writer);
  return files;
}

/** A run that reads, waits for one approval of both payments, and pays twice. */
export async function paidTwice(change: Options = {}): Promise<Recording> {
  const own = change.trust ?? trust();
  const host = await hostAt(null, bank(), { ...change, trust: own });
  const run = await payTwice(host);
  const files = await exported(host);
  await host.close();
  return { files, trust: own, run };
}

export async function payTwice(host: Host, inputs = INPUTS): Promise<Run> {
  const { run } = await begin(host, READ_AND_TWO, inputs);
  await run.advanceAsync(host, { approval: decision(asked(run), KEYS.alice, "alice") });
  if (run.state !== "verified") throw new Error(JSON.stringify(run.report));
  return run;
}

/** The smallest record of an effect: a trust store of no more keys than it needs, one payment, one approval. */
export async function paidOnce(): Promise<Recording> {
  const needed = ["journal", "receipt", "approver", "tool_reviewer"];
  const keys = trustDocument().keys.filter(
    ({ role, name }) => needed.includes(role) && name !== "bob",
  );
  const own = trust({ keys });
  const { pay: paying, tools } = bank();
  const effects = tools.filter(({ tool }) => tool === paying.tool);
  const host = await hostAt(null, { tools: effects }, { trust: own });
  const { run } = await begin(host);
  await run.advanceAsync(host, { approval: decision(asked(run), KEYS.alice, "alice") });
  const files = await exported(host);
  await host.close();
  return { files, trust: own, run };
}

/** Any run of a host of its own, played to wherever `play` leaves it, exported. */
export async function record(
  change: Options,
  play: (host: Host, of: Bank) => Promise<void>,
  of: Bank = bank(),
): Promise<Recorded> {
  const own = change.trust ?? trust();
  const host = await hostAt(null, of, { ...change, trust: own });
  await play(host, of);
  const files = await exported(host);
  await host.close();
  return { files, trust: own };
}

export function audit({ files, trust: own }: Recorded, anchors?: readonly string[]) {
  const options = anchors === undefined ? { trust: own } : { trust: own, anchors };
  return auditBundle(memorySource(files), options);
}

/** Codes of what was found, sorted. */
export function codesOf(report: AuditReport): readonly string[] {
  return Object.keys(report.codes).sort();
}
