import { differingParts } from "../compile/index.ts";
import type { Environment } from "../model/environment.ts";
import type {
  KeyPart,
  ProcedureKey,
  ProcedureStatus,
  ProcedureSummary,
  Requirement,
  VoidEvidence,
} from "../model/memory.ts";
import type { ProcedureStore } from "../ports/procedures.ts";
import { changedParts } from "./key.ts";
import { judge } from "./ladder.ts";
import { NO_SIGNALS } from "./signals.ts";

export interface Asked {
  readonly task: string;
  readonly key: ProcedureKey;
  readonly environment: Environment;
  readonly requirement: Requirement;
}

/** Other procedures of the task that a status compares with. */
const COMPARED = 100;
/** Of those, the ones told, nearest first. */
const TOLD = 3;

export function statusOf(store: ProcedureStore, asked: Asked): ProcedureStatus {
  const { key, task } = asked;
  const record = store.read(key);
  const standing = judge(record, asked.requirement);
  const gone = voidEvidence(store, asked);
  const demotion = record?.demotions.at(-1) ?? null;
  return {
    task,
    ...key,
    verdict: standing.verdict,
    phases: standing.phases,
    missing: withReasons(standing.missing, record === undefined ? gone : []),
    clean_runs: standing.clean_runs,
    failure_rate_bound: standing.failure_rate_bound,
    learned: record?.standing?.learned ?? standing.learned,
    qualification:
      record?.standing === undefined || record.standing === null
        ? null
        : { id: record.standing.id, qualified_ms: record.standing.qualified_ms },
    signals: record?.counts ?? NO_SIGNALS,
    demotion:
      demotion === null
        ? null
        : {
            qualification: demotion.qualification,
            cause: demotion.cause,
            reason: demotion.reason,
            run: demotion.run,
            demoted_ms: demotion.demoted_ms,
          },
    void: gone,
  };
}

/** What is missing, with the reason first when all evidence of the task belongs to something else. */
function withReasons(missing: readonly string[], gone: readonly VoidEvidence[]): readonly string[] {
  const [nearest] = gone;
  return nearest === undefined ? missing : [nearest.message, ...missing];
}

/** Evidence of the same task under another key, nearest first: what differs, by name. */
export function voidEvidence(store: ProcedureStore, asked: Asked): readonly VoidEvidence[] {
  const others = store
    .findTask(asked.task, COMPARED)
    .map((was) => explain(was, asked))
    .filter((one) => one.changed.length > 0);
  return others.sort((a, b) => a.changed.length - b.changed.length).slice(0, TOLD);
}

function explain(was: ProcedureSummary, { key, environment }: Asked): VoidEvidence {
  const changed = changedParts(was, key);
  const fields = changed.includes("environment")
    ? differingParts(was.environment_parts, environment)
    : [];
  return {
    changed,
    changed_environment: fields,
    was,
    message: sentence(was, key, changed, fields),
  };
}

function sentence(
  was: ProcedureSummary,
  key: ProcedureKey,
  changed: readonly KeyPart[],
  fields: readonly string[],
): string {
  const differences = changed.map((part) => {
    const inside = part === "environment" && fields.length > 0 ? ` (${fields.join(", ")})` : "";
    return `${part}${inside} was ${short(was[part])} and is ${short(key[part])}`;
  });
  const kept = was.qualification === null ? "" : " and a qualification";
  return (
    `the evidence of task ${was.task} (${was.observations} observed run${was.observations === 1 ? "" : "s"}${kept}) ` +
    `does not apply here: ${differences.join("; ")}`
  );
}

function short(value: string | number): string {
  const text = String(value);
  return text.length > 19 ? `${text.slice(0, 19)}…` : text;
}
