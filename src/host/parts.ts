/** What a host is made of: everything that authority comes from. Supplied by the application, never by a recipe. */

import type { Digest } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import type { PrivateKey } from "../base/sign.ts";
import type { Budget, PolicyDocument } from "../model/policy.ts";
import type { Clock } from "../ports/clock.ts";
import type { Journal } from "../ports/journal.ts";
import type { ProcedureStore } from "../ports/procedures.ts";
import type { Random } from "../ports/random.ts";
import type { OperationSecurity } from "../ports/security.ts";
import type { Timers } from "../ports/timers.ts";
import type { Tool } from "../ports/tool.ts";
import type { TrustStore } from "../trust/trust-store.ts";

/**
 * Total of the journal that holds the version of the latest trust store it records: an admission under an earlier one
 * is refused in the transaction that would make it, whichever process recorded the later one.
 */
export const TRUST_COUNTER = "trust/version";

/**
 * Total of the journal that holds how many rejections of a request were filed: an admission under its nonce is refused
 * in the transaction that would make it, whichever process filed one.
 */
export function rejectionCounter(nonce: string): string {
  return `${REJECTIONS}${nonce}`;
}

export function isRejectionCounter(counter: string): boolean {
  return counter.startsWith(REJECTIONS);
}

const REJECTIONS = "rejected/";

export interface HostParts {
  readonly journal: Journal;
  /** Procedure memory of the same store: an admission asks there whether a qualification stands. */
  readonly procedures: ProcedureStore;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  /** Asked at every check, so that a new version counts at once. */
  readonly trust: () => TrustStore;
  readonly identity: Identity;
  /** What the acting identity was asked to do; null when the host decides to work without. */
  readonly intent: Intent | null;
  /** A chain of warrants, root first; null when the host decides to work without. */
  readonly warrant: readonly JsonValue[] | null;
  readonly tools: ReadonlyMap<string, RegisteredTool>;
  readonly policy: Pinned<PolicyDocument>;
  readonly security: OperationSecurity;
  readonly budget: Pinned<Budget>;
  readonly evidence: Digest;
  readonly hostConfiguration: Digest | null;
  /** Signs receipts and nothing else. */
  readonly receiptKey: PrivateKey;
  /** Seconds that a request for approval stays open; null: until it is answered. */
  readonly requestSeconds: number | null;
  /** Milliseconds that one tool call may take. */
  readonly callMs: number;
  /** Attempts of a repeatable read at most. */
  readonly readAttempts: number;
}

export interface Identity {
  /** Empty when nobody is acting. */
  readonly name: string;
  /** Raw public key, base64url, when the identity holds one; needed for a warrant. */
  readonly key: string | null;
}

export interface Intent {
  readonly statement: string;
  /** Tools that what was asked for can need; `*` for any. */
  readonly tools: readonly string[];
  readonly digest: Digest;
}

export interface Pinned<T> {
  readonly document: T;
  readonly digest: Digest;
}

export interface RegisteredTool {
  readonly tool: Tool;
  /** The signed review, as filed; null when there is none, and then the tool cannot be used. */
  readonly review: JsonValue | null;
  /** Permissions that a call needs, all of them; null for `tool:<category>:<name>`. */
  readonly permissions: readonly string[] | null;
  /** Names of the credentials it uses, never the credentials. */
  readonly credentials: readonly string[];
}
