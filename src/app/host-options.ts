/**
 * What a host is made of, as the application supplies it. Each part is read in full and copied: what becomes of the
 * options afterwards is not seen. What is left out by a caller without types must not pass for "works without".
 */
import { fromBase64Url } from "../base/bytes.ts";
import { digestOf } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import { deepFreeze } from "../base/freeze.ts";
import { admitJson, type JsonValue } from "../base/json.ts";
import { isKeyName } from "../base/note.ts";
import { type PrivateKey, privateKeyOf } from "../base/sign.ts";
import { TAGS } from "../base/tags.ts";
import type { HostParts, Identity, Intent, RegisteredTool } from "../host/index.ts";
import { IN_ENGLISH } from "../model/in-english.ts";
import { type Budget, budgetSchema, type PolicyDocument, policySchema } from "../model/policy.ts";
import { holderName } from "../model/trust.ts";
import type { Clock } from "../ports/clock.ts";
import type { Random } from "../ports/random.ts";
import type { OperationSecurity } from "../ports/security.ts";
import type { Tool } from "../ports/tool.ts";
import { type Problems, problemsIn } from "./problems.ts";

export interface HostOptions {
  /** Private directory of journal and procedure memory, made when it does not exist; null keeps both in this process. */
  readonly directory: string | null;
  /** Name of the journal, like `accounts.example/payments`: the audience of everything signed for this host. */
  readonly origin: string;
  /**
   * Who acts, with the raw Ed25519 public key (base64url) it holds, if it holds one; null when nobody does. Names are
   * written as those of key holders in the trust store, so that who asks and who approves can be told apart.
   */
  readonly identity: { readonly name: string; readonly key?: string } | null;
  /** What it was asked to do, and the tools that this can need; null decides to work without. */
  readonly intent: { readonly statement: string; readonly tools: readonly string[] } | null;
  /** A chain of signed warrants, root first; null decides to work without. */
  readonly warrant: readonly JsonValue[] | null;
  /** The signed trust store: whose approvals, reviews, warrants and reconciliations count. */
  readonly trust: JsonValue;
  /** Keys of this host; each signs one kind of thing, and the trust store may list it for nothing else. */
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
  /**
   * Milliseconds that one tool call may take. Default 60,000. In no digest, as `readAttempts`: how long the host waits
   * and how often it reads changes neither what is approved nor how often an effect is dispatched.
   */
  readonly callMs?: number;
  /** Attempts of a repeatable read. Default 2. An effect has one, whatever is set here. */
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
const NO_SECURITY = deepFreeze({ verdict: "allow", rule: "none", message: "" } as const);

/** The parts of a host that stand in its options as they are. */
export type OwnParts = Pick<
  HostParts,
  | "identity"
  | "intent"
  | "warrant"
  | "tools"
  | "policy"
  | "security"
  | "budget"
  | "evidence"
  | "hostConfiguration"
  | "receiptKey"
  | "requestSeconds"
  | "callMs"
  | "readAttempts"
>;

export interface ReadOptions {
  readonly parts: OwnParts;
  readonly origin: string;
  readonly journalKey: PrivateKey;
  readonly leaseMs: number | undefined;
}

/** @throws RoteError `host_invalid` naming what is wrong */
export function readHostOptions(options: HostOptions): ReadOptions {
  const policy = parsed(policySchema, options.policy, "policy");
  const budget = parsed(budgetSchema, options.budget, "budget");
  const { journal, receipt } = readKeys(options.keys);
  const { evidence, configuration, security, leaseMs } = options;
  if (leaseMs !== undefined) whole(leaseMs, "leaseMs", MOST_MS);
  return {
    origin: readOrigin(options.origin),
    journalKey: journal,
    leaseMs,
    parts: {
      identity: readIdentity(options.identity),
      intent: readIntent(options.intent),
      warrant: readWarrant(options.warrant),
      tools: registered(options.tools),
      policy: Object.freeze({
        document: policy,
        digest: digestOf(TAGS.policy, admitted(policy)),
      }),
      security: security ?? { evaluate: () => NO_SECURITY },
      budget: Object.freeze({
        document: budget,
        digest: digestOf(TAGS.budget, admitted(budget)),
      }),
      evidence: digestOf(TAGS.evidence, admitted(evidence ?? {})),
      hostConfiguration:
        configuration === undefined ? null : digestOf(TAGS.configuration, admitted(configuration)),
      receiptKey: receipt,
      ...readLimits(options),
    },
  };
}

export function invalid(message: string): RoteError {
  return new RoteError("host_invalid", message);
}

function readOrigin(origin: unknown): string {
  if (typeof origin === "string" && isKeyName(origin) && origin.length <= 255) return origin;
  throw invalid("the origin is no name like accounts.example/payments, without spaces");
}

function readKeys(given: unknown): HostOptions["keys"] {
  const { journal, receipt } = membersOf(given ?? {}, "keys");
  const keys = { journal: readKey(journal, "journal"), receipt: readKey(receipt, "receipt") };
  if (keys.journal.publicKey.id !== keys.receipt.publicKey.id) return keys;
  throw invalid("the keys are one: tree heads and receipts are signed by a key each");
}

/** Made anew from the platform's own key, which cannot be changed. */
function readKey(given: unknown, what: string): PrivateKey {
  try {
    const { publicKey, key } = privateKeyOf((given as PrivateKey).key);
    return Object.freeze({ publicKey: Object.freeze(publicKey), key });
  } catch (cause) {
    const message = `the keys have no Ed25519 private key for ${what}`;
    throw new RoteError("host_invalid", message, {}, cause);
  }
}

function readIdentity(given: unknown): Identity {
  if (given === null) return Object.freeze({ name: "", key: null });
  const { name, key = null } = membersOf(given, "identity");
  const named = name === "" || holderName.safeParse(name).success;
  if (!named || typeof name !== "string" || (key !== null && !isPublicKey(key))) {
    throw invalid(
      "the identity has no name of lower-case letters, digits and . _ -, or its key is no Ed25519 public key in base64url",
    );
  }
  return Object.freeze({ name, key });
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
  return deepFreeze({ ...intent, digest: digestOf(TAGS.intent, admitted(intent)) });
}

function readWarrant(given: unknown): readonly JsonValue[] | null {
  if (given === null) return null;
  if (!Array.isArray(given)) {
    throw invalid("the warrant is no list of envelopes; null works without");
  }
  return Object.freeze(given.map(admitted));
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
  whole(callMs, "callMs", MOST_MS);
  whole(readAttempts, "readAttempts", 100);
  if (requestSeconds !== null) whole(requestSeconds, "requestSeconds", Number.MAX_SAFE_INTEGER);
  return { requestSeconds, callMs, readAttempts };
}

function whole(value: number, what: string, most: number): void {
  if (Number.isSafeInteger(value) && value >= 1 && value <= most) return;
  throw invalid(`${what} is no whole number from 1 to ${most}`);
}

function registered(tools: unknown): ReadonlyMap<string, RegisteredTool> {
  if (!Array.isArray(tools)) throw invalid("the tools are no list");
  const map = new Map<string, RegisteredTool>();
  for (const { tool, review, permissions, credentials } of tools as readonly ToolRegistration[]) {
    const { name } = tool.definition;
    if (map.has(name)) throw invalid(`the tool ${name} is registered twice`);
    const one: RegisteredTool = {
      tool,
      review: review === null ? null : admitted(review),
      permissions: permissions === undefined ? null : texts(permissions, `permissions of ${name}`),
      credentials: texts(credentials ?? [], `credentials of ${name}`),
    };
    map.set(name, Object.freeze(one));
  }
  return map;
}

function texts(given: unknown, what: string): readonly string[] {
  if (isTexts(given)) return Object.freeze([...given]);
  throw invalid(`the ${what} are no list of names`);
}

interface Schema<T> {
  safeParse(
    value: unknown,
    words: typeof IN_ENGLISH,
  ):
    | { readonly success: true; readonly data: T }
    | { readonly success: false; readonly error: Problems };
}

function parsed<T>(schema: Schema<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value, IN_ENGLISH);
  if (result.success) return deepFreeze(result.data);
  throw invalid(`the ${what} is not valid: ${problemsIn(result.error).slice(0, 5).join("; ")}`);
}

/** A copy of our own that nobody changes, so that what was verified once stays so. */
function admitted(value: unknown): JsonValue {
  const read = admitJson(value, { numbers: "finite" });
  if (read.ok) return deepFreeze(read.value);
  throw invalid(`what should be JSON is not: ${read.error.message}`);
}
