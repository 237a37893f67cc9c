/**
 * The demotions that this process made. A qualification that is in here does not stand for anyone in the process, also
 * when the store could not be written; what could not be written stays due and is written as soon as the store allows.
 */
import type { ProcedureKey } from "../model/memory.ts";
import type { NewDemotion, ProcedureStore } from "../ports/procedures.ts";

export interface Demotions {
  /** Whether this process demoted the qualification, durably or not yet. */
  has(qualification: string): boolean;
  /** Counts at once in the process. @throws as the store when it is not durable yet; it stays due. */
  demote(qualification: string, key: ProcedureKey, demotion: NewDemotion): void;
  /** Writes what is due: everything, or what is due under one key. @throws as the store; it stays due. */
  settle(key?: ProcedureKey): void;
  /** The same, without a word when the store cannot be written. */
  trySettle(key?: ProcedureKey): void;
}

interface Due {
  readonly key: ProcedureKey;
  readonly demotion: NewDemotion;
}

export function demotionsOf(store: ProcedureStore): Demotions {
  const demoted = new Set<string>();
  const due = new Map<string, Due>();

  function settle(key?: ProcedureKey): void {
    for (const [qualification, { key: of, demotion }] of [...due]) {
      if (key !== undefined && !sameKey(key, of)) continue;
      // Another one may stand under the key by now, and it is not the one that failed.
      if (store.stands(qualification)) store.demote(of, demotion);
      due.delete(qualification);
    }
  }

  return Object.freeze({
    has: (qualification: string): boolean => demoted.has(qualification),
    demote(qualification: string, key: ProcedureKey, demotion: NewDemotion): void {
      demoted.add(qualification);
      due.set(qualification, { key, demotion });
      settle(key);
    },
    settle,
    trySettle(key?: ProcedureKey): void {
      try {
        settle(key);
      } catch {
        // It stays due, and in this process the qualification does not stand anyway.
      }
    },
  });
}

function sameKey(left: ProcedureKey, right: ProcedureKey): boolean {
  return (
    left.plan === right.plan &&
    left.verifier === right.verifier &&
    left.environment === right.environment &&
    left.semantics === right.semantics
  );
}
