/** Run chains: one start, what happened, one end, and nothing behind it. */

import { agentStateOf } from "../model/agent-states.ts";
import { STOP_REASONS, type StopReason, stateOf } from "../model/stop.ts";
import { type Admitting, judgeAdmission } from "./admissions.ts";
import { agentAudit, environmentOf, judgeAnswer, judgeShown, judgeTurn } from "./agent.ts";
import type { Families } from "./agent-family.ts";
import type { Bodies } from "./bodies.ts";
import { type Context, type Placed, placeOf, report } from "./context.ts";
import { judgeReceipt, type Receipting } from "./receipts.ts";
import { createRecipes } from "./recipe.ts";
import { judgeFence, judgeRequest } from "./requests.ts";
import { type Request, type RunAudit, runAudit } from "./run-state.ts";

export interface Runs {
  /** Takes the next entry of a run's chain, whose form was checked. */
  take(placed: Placed): Promise<void>;
  /** A request that is open, or was of a run that is still going on. */
  requestBy(nonce: string): { readonly run: RunAudit; readonly request: Request } | undefined;
  /** Runs that have not ended, and their admissions that have no receipt. */
  open(): { readonly runs: number; readonly admissions: number };
}

export function createRuns(
  context: Context,
  parts: Pick<Admitting, "judge" | "budgets" | "naturalKeys"> & Pick<Receipting, "onUncertain">,
): Runs {
  const runs = new Map<string, RunAudit>();
  const nonces = new Map<string, { readonly run: RunAudit; readonly request: Request }>();
  const families: Families = new Map();
  const recipes = createRecipes(context);
  const admitting = { context, ...parts };

  async function start(placed: Placed, body: Bodies["run_started"]): Promise<void> {
    const { chain } = placed.entry;
    countStart(placed);
    const recipe = await recipes.of(body, placed);
    const { plan, verifier, environment } = body;
    const made = { plan, verifier, environment, policy: recipe?.policy ?? null };
    runs.set(chain, runAudit(chain, made, recipe, null));
  }

  async function startAgent(placed: Placed, body: Bodies["agent_started"]): Promise<void> {
    const { chain } = placed.entry;
    const { policy: bound } = body.environment;
    countStart(placed);
    const policy = typeof bound === "string" ? bound : null;
    const made = { plan: null, verifier: "", environment: environmentOf(body), policy };
    const agent = await agentAudit(context, placed, body, families);
    runs.set(chain, runAudit(chain, made, undefined, agent));
  }

  function countStart(placed: Placed): void {
    context.counts.runs.started += 1;
    if (context.keys.inForce() === undefined && context.keys.adopted === 0) {
      report(context, placed, "host_start", "a run begins before any trust store is on record");
    }
  }

  function end(run: RunAudit, placed: Placed, body: Bodies["run_ended"]): void {
    const { state, reason, failure } = body;
    context.counts.runs.ended[state] += 1;
    const differs = (message: string) => report(context, placed, "run_end_differs", message);
    const endsAs = run.agent === null ? stateOf : agentStateOf;
    if (isReason(reason) && endsAs(reason) !== state) differs(`no run ends ${state} by ${reason}`);
    if ((failure?.reason ?? "completed") !== reason) {
      differs(`it ended by ${reason}, and its failure was ${failure?.reason ?? "none"}`);
    }
    if (run.uncertain !== (reason === "uncertain_operation")) {
      const outcome = run.uncertain ? "an uncertain receipt" : "no uncertain receipt";
      differs(`it ended ${state} with ${outcome}`);
    }
    if (run.agent !== null) judgeAnswer(context, run.agent, placed, body);
    for (const { digest, seq } of run.open.values()) {
      const place = { ...placeOf(placed), index: null, seq: [seq, seq] as const };
      const message = `the admission of ${digest} has no receipt, and the run has ended`;
      context.findings.add("receipt_missing", place, message);
    }
    for (const nonce of run.requests.keys()) nonces.delete(nonce);
    runs.delete(run.id);
  }

  async function happen(run: RunAudit, placed: Placed): Promise<void> {
    const { type, seq } = placed.entry;
    switch (type) {
      case "run_resumed": {
        const { from_seq: from } = body(placed, type);
        if (from !== seq) report(context, placed, "run_start", `it resumes from entry ${from}`);
        if (run.agent !== null)
          await judgeTurn(context, run.agent, placed, type, body(placed, type));
        return;
      }
      case "approval_requested": {
        const { request, shown } = await judgeRequest(context, run, placed, body(placed, type));
        if (run.agent !== null) judgeShown(context, run.agent, placed, shown);
        nonces.set(request.nonce, { run, request });
        return;
      }
      case "approved":
        return judgeFence(context, run, placed, body(placed, type));
      case "admitted":
        return judgeAdmission(admitting, run, placed, body(placed, type));
      case "receipt":
        return judgeReceipt(admitting, run, placed, body(placed, type));
      case "run_ended":
        return end(run, placed, body(placed, type));
      case "model_answered": {
        const { answer_blob: blob } = placed.entry.body as { readonly answer_blob?: string };
        if (blob !== undefined)
          await context.blobs.check(blob, placeOf(placed), "a model's answer");
        return;
      }
      case "agent_asked":
      case "agent_replied":
      case "agent_unanswered":
      case "agent_marked":
      case "agent_paused":
        if (run.agent !== null)
          await judgeTurn(context, run.agent, placed, type, body(placed, type));
        else report(context, placed, "run_start", `a run of a recipe has a ${type}`);
        return;
      default:
        return;
    }
  }

  return {
    async take(placed) {
      const { chain, type, seq } = placed.entry;
      const run = runs.get(chain);
      if (type === "run_started" && seq === 0) {
        const { inputs_blob: blob } = placed.entry.body as { readonly inputs_blob?: string };
        if (blob !== undefined) await context.blobs.check(blob, placeOf(placed), "inputs");
        return start(placed, body(placed, type));
      }
      if (type === "agent_started" && seq === 0) return startAgent(placed, body(placed, type));
      const starts = type === "run_started" || type === "agent_started";
      if (run !== undefined && !starts) return happen(run, placed);
      // Where the chain's beginning is missing, that is a finding already, and nothing here can be judged.
      if (seq === 0 || starts) {
        report(context, placed, "run_start", `entry ${seq} of the run is a ${type}`);
      }
    },
    requestBy: (nonce) => nonces.get(nonce),
    open() {
      const waiting = [...runs.values()].reduce((sum, run) => sum + run.open.size, 0);
      return { runs: runs.size, admissions: waiting };
    },
  };
}

/** The body of an entry whose form was checked against its type's. */
function body<Type extends keyof Bodies>({ entry }: Placed, _: Type): Bodies[Type] {
  return entry.body as JsonOf<Bodies[Type]>;
}

type JsonOf<T> = T & Placed["entry"]["body"];

function isReason(text: string): text is StopReason {
  return Object.values(STOP_REASONS).some((reasons: readonly string[]) => reasons.includes(text));
}
