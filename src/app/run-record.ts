/** What a host's journal has about one run, for people and programs that look at it. Reads only. */
import { readEnvelope } from "../base/dsse.ts";
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import { ownerInWords } from "../base/owner.ts";
import {
  type Body,
  type FrozenOperation,
  type Host,
  type HostParts,
  isUndecided,
  kept,
  type OpenRequest,
  openRequestsIn,
  operationOf,
  partsOf,
  receiptIn,
  verdictOn,
} from "../host/index.ts";
import { type Appended, type EntryType, HOST_CHAIN } from "../model/journal.ts";
import { type Reconciliation, reconciliationSchema } from "../model/trust.ts";
import { readDocument } from "../trust/signed-document.ts";

export interface RunRecord {
  readonly run: string;
  /** Empty for an agent's run, and so are plan and verifier. */
  readonly recipe: string;
  readonly plan: string;
  readonly verifier: string;
  readonly mode: string;
  readonly identity: string;
  /** Where it ended, `awaiting_approval`, or `open`: running somewhere, waiting for an answer, or left behind. */
  readonly state: string;
  readonly reason: string | null;
  /** Why it ended otherwise than verified, in words. */
  readonly message: string | null;
  /** Milliseconds since 1970 UTC. */
  readonly started_ms: number;
  readonly updated_ms: number;
  readonly entries: readonly TimelineEntry[];
  readonly requests: readonly OpenRequest[];
  readonly uncertain: readonly UncertainOperation[];
}

export interface TimelineEntry {
  /** The run's own chain, or `host` for what was filed about it. */
  readonly chain: "run" | "host";
  readonly seq: number;
  /** Milliseconds since 1970 UTC. */
  readonly time: number;
  readonly type: EntryType;
  readonly what: string;
}

export interface UncertainOperation {
  readonly frozen: FrozenOperation;
  /** What somebody found out about it and signed; null as long as nobody has. */
  readonly found: string | null;
}

/** @throws RoteError `unknown_run` `journal_damaged` */
export function recordOf(host: Host, run: string): RunRecord {
  const parts = partsOf(host);
  const entries = entriesOf(parts, run);
  const first = entries[0]?.entry;
  const last = entries.at(-1)?.entry;
  const started = (first?.body ?? {}) as Body;
  const end = entries.findLast(({ entry }) => entry.type === "run_ended")?.entry.body as
    | Body
    | undefined;
  const requests = openRequestsIn(parts.journal, entries).filter((one) => isUndecided(parts, one));
  const filed = filedAbout(parts, run);
  const failure = (end?.["failure"] ?? null) as Body | null;
  const waiting = requests.length > 0 ? "awaiting_approval" : "open";
  return {
    run,
    recipe: String(started["recipe"] ?? ""),
    plan: String(started["plan"] ?? ""),
    verifier: String(started["verifier"] ?? ""),
    mode: String(started["mode"]),
    identity: String(started["identity"]),
    state: end === undefined ? waiting : String(end["state"]),
    reason: end === undefined ? null : String(end["reason"]),
    message: failure === null ? null : String(failure["message"]),
    started_ms: first?.time ?? 0,
    updated_ms: last?.time ?? 0,
    entries: [...timelineOf(parts, entries), ...filed.map(({ row }) => row)].sort(
      (left, right) => left.index - right.index,
    ),
    requests,
    uncertain: uncertainIn(parts, run, entries).map((frozen) => ({
      frozen,
      found: filed.find(({ operation }) => operation === frozen.digest)?.found ?? null,
    })),
  };
}

/** Operations of a run whose outcome is not known, and about which nothing was filed. @throws RoteError `unknown_run` */
export function unreconciled(host: Host, run: string): readonly FrozenOperation[] {
  return recordOf(host, run).uncertain.flatMap(({ frozen, found }) =>
    found === null ? [frozen] : [],
  );
}

/** Requests of a run that still wait for a decision. */
export function undecidedRequests(host: Host, run: string): readonly OpenRequest[] {
  const parts = partsOf(host);
  return openRequestsIn(parts.journal, parts.journal.read(run)).filter(
    (request) => verdictOn(parts, request).kind === "waiting",
  );
}

/** @throws RoteError `unknown_run` */
export function entriesOf({ journal }: Pick<HostParts, "journal">, run: string) {
  // The host's own chain is no run.
  const entries = run === HOST_CHAIN ? [] : journal.read(run);
  if (entries.length > 0) return entries;
  throw new RoteError("unknown_run", `There is no run ${JSON.stringify(run)} in the journal.`, {
    run,
  });
}

interface Row extends TimelineEntry {
  readonly index: number;
}

function timelineOf(parts: HostParts, entries: readonly Appended[]): readonly Row[] {
  const operations = new Map<string, Body>();
  return entries.map(({ entry, index }) => {
    const { seq, time, type } = entry;
    const body = entry.body as Body;
    if (type === "admitted") operations.set(String(body["digest"]), operationIn(parts, body));
    const what = wordsFor(parts, entry, operations);
    return { chain: "run", seq, time, type, what, index };
  });
}

function operationIn({ journal }: HostParts, body: Body): Body {
  const operation = body["operation"] as Body;
  const { blob } = operation;
  if (typeof blob !== "string") return operation;
  return kept(journal, { operation_blob: blob }, "operation") as Body;
}

function wordsFor(
  parts: HostParts,
  entry: Appended["entry"],
  operations: ReadonlyMap<string, Body>,
): string {
  const body = entry.body as Body;
  const text = (name: string) => String(body[name]);
  switch (entry.type) {
    case "run_started":
      return `${text("recipe")}, ${text("mode")}, as ${text("identity")}`;
    case "run_resumed":
      return `by ${ownerInWords(text("owner"))}`;
    case "model_answered":
      return `${placeIn(body)} (${text("source")})`;
    case "agent_started":
      return `agent with ${(body["tools"] as readonly unknown[]).length} tools, as ${text("identity")}`;
    case "agent_asked":
      return `turn ${text("step")}, attempt ${text("attempt")}`;
    case "agent_replied":
      return `turn ${text("step")}`;
    case "agent_unanswered":
      return `turn ${text("step")}: ${text("message")} [${text("kind")}]`;
    case "agent_marked":
      return `turn ${text("step")}`;
    case "approval_requested": {
      const expires = body["expires"];
      const until =
        typeof expires === "number" ? `, until ${new Date(expires * 1000).toISOString()}` : "";
      const operations = body["count"] === 1 ? "1 operation" : `${text("count")} operations`;
      return `${text("node")}: ${operations} as ${text("nonce")}${until}`;
    }
    case "approved":
      return text("node");
    case "admitted": {
      const operation = operations.get(text("digest")) ?? {};
      const approvers = (body["approvals"] as readonly Body[]).map((one) => one["approver"]);
      const who = approvers.length === 0 ? "" : `, approved by ${approvers.join(" and ")}`;
      return `${toolCall(operation)}${who}`;
    }
    case "receipt": {
      const { node, index, call, outcome, refusal } = receiptIn(parts, entry);
      const why = refusal === null ? "" : `: ${refusal.message} [${refusal.code}]`;
      return `${outcome} ${placeIn({ node, index, call })}${why}`;
    }
    case "checkpointed":
      return text("node");
    case "run_ended": {
      const failure = body["failure"] as Body | null;
      return `${text("state")} (${text("reason")})${failure === null ? "" : `: ${String(failure["message"])}`}`;
    }
    default:
      return "";
  }
}

function toolCall(operation: Body): string {
  const tool = (operation["tool"] ?? {}) as Body;
  const attempt = Number(operation["attempt"] ?? 1);
  const again = attempt > 1 ? `, attempt ${attempt}` : "";
  return `${placeIn(operation)}: ${String(tool["category"])} ${String(tool["name"])}${again}`;
}

function placeIn(body: Body): string {
  const { node, index, call } = body;
  if (typeof call === "number") return `${String(node)} call ${call}`;
  return typeof index === "number" ? `${String(node)}[${index}]` : String(node);
}

interface Filed {
  readonly row: Row;
  readonly operation: string | null;
  readonly found: string | null;
}

/** What stands on the host's chain about a run. */
function filedAbout({ journal }: HostParts, run: string): readonly Filed[] {
  return journal.read(HOST_CHAIN).flatMap(({ entry, index }): readonly Filed[] => {
    const { seq, time, type } = entry;
    const body = entry.body as Body;
    const row = (what: string): Row => ({ chain: "host", seq, time, type, what, index });
    if (type === "approval_received" && body["run"] === run) {
      const what = `${String(body["decision"])} by ${String(body["approver"])} of ${String(body["nonce"])}`;
      return [{ row: row(what), operation: null, found: null }];
    }
    if (type !== "reconciled") return [];
    const statement = statementIn(body["envelope"] ?? null);
    if (statement?.run !== run) return [];
    const { operation, found, reconciler, evidence } = statement;
    return [{ row: row(`${found} says ${reconciler}: ${evidence}`), operation, found }];
  });
}

/** It was verified before it was filed. */
function statementIn(envelope: JsonValue): Reconciliation | undefined {
  const read = readEnvelope(envelope);
  const statement = read.ok ? readDocument(read.value.payload, reconciliationSchema) : read;
  return statement.ok ? statement.value : undefined;
}

function uncertainIn(
  parts: HostParts,
  run: string,
  entries: readonly Appended[],
): readonly FrozenOperation[] {
  return entries.flatMap(({ entry }) => {
    const body = entry.body as Body;
    if (entry.type !== "receipt" || body["outcome"] !== "uncertain") return [];
    const found = operationOf(parts, run, String(body["operation"]));
    return found === undefined ? [] : [found.admission.frozen];
  });
}
