/** What an audit remembers of a run as long as it goes on. */
import type { Digest } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import type { Operation } from "../model/operation.ts";
import type { CheckedApproval } from "../trust/approval.ts";
import type { AgentAudit } from "./agent.ts";
import type { RecipeFacts } from "./recipe.ts";

export interface RunAudit {
  readonly id: string;
  readonly made: RunMaking;
  readonly recipe: RecipeFacts | undefined;
  /** Null for a procedure's run. */
  readonly agent: AgentAudit | null;
  readonly requests: Map<string, Request>;
  /** Decisions on its requests, by digest of their envelope. */
  readonly filed: Map<string, Filed>;
  /** Admissions that no receipt has answered, by sequence number. */
  readonly open: Map<number, Admission>;
  readonly places: Set<string>;
  /** Nonce, operation and approver of each use of an approval. */
  readonly consumed: Set<string>;
  readonly totals: Map<string, bigint>;
  uncertain: boolean;
}

/** What all operations of a run share with it. */
export interface RunMaking {
  readonly plan: Digest | null;
  /** Empty where there is none. */
  readonly verifier: string;
  readonly environment: Digest;
  /** Bare digest of the policy that it is bound to; null when that cannot be told. */
  readonly policy: string | null;
}

export function runAudit(
  id: string,
  made: RunMaking,
  recipe: RecipeFacts | undefined,
  agent: AgentAudit | null,
): RunAudit {
  return {
    id,
    made,
    recipe,
    agent,
    requests: new Map(),
    filed: new Map(),
    open: new Map(),
    places: new Set(),
    consumed: new Set(),
    totals: new Map(),
    uncertain: false,
  };
}

export interface Request {
  readonly run: string;
  readonly node: string;
  readonly nonce: string;
  /** Log index of its entry. */
  readonly index: number;
  /** Digests of what was shown, in the order shown. */
  readonly operations: readonly Digest[];
  /** Digest of the policy that the first of them names. */
  readonly policy: Digest | null;
  readonly display: Digest;
  readonly expires: number | null;
  /** The first valid rejection. */
  rejected: Filed | null;
}

/** A decision on the host's chain. */
export interface Filed {
  readonly request: Request;
  readonly envelope: JsonValue;
  /** Log index and seconds of its entry. */
  readonly index: number;
  readonly seconds: number;
  /** As it was judged last, and by which trust store. */
  judged: CheckedApproval;
  trust: Digest;
}

export interface Admission {
  readonly seq: number;
  readonly hash: string;
  readonly timeMs: number;
  readonly digest: Digest;
  /** Null when it could not be read. */
  readonly operation: Operation | null;
  readonly approvals: readonly Digest[];
  readonly rules: readonly string[];
  readonly reserved: readonly { readonly counter: string; readonly add: string }[];
  readonly naturalKey: string | null;
}
