/**
 * A process of a case: says `ready`, gets an order, does it as far as it goes, and reports. It may be killed anywhere,
 * by itself at a place of its order or by its parent at any time.
 */
import { once } from "node:events";
import { type Order, obey } from "./obey.ts";

process.once("message", (order: Order) => {
  obey(order, toBeApproved).then(
    (report) => process.send?.(report, () => process.exit(0)),
    (error: unknown) => {
      process.stderr.write(`${String(error instanceof Error ? error.stack : error)}\n`);
      process.exit(1);
    },
  );
});
process.send?.("ready");

async function toBeApproved(): Promise<void> {
  process.send?.("waiting");
  await once(process, "message");
}
