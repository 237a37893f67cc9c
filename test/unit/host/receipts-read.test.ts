/** What a run goes on with is what this host once signed about exactly this operation, in this place of this run. */
import { expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { partsOf, receiptIn } from "../../../src/host/index.ts";
import type { Entry } from "../../../src/model/journal.ts";
import { bank, begin, hostAt, OPEN, refusal } from "../../support/gate.ts";

it("a receipt of another run, admission, operation, outcome or result is no receipt here", async () => {
  const host = await hostAt(null, bank(), OPEN);
  const { run } = await begin(host);
  const parts = partsOf(host);
  const entry = parts.journal.read(run.id).find((one) => one.entry.type === "receipt")?.entry;
  if (entry === undefined) throw new Error("nothing was done");
  const read = (change: Partial<Entry>) =>
    refusal(Promise.resolve().then(() => receiptIn(parts, { ...entry, ...change })));
  expect(await read({})).toBe("not refused");
  expect(await read({ chain: "run-other" })).toBe("journal_damaged");
  const body = entry.body as { readonly [member: string]: JsonValue };
  for (const [member, value] of [
    ["admission", Number(body["admission"]) + 1],
    ["admission", null],
    ["operation", `sha256:${"0".repeat(64)}`],
    ["outcome", "uncertain"],
    ["result", "paid nothing"],
    ["envelope", null],
  ] as const) {
    expect([member, await read({ body: { ...body, [member]: value } })]).toEqual([
      member,
      "journal_damaged",
    ]);
  }
  await host.close();
});
