import { canonicalText } from "../base/canonical.ts";
import type { JsonValue } from "../base/json.ts";
import { err, ok, type Result } from "../base/result.ts";
import type { ProcedureKey, Requirement, StandingQualification } from "../model/memory.ts";
import type { LearnedAnswer } from "../model/run.ts";
import type { ProcedureStore } from "../ports/procedures.ts";
import { judge, type Standing } from "./ladder.ts";
import { covers } from "./learned.ts";

export interface QualifyOptions {
  readonly requirement: Requirement;
  readonly nowMs: number;
  readonly newId: () => string;
}

/**
 * Qualifies a procedure when its evidence passes, atomically with looking at that evidence.
 *
 * A qualification that stands keeps its id as long as the evidence still covers all its learned answers; what more was
 * learned is added to it. Where the evidence covers less, a new qualification takes its place and the old one ends.
 */
export function qualify(
  store: ProcedureStore,
  key: ProcedureKey,
  { requirement, nowMs, newId }: QualifyOptions,
): Result<StandingQualification, Standing> {
  return store.qualify<Result<StandingQualification, Standing>>(key, (record) => {
    const standing = judge(record, requirement);
    if (standing.verdict !== "pass") return { qualification: null, answer: err(standing) };
    const { learned, clean_runs } = standing;
    const current = record?.standing ?? null;
    if (current === null || !covers(learned, current.learned)) {
      const qualification = { id: newId(), learned, clean_runs, qualified_ms: nowMs };
      return { qualification, answer: ok(qualification) };
    }
    if (current.clean_runs === clean_runs && same(current.learned, learned)) {
      return { qualification: null, answer: ok(current) };
    }
    const qualification = { ...current, learned, clean_runs };
    return { qualification, answer: ok(qualification) };
  });
}

function same(left: readonly LearnedAnswer[], right: readonly LearnedAnswer[]): boolean {
  return canonicalText(asJson(left)) === canonicalText(asJson(right));
}

function asJson(learned: readonly LearnedAnswer[]): JsonValue {
  return learned.map(({ node, answer, prompts, varied, model }) => ({
    node,
    answer,
    prompts,
    varied,
    model: [model.provider, model.name],
  }));
}
