/** What the killed processes do: recipes, tools at the target, and the host around them. */
import type { HostOptions } from "../../../src/app/create-host.ts";
import { Procedure } from "../../../src/app/procedure.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { bindRecipe } from "../../../src/compile/index.ts";
import type { Host } from "../../../src/host/index.ts";
import type { ModelAnswer } from "../../../src/model/run.ts";
import { systemClock } from "../../../src/os/clock.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { Tool, ToolCall } from "../../../src/ports/tool.ts";
import type { Run } from "../../../src/run/index.ts";
import { hostOptions, madeTool, nowSeconds, registration, trust } from "../host.ts";
import type { Points } from "./points.ts";
import type { Target } from "./target.ts";

/**
 * `plain`: the target can tell nothing, so what is in flight stays uncertain. `fenced`: it can be asked, and then
 * refuses an operation that it has not seen; reads may be repeated. `asked`: it can be asked, and promises nothing.
 */
export const KINDS = ["plain", "fenced", "asked"] as const;
export type Kind = (typeof KINDS)[number];
/** `two`: two effects behind one fence. `each`: one effect node over three lines. `agent`: two of one turn of an agent. */
export const SHAPES = ["two", "each", "agent"] as const;
export type Shape = (typeof SHAPES)[number];

/** Everything that the processes of one case have in common. Plain JSON: it is handed to them in a file. */
export interface Story {
  readonly directory: string;
  readonly target: string;
  readonly kind: Kind;
  readonly shape: Shape;
  readonly leaseMs: number;
  readonly callMs: number;
  readonly trust: JsonValue;
  readonly reviews: { readonly [tool: string]: JsonValue };
}

export const BALANCE = "ledger.balance";
export const POST = "ledger.post";
const PAUSED = 3;
const DAY = 24 * 3600;

export function storyIn(root: string, kind: Kind, shape: Shape, times: Partial<Story> = {}): Story {
  // Valid long before now, for clocks that go back.
  const valid = { not_before: nowSeconds() - DAY };
  const [repeatable, fenced] = [kind === "fenced", kind === "fenced"];
  const read = registration(madeTool(BALANCE, never), "read", { repeatable, ...valid });
  const post = registration(madeTool(POST, never), "effect", { fenced, ...valid });
  return {
    directory: `${root}/store`,
    target: `${root}/target.sqlite`,
    kind,
    shape,
    leaseMs: 10_000,
    callMs: 20_000,
    trust: trust(),
    reviews: { [BALANCE]: read.review, [POST]: post.review },
    ...times,
  };
}

function never(): never {
  throw new Error("only the processes of a case call their tools");
}

export function optionsFor(story: Story, target: Target, points: Points): HostOptions {
  const tools = [balanceTool(target, points), postTool(story.kind, target, points)];
  const registered = tools.map((tool) => ({
    tool,
    review: story.reviews[tool.definition.name] ?? null,
  }));
  const { leaseMs, callMs } = story;
  return hostOptions(story.directory, registered, { trust: story.trust, leaseMs, callMs });
}

/** The machine's clock, and that much later. */
export function clockAhead(ms: number): Clock {
  return { ...systemClock, wallMs: () => systemClock.wallMs() + ms };
}

function balanceTool(target: Target, points: Points): Tool {
  return madeTool(BALANCE, async () => {
    points.reach("read:begin");
    const amount = String(target.balance());
    await pause();
    points.reach("read:end");
    return { kind: "done", result: { amount } };
  }).tool;
}

function postTool(kind: Kind, target: Target, points: Points): Tool {
  const call = async ({ arguments: args, operationId }: ToolCall) => {
    points.reach("dispatch:begin");
    await pause();
    const what = (args as { readonly what: string }).what;
    const done = target.apply(operationId, what);
    points.reach("dispatch:applied");
    await pause();
    points.reach("dispatch:end");
    return done === "applied"
      ? ({ kind: "done", result: what } as const)
      : ({ kind: "not_applied", code: "fenced", message: "fenced off before" } as const);
  };
  const probe: Tool["probe"] = async ({ operationId }) => {
    points.reach("probe:begin");
    const found = kind === "fenced" ? target.fence(operationId) : target.find(operationId);
    points.reach("probe:end");
    const what = target.find(operationId);
    if (found === undefined || what === undefined) return { kind: "absent" };
    return { kind: "done", result: what };
  };
  return madeTool(POST, call, kind === "plain" ? {} : { probe }).tool;
}

/** A few turns of the event loop, so that a kill can come in the middle. */
async function pause(): Promise<void> {
  for (let turn = 0; turn < PAUSED; turn += 1) await new Promise((go) => setImmediate(go));
}

export function procedureAt(host: Host, { shape }: Story): Procedure {
  const recipe = recipeOf(shape);
  const unbound = new Procedure(recipe, { verifier: VERIFIER });
  return new Procedure(bindRecipe(recipe, host.environment(unbound.plan)), { verifier: VERIFIER });
}

/** Starts the one run of a case, or goes on with it. */
export async function runAt(host: Host, story: Story): Promise<Run> {
  const procedure = procedureAt(host, story);
  const [known] = host.runs(1);
  if (known !== undefined) return procedure.resume(host, known.run);
  const environment = host.environment(procedure.plan);
  const models = { default: { provider: "made-up", name: "constant" } };
  return procedure.start({ account: "7" }, { environment, models });
}

/** As far as it goes without anybody else. */
export async function driveOn(run: Run, host: Host): Promise<string> {
  for (;;) {
    const state = await run.advanceAsync(host, answerTo(run));
    if (state !== "awaiting_model" && !(state === "running" && run.pendingModel !== null)) {
      return state;
    }
  }
}

function answerTo(run: Run): { readonly model?: ModelAnswer } {
  const pending = run.pendingModel;
  if (pending === null) return {};
  const { node, index } = pending;
  return { model: { node, ...(index === null ? {} : { index }), answer: "50" } };
}

const VERIFIER = {
  version: 1,
  id: "posts-once",
  before_effect: {
    op: "equal",
    left: { input: "context/proposed/tool" },
    right: POST,
  },
  result: true,
};

const amountOf = { record: { amount: "integer" } };
const account = { op: "record", fields: { account: { input: "account" } } };

function recipeOf(shape: Shape): unknown {
  return {
    version: 1,
    id: `kills-${shape}`,
    inputs: { account: "text" },
    terminal: "done",
    nodes: [
      { id: "wanted", output: "integer", step: { kind: "model", prompt: { input: "account" } } },
      {
        id: "balance",
        output: amountOf,
        step: { kind: "read", tool: BALANCE, arguments: account },
      },
      { id: "again", output: amountOf, step: { kind: "read", tool: BALANCE, arguments: account } },
      {
        id: "enough",
        step: {
          kind: "verify",
          condition: {
            op: "and",
            values: [
              { op: "greater", left: { node: "balance/amount" }, right: { node: "wanted" } },
              { op: "equal", left: { node: "balance/amount" }, right: { node: "again/amount" } },
            ],
          },
          value: { node: "wanted" },
        },
      },
      ...(shape === "two" ? TWO : EACH),
    ],
  };
}

const post = (what: unknown) => ({
  kind: "effect",
  tool: POST,
  key: { op: "concat", values: [{ input: "account" }, "-", what] },
  arguments: {
    op: "record",
    fields: { account: { input: "account" }, amount: { node: "wanted" }, what },
  },
});

const TWO = [
  { id: "fence", after: ["enough"], step: { kind: "approval", effects: ["first", "second"] } },
  { id: "first", after: ["fence"], output: "text", step: post("first") },
  {
    id: "confirm",
    after: ["first"],
    output: "integer",
    step: { kind: "model", prompt: { node: "first" } },
  },
  { id: "second", after: ["fence", "confirm"], output: "text", step: post("second") },
  {
    id: "done",
    step: {
      kind: "pure",
      value: { op: "concat", values: [{ node: "first" }, { node: "second" }] },
    },
  },
];

const EACH = [
  { id: "fence", after: ["enough"], step: { kind: "approval", effects: ["lines"] } },
  {
    id: "lines",
    after: ["fence"],
    output: { list: "text" },
    each: {
      list: { op: "list", values: ["a", "b", "c"] },
      as: "line",
      limit: 10,
    },
    step: post({ item: "line" }),
  },
  { id: "done", step: { kind: "pure", value: { node: "lines" } } },
];
