/**
 * A procedure that qualified: starts compiled runs, which ask at every step whether it still stands.
 *
 * It holds no authority. What it saves is thinking; each check and each verifier runs as in a guided run.
 */
import { RoteError } from "../base/error.ts";
import type { Host } from "../host/index.ts";
import type { Environment } from "../model/environment.ts";
import type { ProcedureKey, StandingQualification } from "../model/memory.ts";
import type { RunLimits } from "../model/plan.ts";
import type { LearnedAnswer } from "../model/run.ts";
import type { Clock } from "../ports/clock.ts";
import type { ProcedureStore } from "../ports/procedures.ts";
import type { Qualification } from "../ports/qualification.ts";
import type { Random } from "../ports/random.ts";
import { type Models, type Run, resumeRun, startRun } from "../run/index.ts";
import type { Demotions } from "./demotions.ts";
import type { PlanAndVerifier } from "./key.ts";
import { failureRateBound } from "./ladder.ts";

export interface QualifiedStart {
  /** Must equal the recipe's, or nothing is started. */
  readonly environment: Environment;
  /** The model behind each role; asked where nothing learned applies. */
  readonly models?: Models;
  /** May only lower the recipe's limits. */
  readonly limits?: Partial<RunLimits>;
  /**
   * Share of starts, from 0 to 1, that run guided instead; drawn before the first node, and nothing runs twice. Such a
   * run can be given to `memory.signal`. Default 0, since each asks its models anew.
   */
  readonly guidedShare?: number;
}

export interface QualifiedProcedure extends PlanAndVerifier {
  /** Id of the qualification. */
  readonly id: string;
  readonly key: ProcedureKey;
  readonly learned: readonly LearnedAnswer[];
  /** Clean runs behind it. */
  readonly clean_runs: number;
  /** With 95 % confidence the failure rate was below this when it qualified. */
  readonly failure_rate_bound: number | null;
  /**
   * A compiled run, or a guided one for the share asked for (`run.mode` says which).
   *
   * @throws RoteError `not_qualified` when it does not stand any more, `bad_share`, and as `procedure.start`.
   */
  start(inputs: unknown, options: QualifiedStart): Run;
  /**
   * A compiled run made again from the host's journal; only under the qualification it was started under.
   *
   * @throws RoteError as `procedure.resume`
   */
  resume(host: Host, run: string): Promise<Run>;
  /** Whether it stands, asked of the store now. Doubt is false. */
  stands(): boolean;
}

export interface QualifiedPorts {
  readonly store: ProcedureStore;
  readonly demotions: Demotions;
  readonly clock: Clock;
  readonly random: Random;
}

export function qualifiedProcedure(
  { plan, verifier }: PlanAndVerifier,
  key: ProcedureKey,
  { id, learned, clean_runs }: StandingQualification,
  { store, demotions, clock, random }: QualifiedPorts,
): QualifiedProcedure {
  function stands(): boolean {
    if (demotions.has(id)) {
      demotions.trySettle(key);
      return false;
    }
    try {
      return store.stands(id);
    } catch {
      // A store that cannot be asked may hold a demotion.
      return false;
    }
  }

  const qualification: Qualification = Object.freeze({
    id,
    learned,
    stands,
    demote({ run, reason }: { readonly run: string; readonly reason: string }): void {
      demotions.demote(id, key, {
        cause: "verification_failed",
        reason: `a compiled run ended ${reason}`,
        run,
        demoted_ms: clock.wallMs(),
      });
    },
  });

  return Object.freeze({
    plan,
    verifier,
    id,
    key,
    learned,
    clean_runs,
    failure_rate_bound: failureRateBound(clean_runs),
    stands,
    resume: (host: Host, run: string): Promise<Run> =>
      resumeRun(plan, verifier, host, run, { clock, qualification }),
    start(inputs: unknown, options: QualifiedStart): Run {
      if (!stands()) {
        throw new RoteError(
          "not_qualified",
          `the qualification of ${plan.id} does not stand any more; nothing was started`,
          { recipe: plan.id, qualification: id },
        );
      }
      const { guidedShare = 0, ...rest } = options;
      const ports = { clock, random };
      return drawn(guidedShare, random)
        ? startRun(plan, verifier, inputs, { ...rest, ...ports, mode: "guided" })
        : startRun(plan, verifier, inputs, { ...rest, ...ports, mode: "compiled", qualification });
    },
  });
}

function drawn(share: number, random: Random): boolean {
  if (!(share >= 0 && share <= 1)) {
    throw new RoteError("bad_share", `the guided share is ${share}; it goes from 0 to 1`, {});
  }
  if (share === 0) return false;
  const bytes = random.bytes(4);
  const drawn = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0);
  return drawn < share * 0x1_0000_0000;
}
