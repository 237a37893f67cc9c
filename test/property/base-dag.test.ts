import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type GraphNode, orderGraph } from "../../src/base/dag.ts";

const NAMES = ["a", "B", "b", "a10", "a9", "é", "__proto__", "constructor", "\u{1f600}", "\ufb33"];

/** Any graph on the names, cycles and self-loops included. */
const anyGraph = graphOf((from, to) => [from, to] as const);
/** A graph without cycles: edges go from a smaller to a larger position. */
const orderly = graphOf((from, to) =>
  from === to ? undefined : ([Math.min(from, to), Math.max(from, to)] as const),
);

function graphOf(
  edge: (from: number, to: number) => readonly [number, number] | undefined,
): fc.Arbitrary<readonly GraphNode[]> {
  const position = fc.nat(NAMES.length - 1);
  return fc
    .tuple(
      fc.shuffledSubarray(NAMES, { minLength: 1 }),
      fc.array(fc.tuple(position, position), { maxLength: 25 }),
    )
    .map(([names, pairs]) => {
      const after = names.map((): string[] => []);
      for (const [one, other] of pairs) {
        const [from, to] = edge(one % names.length, other % names.length) ?? [];
        if (from !== undefined && to !== undefined) after[to]?.push(names[from] ?? "");
      }
      return names.map((id, index) => ({ id, after: after[index] ?? [] }));
    });
}

/** The ids from which `target` is reached over at least one edge, by walking until nothing is added. */
function before(target: string, nodes: readonly GraphNode[]): ReadonlySet<string> {
  const found = new Set(nodes.filter(({ id }) => id === target).flatMap(({ after }) => after));
  for (let size = -1; size !== found.size; ) {
    size = found.size;
    for (const { id, after } of nodes) if (found.has(id)) for (const one of after) found.add(one);
  }
  return found;
}

/** The order by its definition: again and again the smallest id whose predecessors are all out. */
function slowOrder(nodes: readonly GraphNode[]): readonly string[] {
  const order: string[] = [];
  const left = new Map(nodes.map(({ id, after }) => [id, after]));
  for (;;) {
    const ready = [...left].filter(([, after]) => !after.some((one) => left.has(one)));
    const next = ready.map(([id]) => id).sort()[0];
    if (next === undefined) return order;
    order.push(next);
    left.delete(next);
  }
}

describe("graph order", () => {
  it("respects every edge and takes the smallest possible id each time", () => {
    fc.assert(
      fc.property(orderly, (nodes) => {
        const ordering = orderGraph(nodes);
        expect(ordering).toEqual({ ok: true, value: slowOrder(nodes) });
      }),
      { numRuns: 1000 },
    );
  });

  it("depends on ids and edges only", () => {
    fc.assert(
      fc.property(anyGraph, (nodes) => {
        const turned = nodes
          .map(({ id, after }) => ({ id, after: [...after].reverse() }))
          .reverse();
        expect(orderGraph(turned)).toEqual(orderGraph(nodes));
      }),
    );
  });

  it("is refused exactly when some node reaches itself, naming these nodes by part and no others", () => {
    let refusals = 0;
    fc.assert(
      fc.property(anyGraph, (nodes) => {
        const reached = new Map(nodes.map(({ id }) => [id, before(id, nodes)]));
        const onCycle = nodes.map(({ id }) => id).filter((id) => reached.get(id)?.has(id) === true);
        const parts = new Map<string, readonly string[]>();
        for (const id of onCycle) {
          const part = onCycle
            .filter((other) => reached.get(id)?.has(other) && reached.get(other)?.has(id))
            .sort();
          parts.set(part[0] ?? "", part);
        }
        const cycles = [...parts.keys()].sort().map((first) => parts.get(first));
        const ordering = orderGraph(nodes);
        if (ordering.ok) expect(cycles).toEqual([]);
        else expect(ordering.error.cycles).toEqual(cycles);
        if (!ordering.ok) refusals += 1;
      }),
      { numRuns: 2000 },
    );
    expect(refusals).toBeGreaterThan(200);
  });
});
