import { describe, expect, it } from "vitest";
import { auditBundle, formatAudit, sourceOf } from "../../../src/audit/index.ts";
import { partsOf } from "../../../src/host/index.ts";
import { memorySource } from "../../support/audit/bundle.ts";
import { entriesIn, forged } from "../../support/audit/forge.ts";
import { audit, exported, paidOnce, paidTwice, payTwice } from "../../support/audit/record.ts";
import { bank, hostAt } from "../../support/gate.ts";
import { trust } from "../../support/host.ts";

describe("the record of an honest host", () => {
  it("has no finding, and says what was looked at", async () => {
    const report = await audit(await paidTwice());
    expect(report.findings).toEqual([]);
    expect(report).toMatchObject({
      clean: true,
      origin: "tests.example/journal",
      trust: { version: 1 },
      covered: 13,
      anchors: 0,
      omitted: 0,
      codes: {},
    });
    expect(report.counts).toMatchObject({
      entries: 13,
      runs: { started: 1, open: 0, ended: { verified: 1, uncertain: 0 } },
      admissions: { read: 1, effect: 2 },
      receipts: { done: 3, refused: 0 },
      approvals: { requests: 1, approved: 1, rejected: 0, late: 0, used: 2 },
      trust_versions: 1,
      heads: 1,
    });
  });

  it("is audited where it is as it is when it was exported", async () => {
    const own = trust();
    const host = await hostAt(null, bank(), { trust: own });
    await payTwice(host);
    const files = await exported(host);
    const there = await auditBundle(sourceOf(partsOf(host).journal), { trust: own });
    await host.close();
    expect(there).toEqual(await audit({ files, trust: own }));
    expect(there.clean).toBe(true);
  });

  it("is told to people with what was not seen", async () => {
    const text = formatAudit(await audit(await paidTwice()));
    expect(text).toContain("ok: the record of tests.example/journal holds\n");
    expect(text).toContain("entries      13, of which signed tree heads cover 13\n");
    expect(text).toContain("receipts     3 done\n");
    expect(text).toContain("unanchored   no tree head from outside");
  });

  it("can be forged by nobody but its own keys: written again with them, it is the same", async () => {
    const { files, trust: own } = await paidTwice();
    const again = forged(files, entriesIn(files));
    expect([...again.keys()].sort()).toEqual([...files.keys()].sort());
    for (const [name, bytes] of files) expect(again.get(name), name).toEqual(bytes);
    expect((await auditBundle(memorySource(again), { trust: own })).clean).toBe(true);
  });

  it("of one payment fits into 16 KB", async () => {
    const { files, trust: own } = await paidOnce();
    const bytes = [...files.values()].reduce((sum, each) => sum + each.byteLength, 0);
    expect(bytes).toBeLessThan(16_384);
    expect((await audit({ files, trust: own })).clean).toBe(true);
  });
});
