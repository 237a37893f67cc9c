/** Builds a host from what the application supplies. Nothing here has a default that would grant anything. */
import { digestOf } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import { admitJson, type JsonValue } from "../base/json.ts";
import { signNote } from "../base/note.ts";
import type { PrivateKey } from "../base/sign.ts";
import { type Host, type HostParts, hostOf, type RegisteredTool } from "../host/index.ts";
import { HOST_CHAIN } from "../model/journal.ts";
import { DEFAULT_MEMORY_LIMITS } from "../model/memory.ts";
import { type Budget, budgetSchema, type PolicyDocument, policySchema } from "../model/policy.ts";
import { systemClock } from "../os/clock.ts";
import { isOwnerDead, processOwner } from "../os/owner.ts";
import { systemRandom } from "../os/random.ts";
import type { Clock } from "../ports/clock.ts";
import type { Journal } from "../ports/journal.ts";
import type { ProcedureStore } from "../ports/procedures.ts";
import type { Random } from "../ports/random.ts";
import type { OperationSecurity } from "../ports/security.ts";
import type { Tool } from "../ports/tool.ts";
import type { JournalTables } from "../store/journal/tables.ts";
import { openTrust, type TrustStore } from "../trust/trust-store.ts";

export interface HostOptions {
  /** Private directory of journal and procedure memory, made when it does not exist; null keeps both in this process. */
  readonly directory: string | null;
  /** Name of the journal, like `accounts.example/payments`: the audience of everything signed for this host. */
  readonly origin: string;
  /** Who acts, with the raw Ed25519 public key (base64url) it holds, if it holds one. */
  readonly identity: { readonly name: string; readonly key?: string };
  /** What it was asked to do, and the tools that this can need; null decides to work without. */
  readonly intent: { readonly statement: string; readonly tools: readonly string[] } | null;
  /** A chain of signed warrants, root first; null decides to work without. */
  readonly warrant: readonly JsonValue[] | null;
  /** The signed trust store: whose approvals, reviews, warrants and reconciliations count. */
  readonly trust: JsonValue;
  /** Keys of this host; each signs one kind of thing. */
  readonly keys: { readonly journal: PrivateKey; readonly receipt: PrivateKey };
  readonly tools: readonly ToolRegistration[];
  readonly policy: PolicyDocument;
  readonly budget: Budget;
  /** Judges concrete operations. Default: none beside the policy. */
  readonly security?: OperationSecurity;
  /** Digest of registered evidence sources, for the environment. Default: of no sources. */
  readonly evidence?: JsonValue;
  /** Whatever else of the host's configuration procedures depend on. Default: nothing. */
  readonly configuration?: JsonValue;
  /** Seconds that a request for approval stays open. Default null: until it is answered. */
  readonly requestSeconds?: number | null;
  /** Milliseconds that one tool call may take. Default 60,000. */
  readonly callMs?: number;
  /** Attempts of a repeatable read. Default 2. */
  readonly readAttempts?: number;
  /** Where tree heads are copied to. Default: `heads.txt` in the directory; better elsewhere. */
  readonly heads?: string;
  /** Milliseconds that a lease on a run lasts without a write. Default 10,000. */
  readonly leaseMs?: number;
  readonly clock?: Clock;
  readonly random?: Random;
}

export interface ToolRegistration {
  readonly tool: Tool;
  /** The signed review; a tool without one cannot be used. */
  readonly review: JsonValue | null;
  /** Permissions that a call needs. Default `tool:<category of the review>:<name>`. */
  readonly permissions?: readonly string[];
  /** Names of the credentials that it uses. Default none. */
  readonly credentials?: readonly string[];
}

const CALL_MS = 60_000;
const READ_ATTEMPTS = 2;

/**
 * A host: the one gate through which procedures read and act.
 *
 * @throws RoteError `host_invalid` naming what is wrong, `trust_refused`, and as opening the store
 */
export function createHost(options: HostOptions): Promise<Host> {
  return assembleHost(options, {});
}

/** What a test puts between a host and its store. Not exported from the package, and nothing else sets it. */
export interface HostSeams {
  readonly around?: (tables: JournalTables) => JournalTables;
}

/** `createHost`, with seams. */
export async function assembleHost(options: HostOptions, seams: HostSeams): Promise<Host> {
  const policy = parsed(policySchema, options.policy, "policy");
  const budget = parsed(budgetSchema, options.budget, "budget");
  const clock = options.clock ?? systemClock;
  const { journal, procedures } = await openStore(options, clock, seams);
  try {
    const trust = await adoptTrust(journal, options);
    const parts: HostParts = {
      journal,
      procedures,
      clock,
      random: options.random ?? systemRandom,
      trust: () => trust,
      identity: { name: options.identity.name, key: options.identity.key ?? null },
      intent:
        options.intent === null
          ? null
          : { ...options.intent, digest: digestOf("rote-intent/v1", plain(options.intent)) },
      warrant: options.warrant,
      tools: registered(options.tools),
      policy: { document: policy, digest: digestOf("rote-policy/v1", plain(policy)) },
      security: options.security ?? { evaluate: () => NO_SECURITY },
      budget: { document: budget, digest: digestOf("rote-budget/v1", plain(budget)) },
      evidence: digestOf("rote-evidence/v1", options.evidence ?? []),
      hostConfiguration:
        options.configuration === undefined
          ? null
          : digestOf("rote-configuration/v1", options.configuration),
      receiptKey: options.keys.receipt,
      requestSeconds: options.requestSeconds ?? null,
      callMs: options.callMs ?? CALL_MS,
      readAttempts: options.readAttempts ?? READ_ATTEMPTS,
    };
    return hostOf(parts);
  } catch (error) {
    await journal.close();
    procedures.close();
    throw error;
  }
}

const NO_SECURITY = { verdict: "allow", rule: "none", message: "" } as const;

async function openStore(
  options: HostOptions,
  clock: Clock,
  seams: HostSeams,
): Promise<{ readonly journal: Journal; readonly procedures: ProcedureStore }> {
  const { directory, origin, keys, leaseMs } = options;
  const journal = {
    origin,
    clock,
    owner: processOwner(),
    isDead: isOwnerDead,
    sign: (text: string) => signNote(text, origin, keys.journal),
    ...(leaseMs === undefined ? {} : { leaseMs }),
  };
  const limits = DEFAULT_MEMORY_LIMITS;
  if (directory === null) {
    const { openMemoryStore } = await import("../store/memory/store.ts");
    return openMemoryStore({ journal, limits });
  }
  const { openSqliteStore } = await import("../store/sqlite/store.ts");
  const heads = options.heads === undefined ? {} : { heads: options.heads };
  return openSqliteStore(directory, { journal, limits, ...heads, ...seams });
}

/** Records the trust store, and refuses one that is older than, or does not follow from, the recorded one. */
async function adoptTrust(journal: Journal, options: HostOptions): Promise<TrustStore> {
  const envelope = admitted(options.trust);
  const known = lastTrust(journal);
  const same = known?.envelope !== undefined && openTrust(known.envelope);
  const alone = openTrust(envelope);
  if (!alone.ok) throw refusedTrust(alone.error);
  if (alone.value.document.audience !== options.origin) throw refusedTrust("wrong_audience");
  if (same !== false && same.ok && same.value.digest === alone.value.digest) return alone.value;
  const trust = same !== false && same.ok ? openTrust(envelope, same.value) : alone;
  if (!trust.ok) throw refusedTrust(trust.error);
  const { document, digest } = trust.value;
  const opened =
    known === undefined
      ? [{ chain: HOST_CHAIN, type: "host_opened" as const, body: { audience: options.origin } }]
      : [];
  await journal.append({
    lease: null,
    entries: [
      ...opened,
      {
        chain: HOST_CHAIN,
        type: "trust",
        body: { version: document.version, digest, envelope },
      },
    ],
  });
  return trust.value;
}

function lastTrust(journal: Journal): { readonly envelope: JsonValue } | undefined {
  const entry = journal.read(HOST_CHAIN).findLast(({ entry: { type } }) => type === "trust");
  const body = entry?.entry.body as { readonly envelope: JsonValue } | undefined;
  return body;
}

function registered(tools: readonly ToolRegistration[]): ReadonlyMap<string, RegisteredTool> {
  const map = new Map<string, RegisteredTool>();
  for (const { tool, review, permissions, credentials = [] } of tools) {
    const { name } = tool.definition;
    if (map.has(name)) throw invalid(`the tool ${name} is registered twice`);
    map.set(name, {
      tool,
      review: review === null ? null : admitted(review),
      permissions: permissions ?? null,
      credentials,
    });
  }
  return map;
}

function parsed<T>(
  schema: { safeParse(value: unknown): { success: boolean; data?: T; error?: Error } },
  value: unknown,
  what: string,
): T {
  const result = schema.safeParse(value);
  if (result.success && result.data !== undefined) return result.data;
  throw invalid(`the ${what} is not valid: ${result.error?.message ?? ""}`);
}

function admitted(value: unknown): JsonValue {
  const read = admitJson(value, { numbers: "finite" });
  if (read.ok) return read.value;
  throw invalid(`what should be JSON is not: ${read.error.message}`);
}

function plain(value: unknown): JsonValue {
  return admitted(value);
}

function invalid(message: string): RoteError {
  return new RoteError("host_invalid", message);
}

function refusedTrust(fault: string): RoteError {
  return new RoteError("trust_refused", `The trust store is refused: ${fault}.`, { fault });
}
