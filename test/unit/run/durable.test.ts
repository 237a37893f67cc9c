import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createHost } from "../../../src/app/create-host.ts";
import { Procedure } from "../../../src/app/procedure.ts";
import { bindRecipe } from "../../../src/compile/index.ts";
import type { Host } from "../../../src/host/index.ts";
import { decision, hostOptions, KEYS, madeTool, registration } from "../../support/host.ts";
import { PAY_TWICE, PAY_TWICE_VERIFIER } from "../../support/pay-twice.ts";

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0))
    rmSync(directory, { recursive: true, force: true });
});

function fresh(): string {
  const directory = mkdtempSync(path.join(tmpdir(), "rote-durable-"));
  directories.push(directory);
  return path.join(directory, "store");
}

function tools() {
  const balance = madeTool("bank.balance", () => ({ kind: "done", result: { amount: "1000" } }));
  const pay = madeTool("bank.pay", (_, count) => ({ kind: "done", result: `paid ${count}` }));
  return { balance, pay, registered: [registration(balance, "read"), registration(pay, "effect")] };
}

function procedureAt(host: Host): Procedure {
  const verifier = PAY_TWICE_VERIFIER;
  const unbound = new Procedure(PAY_TWICE, { verifier });
  return new Procedure(bindRecipe(PAY_TWICE, host.environment(unbound.plan)), { verifier });
}

describe.each(["sqlite", "memory"])("a run at a host (%s)", (kind) => {
  it("reads, waits for one approval of both effects, and does each once", async () => {
    const { balance, pay, registered } = tools();
    const host = await createHost(hostOptions(kind === "sqlite" ? fresh() : null, registered));
    const procedure = procedureAt(host);
    const environment = host.environment(procedure.plan);
    const run = procedure.start({ account: "7" }, { environment });
    expect(await run.advanceAsync(host, { environment })).toBe("awaiting_approval");
    const request = run.pendingRequest;
    if (request === null) throw new Error("nothing to approve");
    expect(request.operations).toHaveLength(2);
    expect(pay.calls).toHaveLength(0);
    const approval = decision(request, KEYS.alice, "alice");
    expect(await run.advanceAsync(host, { environment, approval })).toBe("verified");
    expect(run.result).toBe("paid 1+paid 2");
    expect(balance.calls).toHaveLength(1);
    expect(pay.calls).toHaveLength(2);
    expect(run.receipts).toHaveLength(3);
    await host.close();
  });
});

describe("a run in another process", () => {
  it("goes on where it waited, with the approval that was filed meanwhile", async () => {
    const directory = fresh();
    const before = tools();
    const first = await createHost(hostOptions(directory, before.registered));
    const run = procedureAt(first).start(
      { account: "8" },
      { environment: first.environment(procedureAt(first).plan) },
    );
    expect(await run.advanceAsync(first)).toBe("awaiting_approval");
    await run.closeAsync();
    await first.close();

    const other = await createHost(hostOptions(directory, before.registered));
    const [open] = other.pendingRequests();
    if (open === undefined) throw new Error("nothing waits");
    const resumed = await procedureAt(other).resume(other, run.id);
    const request = resumed.pendingRequest;
    if (request === null) throw new Error("nothing to approve");
    expect(request.text).toBe(open.text);
    await other.fileDecision(decision(request, KEYS.bob, "bob"));
    expect(await resumed.advanceAsync(other)).toBe("verified");
    expect(before.balance.calls).toHaveLength(1);
    expect(before.pay.calls).toHaveLength(2);
    expect(resumed.report.broker_attempts).toBe(3);
    const again = await procedureAt(other).resume(other, run.id);
    expect(again.state).toBe("verified");
    expect(again.result).toBe("paid 1+paid 2");
    await other.close();
  });
});
