import { expect, it } from "vitest";
import { hostOf, partsOf } from "../../../src/host/index.ts";
import { requestsIn } from "../../../src/host/index.ts";
import { reviewRequest } from "../../../src/app/review-request.ts";
import type { Journal } from "../../../src/ports/journal.ts";
import { asked, bank, begin, hostAt, refusal, ONE_PAYMENT, directories } from "../../support/gate.ts";
import { decision, KEYS, trust, nowSeconds } from "../../support/host.ts";
import { auditHost } from "../../../src/app/audit.ts";
import { openReview } from "../../../src/app/review.ts";
import { HOST_CHAIN } from "../../../src/model/journal.ts";

const places = directories();

it("late rejection status", async () => {
  const of = bank();
  const whole = await hostAt(null, of);
  const parts = partsOf(whole);
  const { run } = await begin(whole);
  const request = asked(run);
  const no = decision(request, KEYS.bob, "bob", { decision: "reject" });
  await whole.fileDecision(decision(request, KEYS.alice, "alice"));
  const journal: Journal = {
    ...parts.journal,
    async append(r) {
      expect(await run.advanceAsync(whole)).toBe("verified");
      return parts.journal.append(r);
    },
  };
  console.log(await refusal(hostOf({ ...parts, journal }).fileDecision(no)));
  const entries = parts.journal.read(run.id);
  const [open] = requestsIn(parts.journal, entries);
  const told = reviewRequest({ parts, toolReviews: [] }, open!, entries);
  console.log(told.status, told.decisions);
  const report = await auditHost(whole, { trust: trust() });
  console.log(report.clean, report.findings, report.counts.approvals);
});

it("identity key under another name blocks the real approver at the reviewer's side", async () => {
  const directory = places.fresh();
  const of = bank();
  const { textOf } = await import("../../support/trust.ts");
  const host = await hostAt(directory, of, { identity: { name: "agent", key: textOf(KEYS.alice) } });
  const { run } = await begin(host);
  const review = await openReview({ directory, trust: trust() });
  await review.file(review.sign(review.pending()[0]!, KEYS.alice, { approver: "alice", decision: "approve" }));
  console.log("pending", review.pending().length, review.find(asked(run).nonce).status);
  console.log(await run.advanceAsync(host));
  console.log(await refusal((async () => review.file(decision(asked(run), KEYS.bob, "bob")))()));
  console.log(await refusal(host.fileDecision(decision(asked(run), KEYS.bob, "bob"))));
  console.log(await run.advanceAsync(host));
  await review.close();
  await host.close();
});

it("n of m with lapsing, flood", async () => {
  const of = bank();
  const host = await hostAt(null, of, { policy: { version: 1, id: "t", profile: "standard", grants: [], approvable: [], deny: [], approvals: { required: 2, requester_may_approve: false } } });
  const { run } = await begin(host);
  const many = Array.from({ length: 50 }, () => decision(asked(run), KEYS.alice, "alice"));
  const res = await Promise.all([...many.map((m) => refusal(host.fileDecision(m))), refusal(host.fileDecision(decision(asked(run), KEYS.bob, "bob")))]);
  console.log(res.filter((x) => x === "not refused").length, partsOf(host).journal.read(HOST_CHAIN).filter((e) => e.entry.type === "approval_received").length);
  console.log(await run.advanceAsync(host));
  const report = await auditHost(host, { trust: trust() });
  console.log(report.clean, report.findings);
});
