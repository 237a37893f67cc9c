/** The host's chain: its opening, trust stores, decisions of approvers, reconciliations. */
import type { JsonValue } from "../base/json.ts";
import { PAYLOAD_TYPES, reconciliationSchema } from "../model/trust.ts";
import { openByRole } from "../trust/role-document.ts";
import type { Bodies } from "./bodies.ts";
import type { Budgets } from "./budgets.ts";
import { readCanonical } from "./canonical.ts";
import { type Context, type Placed, placeOf, report } from "./context.ts";
import { judgeDecision, judgeLate } from "./requests.ts";
import type { Admission } from "./run-state.ts";
import type { Runs } from "./runs.ts";
import type { Seen } from "./seen.ts";

export interface HostChain {
  /** Takes the next entry of the chain, whose form was checked. */
  take(placed: Placed): Promise<void>;
  /** An operation whose outcome nobody knows, until it is reconciled. */
  uncertain(run: string, admission: Admission): void;
}

interface Open {
  readonly run: string;
  readonly reserved: Admission["reserved"];
  readonly naturalKey: string | null;
}

export interface HostParts {
  readonly context: Context;
  readonly runs: () => Runs;
  readonly budgets: Budgets;
  readonly naturalKeys: Seen;
  /** True for the id of a run that has ended. */
  readonly hasEnded: (run: string) => boolean;
}

export function createHostChain(parts: HostParts): HostChain {
  const { context, budgets, naturalKeys } = parts;
  /** By operation: rare, so all are remembered. */
  const open = new Map<string, Open>();

  async function adopt(placed: Placed, body: Bodies["trust"]): Promise<void> {
    const envelope = await envelopeIn(context, placed, body);
    context.counts.trust_versions += 1;
    if (envelope === undefined) return;
    context.keys.adopt(envelope, body.digest, (code, message) =>
      report(context, placed, code, message),
    );
    const version = context.keys.inForce()?.document.version;
    if (version !== undefined && version !== body.version) {
      const message = `the entry calls it version ${body.version}, and it is ${version}`;
      report(context, placed, "body_malformed", message);
    }
  }

  async function decide(placed: Placed, body: Bodies["approval_received"]): Promise<void> {
    const envelope = await envelopeIn(context, placed, body);
    const found = parts.runs().requestBy(body.nonce);
    if (found === undefined && parts.hasEnded(body.run)) {
      if (envelope !== undefined) judgeLate(context, placed, body, envelope);
    } else if (found === undefined || found.run.id !== body.run) {
      const message = `no request ${body.nonce} of the run ${body.run} is on record before it`;
      report(context, placed, "decision_refused", message);
    } else if (envelope !== undefined) {
      judgeDecision(context, placed, found.run, found.request, body, envelope);
    }
  }

  function reconcile(placed: Placed, body: Bodies["reconciled"]): void {
    context.counts.reconciliations += 1;
    const refuse = (message: string) => report(context, placed, "reconciliation_refused", message);
    const trust = context.keys.at(placed.index);
    if (trust === undefined)
      return refuse("no trust store that the auditor vouches for is in force");
    const opened = openByRole(
      body.envelope,
      PAYLOAD_TYPES.reconciliation,
      reconciliationSchema,
      trust,
      "reconciler",
      placed.seconds,
    );
    if (!opened.ok) return refuse(`the reconciliation is refused: ${opened.error}`);
    context.counts.signatures += 1;
    const { document, holder, digest } = opened.value;
    if (digest !== body.digest) refuse(`the entry calls it ${body.digest}, and it is ${digest}`);
    if (holder.name !== document.reconciler)
      refuse(`${holder.name} signed for ${document.reconciler}`);
    if (document.audience !== context.keys.origin) refuse(`it is for ${document.audience}`);
    const found = open.get(document.operation);
    if (found === undefined || found.run !== document.run) {
      return refuse(`${document.operation} is no uncertain operation of the run ${document.run}`);
    }
    open.delete(document.operation);
    if (document.found === "done") return;
    budgets.giveBackLater(found.reserved);
    if (found.naturalKey !== null) naturalKeys.delete(found.naturalKey);
  }

  return {
    async take(placed) {
      const { type, seq, body } = placed.entry;
      const start = seq === 0 ? "host_opened" : seq === 1 ? "trust" : type;
      if (type !== start || (type === "host_opened" && seq > 0)) {
        report(context, placed, "host_start", `entry ${seq} of the host's chain is a ${type}`);
      }
      switch (type) {
        case "host_opened": {
          const { audience } = body as JsonValue & Bodies["host_opened"];
          if (audience !== context.keys.origin) {
            const message = `the record is of ${audience}, the auditor's trust store for ${context.keys.origin}`;
            report(context, placed, "other_host", message);
          }
          return;
        }
        case "trust":
          return adopt(placed, body as JsonValue & Bodies["trust"]);
        case "approval_received":
          return decide(placed, body as JsonValue & Bodies["approval_received"]);
        case "reconciled":
          return reconcile(placed, body as JsonValue & Bodies["reconciled"]);
        default:
          return;
      }
    },
    uncertain(run, { digest, reserved, naturalKey }) {
      open.set(digest, { run, reserved, naturalKey });
    },
  };
}

/** An envelope in a body, or in the blob that the body names. */
async function envelopeIn(
  context: Context,
  placed: Placed,
  body: { readonly envelope?: JsonValue; readonly envelope_blob?: string },
): Promise<JsonValue | undefined> {
  const { envelope, envelope_blob: blob } = body;
  if (blob === undefined) return envelope;
  const bytes = await context.blobs.read(blob, placeOf(placed), "an envelope");
  const json = bytes === undefined ? undefined : readCanonical(bytes);
  if (json?.ok === true) return json.value;
  if (json !== undefined)
    report(context, placed, "blob_differs", "an envelope is not canonical JSON");
  return undefined;
}
