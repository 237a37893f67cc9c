import { alg, Graph } from "@dagrejs/graphlib";
import { compileRecipe } from "../src/compile/index.ts";
import { recipeSchema } from "../src/model/recipe.ts";
import { growthExponent, median, rounded } from "./measure.ts";
import type { Row } from "./row.ts";

export const name = "compile";

const SIZES = [10, 100, 1_000, 10_000, 100_000];

/** Smaller recipes are ruled by fixed costs, so growth is measured from here. */
const GROWTH_FROM = 100;

/** Enough for a stable median; large recipes take a second each. */
const runsFor = (nodes: number) => (nodes >= 100_000 ? 3 : nodes >= 10_000 ? 7 : 25);

interface Sample {
  readonly document: unknown;
  readonly text: string;
  readonly edges: readonly (readonly [id: string, after: readonly string[]])[];
}

interface Method {
  readonly method: string;
  readonly work: (sample: Sample) => unknown;
}

const FLOOR = "zod parse alone";

/**
 * Compiling a recipe, from its text and from its parsed JSON, beside what nobody can do without who validates with zod
 * (the floor), and beside graphlib's own topological order of the same graph: null where it overflows the stack.
 */
const METHODS: readonly Method[] = [
  { method: FLOOR, work: ({ document }) => ensure(recipeSchema.safeParse(document).success) },
  { method: "rote", work: ({ text }) => ensure(compileRecipe(text).ok) },
  { method: "rote, from parsed JSON", work: ({ document }) => ensure(compileRecipe(document).ok) },
  { method: "graphlib topsort", work: topsort },
];

export async function rows(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [shape, make] of Object.entries({ layers, chain })) {
    const taken = new Map<string, (readonly [nodes: number, ms: number])[]>();
    for (const nodes of SIZES) {
      const sample = make(nodes);
      const medians = measured(sample, runsFor(nodes));
      const floor = medians.get(FLOOR) ?? Number.NaN;
      for (const { method } of METHODS) {
        const ms = medians.get(method) ?? null;
        const points = taken.get(method) ?? [];
        taken.set(method, points);
        if (ms !== null && nodes >= GROWTH_FROM) points.push([nodes, ms]);
        rows.push({
          method,
          shape,
          nodes,
          ms: ms === null ? null : rounded(ms),
          us_per_node: ms === null ? null : rounded((ms * 1_000) / nodes),
          times_floor: ms === null ? null : rounded(ms / floor),
          exponent: ms === null || points.length < 2 ? null : rounded(growthExponent(points)),
        });
      }
    }
  }
  return rows;
}

/**
 * Median milliseconds of each method; none for one that overflows the stack. Runs are interleaved, so that a busy
 * moment of the machine falls on all methods, and the first one only warms up.
 */
function measured(sample: Sample, runs: number): ReadonlyMap<string, number> {
  const taken = new Map<string, number[]>();
  const able = new Set(METHODS);
  for (let run = 0; run <= runs; run += 1) {
    for (const method of able) {
      const start = performance.now();
      try {
        method.work(sample);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        able.delete(method);
        continue;
      }
      const ms = performance.now() - start;
      if (run > 0) taken.set(method.method, [...(taken.get(method.method) ?? []), ms]);
    }
  }
  return new Map([...taken].map(([method, times]) => [method, median(times)]));
}

function ensure(good: boolean): boolean {
  if (!good) throw new Error("the recipe was refused");
  return good;
}

/** Each node adds one to the node before it. */
function chain(count: number): Sample {
  return sampleOf(
    Array.from({ length: count }, (_, index) =>
      node(index, index === 0 ? [] : [index - 1], (first) => ({
        op: "add",
        left: first ?? { input: "start" },
        right: 1,
      })),
    ),
  );
}

/** Square layers, each node adding two neighbours of the layer before; the last node reads the last layer. */
function layers(count: number): Sample {
  const width = Math.max(1, Math.floor(Math.sqrt(count - 1)));
  const nodes = Array.from({ length: count - 1 }, (_, index) => {
    const above = index - width;
    const start = Math.floor(above / width) * width;
    const after = above < 0 ? [] : [above, start + ((above - start + 1) % width)];
    return node(index, [...new Set(after)], (left, right) => ({
      op: "add",
      left: left ?? { input: "start" },
      // Different in every node of the first layer, so that no node repeats another.
      right: right ?? index,
    }));
  });
  const read = new Set(nodes.flatMap(({ after }) => after));
  const open = nodes.map((_, index) => index).filter((index) => !read.has(idOf(index)));
  const last = node(count - 1, open, (...values) => ({ op: "sum", list: values }));
  return sampleOf([...nodes, last]);
}

type Written = ReturnType<typeof node>;

function node(
  index: number,
  after: readonly number[],
  value: (...read: readonly object[]) => object,
) {
  const ids = after.map(idOf);
  const step = { kind: "pure", value: value(...ids.map((id) => ({ node: id }))) };
  return { id: idOf(index), after: ids, written: { id: idOf(index), step } };
}

function idOf(index: number): string {
  return `n${index}`;
}

function sampleOf(nodes: readonly Written[]): Sample {
  const document = {
    version: 1,
    id: "bench",
    environment: {
      policy: "1".repeat(64),
      tools: "2".repeat(64),
      credentials: "3".repeat(64),
      evidence: "4".repeat(64),
      host_configuration: null,
    },
    inputs: { start: "integer" },
    terminal: nodes.at(-1)?.id,
    nodes: nodes.map(({ written }) => written),
  };
  const edges = nodes.map(({ id, after }) => [id, after] as const);
  return { document, text: JSON.stringify(document), edges };
}

function topsort({ edges }: Sample): unknown {
  const graph = new Graph({ directed: true });
  for (const [id] of edges) graph.setNode(id);
  for (const [id, after] of edges) for (const before of after) graph.setEdge(before, id);
  return alg.topsort(graph).length;
}
