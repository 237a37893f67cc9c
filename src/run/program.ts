/** What the interpreter needs to know about a plan besides the plan, worked out once per plan. */
import type { Digest } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import { isDeepFrozen } from "../base/freeze.ts";
import { environmentDigest } from "../compile/environment.ts";
import type { Environment } from "../model/environment.ts";
import type { Plan, PlanNode, Verifier } from "../model/plan.ts";

/** A plan with its verifier, ready to be run. */
export interface Program {
  readonly plan: Plan;
  readonly verifier: Verifier;
  readonly graph: Graph;
}

export interface Graph {
  readonly byId: ReadonlyMap<string, PlanNode>;
  readonly inputNames: ReadonlySet<string>;
  /** Nodes without dependencies, by plan index, ascending. */
  readonly roots: readonly number[];
  /** Number of direct dependencies, by plan index. */
  readonly missing: readonly number[];
  /** Nodes that depend directly on a node, by plan index. */
  readonly dependents: readonly (readonly number[])[];
}

/** Keyed by the frozen plan itself: an answer about an immutable thing cannot go stale. */
const graphs = new WeakMap<Plan, Graph>();

export function programOf(plan: Plan, verifier: Verifier): Program {
  let graph = graphs.get(plan);
  if (graph === undefined) {
    graph = graphOf(plan);
    graphs.set(plan, graph);
  }
  return { plan, verifier, graph };
}

/** @throws RoteError `unknown_node` */
export function nodeNamed(program: Program, id: string): PlanNode {
  const node = program.graph.byId.get(id);
  if (node === undefined) {
    throw new RoteError("unknown_node", `the recipe has no node "${id}"`, { node: id });
  }
  return node;
}

function graphOf(plan: Plan): Graph {
  const dependents: number[][] = plan.nodes.map(() => []);
  for (const node of plan.nodes) {
    for (const before of node.after) dependents[before]?.push(node.index);
  }
  return {
    byId: new Map(plan.nodes.map((node) => [node.id, node])),
    inputNames: new Set(plan.inputs.map((input) => input.name)),
    roots: plan.nodes.flatMap((node) => (node.after.length === 0 ? [node.index] : [])),
    missing: plan.nodes.map((node) => node.after.length),
    dependents,
  };
}

/** @throws RoteError `unbound_plan` */
export function boundDigest(plan: Plan): Digest {
  if (plan.digest === null) throw unbound(plan);
  return plan.digest;
}

/** @throws RoteError `unbound_plan` */
export function boundEnvironment(plan: Plan): Environment {
  if (plan.environment === null) throw unbound(plan);
  return plan.environment;
}

/** @throws RoteError `unbound_plan` */
export function boundEnvironmentDigest(plan: Plan): Digest {
  return digestOfEnvironment(boundEnvironment(plan));
}

const environments = new WeakMap<Environment, Digest>();

/** `environmentDigest`, once for each environment that cannot change. */
export function digestOfEnvironment(environment: Environment): Digest {
  const known = environments.get(environment);
  if (known !== undefined) return known;
  const digest = environmentDigest(environment);
  if (isDeepFrozen(environment)) environments.set(environment, digest);
  return digest;
}

function unbound(plan: Plan): RoteError {
  return new RoteError(
    "unbound_plan",
    `the recipe "${plan.id}" has no environment; bind it before starting it`,
    { recipe: plan.id },
  );
}
