/** What operations reserved, added up again from the beginning, against the limits that they were admitted under. */
import type { Operation } from "../model/operation.ts";
import { amountOf, countsOf } from "../policy/budget.ts";
import type { Count } from "../ports/journal.ts";
import type { Bodies } from "./bodies.ts";
import { type Context, type Placed, placeOf, report } from "./context.ts";
import type { Judged } from "./judgement.ts";
import type { RunAudit } from "./run-state.ts";

type Reserved = Bodies["admitted"]["reserved"];

export interface Budgets {
  reserve(
    run: RunAudit,
    placed: Placed,
    operation: Operation,
    reserved: Reserved,
    judged: Judged,
  ): Promise<void>;
  giveBack(run: RunAudit, reserved: Reserved): void;
  /** As `giveBack`, when the run is gone: its own totals went with it. */
  giveBackLater(reserved: Reserved): void;
}

export function createBudgets(context: Context): Budgets {
  /** Totals over all runs: a few per currency and warrant. */
  const totals = new Map<string, bigint>();

  function ofRun(run: string, counter: string): boolean {
    return counter.startsWith(`budget/run/${run}/`);
  }

  function add(run: RunAudit, counter: string, amount: bigint): bigint {
    const map = ofRun(run.id, counter) ? run.totals : totals;
    const total = (map.get(counter) ?? 0n) + amount;
    map.set(counter, total);
    return total;
  }

  async function expectedFor(
    placed: Placed,
    operation: Operation,
    { review, warrant }: Judged,
  ): Promise<readonly Count[] | undefined> {
    const budget = await context.documents.budget(operation.budget, placeOf(placed));
    if (budget === undefined || review === undefined) return undefined;
    const { category } = operation.tool;
    const amount = amountOf(review, operation.arguments);
    if (!amount.ok) {
      report(context, placed, "budget_differs", amount.error);
      return undefined;
    }
    const counts = countsOf(budget, operation.run, category, amount.value);
    if (operation.warrant === null) return counts;
    if (warrant === undefined) return undefined;
    const most = category === "effect" ? warrant.maxEffects : warrant.maxReads;
    const counter = `warrant/${warrant.root}/${category}s`;
    return [...counts, { counter, add: 1n, limit: BigInt(most) }];
  }

  return {
    async reserve(run, placed, operation, reserved, judged) {
      const sums = reserved.map(({ counter, add: amount }) => add(run, counter, BigInt(amount)));
      const expected = await expectedFor(placed, operation, judged);
      if (expected === undefined) return;
      if (!isSame(expected, reserved)) {
        const wanted = expected.map((each) => ({ ...each, add: String(each.add) }));
        const message = `it costs ${shown(wanted)}, and ${shown(reserved)} was reserved`;
        report(context, placed, "budget_differs", message);
        return;
      }
      expected.forEach(({ counter, limit }, at) => {
        const total = sums[at] ?? 0n;
        if (limit === null || total <= limit) return;
        report(context, placed, "budget_exceeded", `${counter} is ${total} of ${limit}`);
      });
    },

    giveBack(run, reserved) {
      for (const { counter, add: amount } of reserved) add(run, counter, -BigInt(amount));
    },

    giveBackLater(reserved) {
      for (const { counter, add: amount } of reserved) {
        const total = totals.get(counter);
        if (total !== undefined) totals.set(counter, total - BigInt(amount));
      }
    },
  };
}

function isSame(expected: readonly Count[], reserved: Reserved): boolean {
  return (
    expected.length === reserved.length &&
    expected.every(({ counter, add }, at) => {
      const other = reserved[at];
      return other?.counter === counter && other.add === String(add);
    })
  );
}

function shown(reserved: Reserved): string {
  return reserved.map(({ counter, add }) => `${counter} +${add}`).join(", ");
}
