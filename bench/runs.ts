import { compileRecipe, compileVerifier } from "../src/compile/index.ts";
import type { LearnedAnswer } from "../src/model/run.ts";
import { systemClock } from "../src/os/clock.ts";
import { systemRandom } from "../src/os/random.ts";
import type { Qualification } from "../src/ports/qualification.ts";
import { promptDigest, type StartOptions, startRun } from "../src/run/index.ts";
import { rates, rounded } from "./measure.ts";
import type { Row } from "./row.ts";

export const name = "runs";

const environment = {
  policy: "1".repeat(64),
  tools: "2".repeat(64),
  credentials: "3".repeat(64),
  evidence: "4".repeat(64),
  host_configuration: null,
};
const model = { provider: "bench", name: "constant" };
const NODES = 20;

/**
 * Whole pure runs in one process, from inputs as text to the result as text: start, advance, read the result, close.
 * The floor is a closure written by hand that reads the same inputs, computes every node and the verifier's rule on the
 * same integers, and writes the result; it keeps no trace, checks no type and has no limits.
 */
export async function rows(): Promise<readonly Row[]> {
  const found: Row[] = [];
  for (const work of [LIGHT, HEAVY]) {
    for (const share of [0, 50]) {
      const { guided, compiled } = subjects(arithmetic(work, share), []);
      const what = `${NODES} pure nodes (${work.what}), ${share}% twins`;
      found.push(...(await measure(what, floor(work, share), guided, compiled)));
    }
  }
  const learned = Array.from({ length: 5 }, (_, index): LearnedAnswer => {
    const prompt = `question ${index}`;
    const prompts = [promptDigest(prompt)];
    return { node: `m${index}`, answer: `${index}`, prompts, varied: false, model };
  });
  const { guided, compiled } = subjects(asking(), learned);
  found.push(
    ...(await measure("5 model nodes, answers supplied or learned", askedFloor, guided, compiled)),
  );
  return found;
}

type Subject = (round: number) => unknown;

/** What one node computes, as an expression and by hand. */
interface Work {
  readonly what: string;
  readonly expression: (index: number) => unknown;
  readonly hand: (a: bigint, b: bigint, index: bigint) => bigint;
}

const LIGHT: Work = {
  what: "a * b + i",
  expression: (index) => ({
    op: "add",
    left: { op: "multiply", left: { input: "a" }, right: { input: "b" } },
    right: index,
  }),
  hand: (a, b, index) => a * b + index,
};

const HEAVY: Work = {
  what: "sum of 100 products",
  expression: (index) => ({
    op: "sum",
    list: { op: "range", from: index, count: 100 },
    as: "n",
    value: { op: "multiply", left: { item: "n" }, right: { input: "b" } },
  }),
  hand: (_a, b, index) => {
    let sum = 0n;
    for (let n = index; n < index + 100n; n += 1n) sum += n * b;
    return sum;
  },
};

async function measure(
  what: string,
  hand: Subject,
  guided: Subject,
  compiled: Subject,
): Promise<readonly Row[]> {
  for (const subject of [guided, compiled]) {
    if (subject(7) !== hand(7)) throw new Error(`${what}: not the floor's result`);
  }
  const taken = await rates({ hand, guided, compiled });
  const row = (method: string, mode: string, rate: number): Row => ({
    method,
    case: what,
    mode,
    runs_per_s: rounded(rate),
    us_per_run: rounded(1e6 / rate),
    of_floor: rounded(rate / taken.hand),
    of_guided: rounded(rate / taken.guided),
  });
  return [
    row("closure", "by hand", taken.hand),
    row("rote", "guided", taken.guided),
    row("rote", "compiled", taken.compiled),
  ];
}

function subjects(recipe: unknown, learned: readonly LearnedAnswer[]) {
  const plan = compileRecipe(recipe);
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  const rule = { op: "greater_or_equal", left: { input: "context/result" }, right: 0 };
  const verifier = compileVerifier(rule, plan.value);
  if (!verifier.ok) throw new Error(JSON.stringify(verifier.error));
  const qualification: Qualification = {
    id: "bench",
    learned,
    stands: () => true,
    demote: () => {},
  };
  const common = {
    environment,
    models: { default: model },
    clock: systemClock,
    random: systemRandom,
  };
  const subject = (options: StartOptions): Subject => {
    return (round) => {
      const run = startRun(plan.value, verifier.value, { a: String(round), b: "1200" }, options);
      run.advancePure({ environment });
      for (let next = run.pendingModel; next !== null; next = run.pendingModel) {
        run.advancePure({ environment, model: { node: next.node, answer: next.node.slice(1) } });
      }
      const result = run.result;
      run.close();
      return result;
    };
  };
  return {
    guided: subject({ ...common, mode: "guided" }),
    compiled: subject({ ...common, mode: "compiled", qualification }),
  };
}

/** Of the nodes, `share` percent compute what an earlier one has computed. */
function arithmetic(work: Work, share: number): unknown {
  const distinct = NODES - (NODES * share) / 100;
  const nodes = Array.from({ length: NODES }, (_, index) => ({
    id: `n${index}`,
    step: { kind: "pure", value: work.expression(index % distinct) },
  }));
  const all = { op: "sum", list: nodes.map(({ id }) => ({ node: id })) };
  const sum = { id: "sum", step: { kind: "verify", condition: true, value: all } };
  return recipe("sum", [...nodes, sum]);
}

function asking(): unknown {
  const nodes = Array.from({ length: 5 }, (_, index) => ({
    id: `m${index}`,
    output: "integer",
    step: { kind: "model", prompt: `question ${index}` },
  }));
  const all = { op: "sum", list: nodes.map(({ id }) => ({ node: id })) };
  return recipe("sum", [...nodes, { id: "sum", step: { kind: "pure", value: all } }]);
}

function recipe(terminal: string, nodes: readonly object[]): unknown {
  const inputs = { a: "integer", b: "integer" };
  return { version: 1, id: "bench", environment, inputs, terminal, nodes };
}

function floor(work: Work, share: number): Subject {
  const distinct = BigInt(NODES - (NODES * share) / 100);
  return (round) => {
    const inputs = { a: String(round), b: "1200" };
    const a = BigInt(inputs.a);
    const b = BigInt(inputs.b);
    const values: bigint[] = [];
    for (let index = 0n; index < BigInt(NODES); index += 1n) {
      values.push(work.hand(a, b, index % distinct));
    }
    const sum = values.reduce((total, value) => total + value, 0n);
    return sum >= 0n ? sum.toString() : undefined;
  };
}

function askedFloor(_round: number): unknown {
  const values = ["0", "1", "2", "3", "4"].map((text) => BigInt(text));
  const sum = values.reduce((total, value) => total + value, 0n);
  return sum >= 0n ? sum.toString() : undefined;
}
