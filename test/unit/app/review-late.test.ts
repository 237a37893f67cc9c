import { expect, it } from "vitest";
import { alreadyDecided, reviewRequest } from "../../../src/app/review-request.ts";
import { hostOf, partsOf, requestsIn } from "../../../src/host/index.ts";
import type { Journal } from "../../../src/ports/journal.ts";
import { asked, bank, begin, hostAt, refusal } from "../../support/gate.ts";
import { decision, KEYS } from "../../support/host.ts";

it("a rejection that the payment has overtaken is told as what it is: the request was used, and nothing was stopped (B017)", async () => {
  const of = bank();
  const whole = await hostAt(null, of);
  const parts = partsOf(whole);
  const { run } = await begin(whole);
  const no = decision(asked(run), KEYS.bob, "bob", { decision: "reject" });
  await whole.fileDecision(decision(asked(run), KEYS.alice, "alice"));
  const journal: Journal = {
    ...parts.journal,
    async append(request) {
      // The run goes on while this rejection is about to be filed.
      expect(await run.advanceAsync(whole)).toBe("verified");
      return parts.journal.append(request);
    },
  };
  const late = hostOf({ ...parts, journal }).fileDecision(no);
  expect(await refusal(late)).toBe("approval_refused: already_decided");
  const entries = parts.journal.read(run.id);
  const [request] = requestsIn(parts.journal, entries);
  if (request === undefined) throw new Error("no request");
  const told = reviewRequest({ parts, toolReviews: [] }, request, entries);
  expect(told).toMatchObject({
    status: "used",
    decisions: [
      { approver: "alice", decision: "approve", counts: true },
      { approver: "bob", decision: "reject", counts: false },
    ],
  });
  expect(alreadyDecided(told).message).toContain("What was approved has been admitted.");
  await whole.close();
});
