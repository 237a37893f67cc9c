/**
 * The trusted side, as its owner holds it. What it is made of cannot be reached through it: whoever gets a `Host` can
 * have operations judged and done, and can neither approve nor widen anything.
 */
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import type { Environment } from "../model/environment.ts";
import type { Plan } from "../model/plan.ts";
import type { Reconciliation } from "../model/trust.ts";
import type { RunSummary } from "../ports/journal.ts";
import { fileDecision } from "./decisions.ts";
import { environmentFor } from "./environment.ts";
import type { HostParts } from "./parts.ts";
import { pendingRequests } from "./pending.ts";
import { reconcile } from "./reconcile.ts";
import type { OpenRequest } from "./request.ts";

/** Only this module can pass it, so only `hostOf` can construct a `Host`. */
const KEY = Symbol("host");

let partsIn: (host: object) => HostParts | undefined;

export class Host {
  readonly #parts: HostParts;

  static {
    partsIn = (host) => (#parts in host ? host.#parts : undefined);
  }

  /** Not for callers: `createHost` makes hosts. */
  constructor(key: symbol, parts: HostParts) {
    if (key !== KEY) throw new RoteError("not_constructible", "hosts are made by createHost");
    this.#parts = parts;
    Object.freeze(this);
  }

  /** The journal's name: the audience of everything that is signed for this host. */
  get origin(): string {
    return this.#parts.journal.origin;
  }

  /** Digests of what a procedure depends on here: bind its recipe to this. */
  environment(plan: Plan): Environment {
    return environmentFor(this.#parts, toolsOf(plan));
  }

  /** Requests for approval that wait, of all runs. */
  pendingRequests(): readonly OpenRequest[] {
    return pendingRequests(this.#parts);
  }

  /**
   * Files a signed decision, where the run that waits for it finds it.
   *
   * @throws RoteError `approval_refused`
   */
  fileDecision(envelope: JsonValue): Promise<void> {
    return fileDecision(this.#parts, envelope);
  }

  /**
   * Files a signed statement about an uncertain operation.
   *
   * @throws RoteError `reconciliation_refused`
   */
  reconcile(envelope: JsonValue): Promise<Reconciliation> {
    return reconcile(this.#parts, envelope);
  }

  /** The most recently updated first. */
  runs(limit = 1000): readonly RunSummary[] {
    return this.#parts.journal.runs(limit);
  }

  /** Commits what is queued, signs the last tree head, and gives the store back. Idempotent. */
  async close(): Promise<void> {
    try {
      await this.#parts.journal.close();
    } finally {
      this.#parts.procedures.close();
    }
  }
}

/** Names of the tools that a plan calls, each once, in order. */
export function toolsOf(plan: Plan): readonly string[] {
  const known = tools.get(plan);
  if (known !== undefined) return known;
  const named = plan.nodes.flatMap(({ step }) =>
    step.kind === "read" || step.kind === "effect" ? [step.tool] : [],
  );
  const found = Object.freeze([...new Set(named)].sort());
  tools.set(plan, found);
  return found;
}

/** Plans are frozen: what is said of one stays true. */
const tools = new WeakMap<Plan, readonly string[]>();

export function hostOf(parts: HostParts): Host {
  return new Host(KEY, parts);
}

/** @throws RoteError `not_a_host` for anything that `hostOf` did not make */
export function partsOf(host: Host): HostParts {
  const parts = typeof host === "object" && host !== null ? partsIn(host) : undefined;
  if (parts === undefined) throw new RoteError("not_a_host", "only createHost makes hosts");
  return parts;
}
