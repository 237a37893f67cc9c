/** Recipes and runs that exercise the gate, over the hosts of `host.ts`. */
import {
  assembleHost,
  type HostOptions,
  type HostSeams,
  type ToolRegistration,
} from "../../src/app/create-host.ts";
import { Procedure } from "../../src/app/procedure.ts";
import type { JsonValue } from "../../src/base/json.ts";
import { bindRecipe } from "../../src/compile/index.ts";
import { type Host, partsOf } from "../../src/host/index.ts";
import type { EntryType } from "../../src/model/journal.ts";
import { systemTimers } from "../../src/os/timers.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { Timers } from "../../src/ports/timers.ts";
import type { ToolOutcome } from "../../src/ports/tool.ts";
import type { Run } from "../../src/run/index.ts";
import { hostOptions, type MadeTool, madeTool, POLICY, registration } from "./host.ts";

export interface MovedClock extends Clock {
  /** Moves the wall clock, forwards or backwards. */
  move(ms: number): void;
}

/** The present time, which stands still until it is moved. */
export function movedClock(): MovedClock {
  let wall = Date.now();
  return {
    wallMs: () => wall,
    monotonicMs: () => 0,
    move: (ms) => {
      wall += ms;
    },
  };
}

const input = (name: string) => ({ input: name });
const record = (fields: object) => ({ op: "record", fields });

export const READ = {
  id: "balance",
  output: "json",
  step: {
    kind: "read",
    tool: "bank.balance",
    arguments: record({ account: input("account") }),
  },
};

export const CHECK = {
  id: "check",
  step: {
    kind: "verify",
    condition: { op: "literal", value: true, type: "boolean" },
    value: input("account"),
  },
};

export function pay(id: string, after: readonly string[], change: object = {}, step: object = {}) {
  return {
    id,
    after,
    output: "text",
    step: {
      kind: "effect",
      tool: "bank.pay",
      arguments: record({
        account: input("account"),
        amount: input("amount"),
        currency: { op: "literal", value: "EUR", type: "text" },
      }),
      ...step,
    },
    ...change,
  };
}

export function fence(effects: readonly string[], after: readonly string[] = ["check"]) {
  return { id: "fence", after, step: { kind: "approval", effects } };
}

export interface RecipeNode {
  readonly id: string;
  readonly [member: string]: unknown;
}

export function recipeOf(nodes: readonly RecipeNode[], change: object = {}): object {
  return {
    version: 1,
    id: "gate-test",
    inputs: { account: "text", amount: "text" },
    terminal: nodes.at(-1)?.id,
    nodes,
    ...change,
  };
}

export const ONE_PAYMENT = recipeOf([CHECK, pay("pay", ["check"])]);
export const FENCED_PAYMENT = recipeOf([CHECK, fence(["pay"]), pay("pay", ["fence"])]);
export const TWO_FENCED = recipeOf([
  CHECK,
  fence(["one", "two"]),
  pay("one", ["fence"]),
  pay("two", ["one"]),
]);
export const ONE_READ = recipeOf([READ]);

export const VERIFIER = { version: 1, id: "v", before_effect: true, result: true };
export const INPUTS = { account: "7", amount: "50" };

export interface Bank {
  readonly balance: MadeTool;
  readonly pay: MadeTool;
  readonly tools: readonly ToolRegistration[];
}

/** A bank whose payments are counted and answered in order. */
export function bank(change: { readonly review?: object; readonly tool?: object } = {}): Bank {
  const balance = madeTool("bank.balance", () => ({ kind: "done", result: { amount: "1000" } }));
  const paying = madeTool(
    "bank.pay",
    (_, count) => ({ kind: "done", result: `paid ${count}` }),
    change.tool,
  );
  return {
    balance,
    pay: paying,
    tools: [registration(balance, "read"), registration(paying, "effect", change.review)],
  };
}

export const paid = (): ToolOutcome => ({ kind: "done", result: "paid" });

export type Options = Partial<HostOptions>;

/** A policy that asks nobody. */
export const OPEN = { policy: { ...POLICY, profile: "privileged" } } as const;

/** Nothing is signed for want of other work: a record is the same however slowly it is made. */
const timers: Timers = { ...systemTimers, after: () => () => undefined };

/** A host at a directory, or in this process only. */
export function hostAt(
  directory: string | null,
  { tools }: Pick<Bank, "tools">,
  change: Options = {},
  seams: HostSeams = {},
): Promise<Host> {
  return assembleHost(hostOptions(directory, tools, change), { timers, ...seams });
}

export interface HeldAlarms {
  readonly timers: Timers;
  /** Stands still, and is `held` milliseconds later when they were rung. */
  readonly clock: Clock;
  readonly ring: () => void;
}

/** The machine's alarms, but for those of `held` milliseconds: they go off when they are rung. */
export function heldAlarms(held: number): HeldAlarms {
  const alarms: (() => void)[] = [];
  let passed = 0;
  const deadline: Timers["deadline"] = (ms, end) => {
    if (ms !== held) return systemTimers.deadline(ms, end);
    alarms.push(end);
    return () => undefined;
  };
  const ring = () => {
    passed += held;
    for (const end of alarms) end();
  };
  const clock = { wallMs: Date.now, monotonicMs: () => passed };
  return { timers: { ...systemTimers, deadline }, clock, ring };
}

/** The recipe bound to what the host is now. */
export function procedureOf(
  host: Host,
  recipe: object = ONE_PAYMENT,
  verifier: object = VERIFIER,
): Procedure {
  const unbound = new Procedure(recipe, { verifier });
  return new Procedure(bindRecipe(recipe, host.environment(unbound.plan)), { verifier });
}

export interface Begun {
  readonly host: Host;
  readonly procedure: Procedure;
  readonly run: Run;
}

/** A run of the recipe, advanced as far as it goes by itself. */
export async function begin(
  host: Host,
  recipe: object = ONE_PAYMENT,
  inputs: { readonly [name: string]: JsonValue } = INPUTS,
  verifier: object = VERIFIER,
): Promise<Begun> {
  const procedure = procedureOf(host, recipe, verifier);
  const run = procedure.start(inputs, { environment: host.environment(procedure.plan) });
  await run.advanceAsync(host);
  return { host, procedure, run };
}

/** What the run asks a reviewer. */
export function asked(run: Run) {
  const request = run.pendingRequest;
  if (request === null) throw new Error(`nothing to approve: ${JSON.stringify(run.report)}`);
  return request;
}

/** How far a run came, and why it came no further. */
export function said({ state, report }: Run) {
  return [state, report.failure?.code ?? report.reason];
}

/** The entries of one type on a chain of the host's journal. */
export function entriesOf(host: Host, chain: string, type: EntryType) {
  return partsOf(host)
    .journal.read(chain)
    .filter(({ entry }) => entry.type === type);
}

/** The code that something was refused with. */
export async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    const { code, data } = error as { code?: string; data?: { fault?: string } };
    return data?.fault === undefined ? String(code) : `${code}: ${data.fault}`;
  }
  return "not refused";
}
