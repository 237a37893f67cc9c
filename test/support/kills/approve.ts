import type { Host } from "../../../src/host/index.ts";
import { decision, KEYS } from "../host.ts";

/** Alice approves everything that waits. */
export async function approveAll(host: Host): Promise<void> {
  for (const request of host.pendingRequests()) {
    const { run, node, nonce, display, text, expires } = request;
    const operations = request.operations.map(({ digest }) => digest);
    const asked = { run, node, audience: host.origin, nonce, operations, display, text, expires };
    const envelope = decision({ ...asked, required: 1, replaces: null }, KEYS.alice, "alice");
    await host.fileDecision(envelope);
  }
}
