/** Builds a host from what the application supplies. Nothing here has a default that would grant anything. */
import { fromBase64Url } from "../base/bytes.ts";
import { digestOf } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import { deepFreeze } from "../base/freeze.ts";
import { admitJson, type JsonValue } from "../base/json.ts";
import { signNote } from "../base/note.ts";
import type { PrivateKey } from "../base/sign.ts";
import {
  type Host,
  type HostParts,
  hostOf,
  type Identity,
  type Intent,
  keepDocuments,
  type RegisteredTool,
} from "../host/index.ts";
import { DEFAULT_MEMORY_LIMITS } from "../model/memory.ts";
import { type Budget, budgetSchema, type PolicyDocument, policySchema } from "../model/policy.ts";
import { systemClock } from "../os/clock.ts";
import { isOwnerDead, processOwner } from "../os/owner.ts";
import { systemRandom } from "../os/random.ts";
import { systemTimers } from "../os/timers.ts";
import type { Clock } from "../ports/clock.ts";
import type { Journal } from "../ports/journal.ts";
import type { ProcedureStore } from "../ports/procedures.ts";
import type { Random } from "../ports/random.ts";
import type { OperationSecurity } from "../ports/security.ts";
import type { Tool } from "../ports/tool.ts";
import type { JournalTables } from "../store/journal/tables.ts";
import { adoptTrust } from "./adopt-trust.ts";

export interface HostOptions {
  /** Private directory of journal and procedure memory, made when it does not exist; null keeps both in this process. */
  readonly directory: string | null;
  /** Name of the journal, like `accounts.example/payments`: the audience of everything signed for this host. */
  readonly origin: string;
  /** Who acts, with the raw Ed25519 public key (base64url) it holds, if it holds one; null when nobody does. */
  readonly identity: { readonly name: string; readonly key?: string } | null;
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
  const identity = readIdentity(options.identity);
  const intent = readIntent(options.intent);
  const warrant = readWarrant(options.warrant);
  const limits = readLimits(options);
  const clock = options.clock ?? systemClock;
  const { journal, procedures } = await openStore(options, clock, seams);
  try {
    const trust = await adoptTrust(journal, options.trust);
    const parts: HostParts = {
      journal,
      procedures,
      clock,
      timers: systemTimers,
      random: options.random ?? systemRandom,
      trust,
      identity,
      intent,
      warrant,
      tools: registered(options.tools),
      policy: { document: policy, digest: digestOf("rote-policy/v1", plain(policy)) },
      security: options.security ?? { evaluate: () => NO_SECURITY },
      budget: { document: budget, digest: digestOf("rote-budget/v1", plain(budget)) },
      evidence: digestOf("rote-evidence/v1", options.evidence ?? {}),
      hostConfiguration:
        options.configuration === undefined
          ? null
          : digestOf("rote-configuration/v1", options.configuration),
      receiptKey: options.keys.receipt,
      ...limits,
    };
    await keepDocuments(parts);
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
    timers: systemTimers,
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

/** What is left out by a caller without types must not pass for "works without". */
function readIdentity(given: unknown): Identity {
  if (given === null) return { name: "", key: null };
  const { name, key = null } = membersOf(given, "identity");
  if (typeof name !== "string" || (key !== null && !isPublicKey(key))) {
    throw invalid("the identity has no name, or its key is no Ed25519 public key in base64url");
  }
  return { name, key };
}

function isPublicKey(key: unknown): key is string {
  return typeof key === "string" && fromBase64Url(key)?.byteLength === 32;
}

function readIntent(given: unknown): Intent | null {
  if (given === null) return null;
  const { statement, tools } = membersOf(given, "intent");
  if (typeof statement !== "string" || !isTexts(tools)) {
    throw invalid("the intent needs a statement and the names of tools; null works without");
  }
  const intent = { statement, tools: [...tools] };
  return { ...intent, digest: digestOf("rote-intent/v1", plain(intent)) };
}

function readWarrant(given: unknown): readonly JsonValue[] | null {
  if (given === null) return null;
  if (!Array.isArray(given)) {
    throw invalid("the warrant is no list of envelopes; null works without");
  }
  return given.map(admitted);
}

function membersOf(given: unknown, what: string): { readonly [member: string]: unknown } {
  if (typeof given === "object" && given !== null) return { ...given };
  throw invalid(`the ${what} is missing; null says that there is none`);
}

function isTexts(given: unknown): given is readonly string[] {
  return Array.isArray(given) && given.every((one) => typeof one === "string");
}

/** The longest that a timer of the platform can wait; it would fire at once for more. */
const MOST_MS = 2 ** 31 - 1;

function readLimits(options: HostOptions) {
  const { requestSeconds = null, callMs = CALL_MS, readAttempts = READ_ATTEMPTS } = options;
  const whole = (value: number, most: number) =>
    Number.isSafeInteger(value) && value >= 1 && value <= most;
  if (!whole(callMs, MOST_MS)) throw invalid(`callMs is no whole number from 1 to ${MOST_MS}`);
  if (!whole(readAttempts, 100)) throw invalid("readAttempts is no whole number from 1 to 100");
  if (requestSeconds !== null && !whole(requestSeconds, Number.MAX_SAFE_INTEGER)) {
    throw invalid("requestSeconds is neither null nor a whole number from 1");
  }
  return { requestSeconds, callMs, readAttempts };
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

/** A copy of our own that nobody changes, so that what was verified once stays so. */
function admitted(value: unknown): JsonValue {
  const read = admitJson(value, { numbers: "finite" });
  if (read.ok) return deepFreeze(read.value);
  throw invalid(`what should be JSON is not: ${read.error.message}`);
}

function plain(value: unknown): JsonValue {
  return admitted(value);
}

function invalid(message: string): RoteError {
  return new RoteError("host_invalid", message);
}
