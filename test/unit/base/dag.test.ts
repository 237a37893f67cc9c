import { describe, expect, it } from "vitest";
import { type GraphNode, orderGraph } from "../../../src/base/dag.ts";

/** "b: a c" is the node b after a and c. */
function graph(...lines: readonly string[]): readonly GraphNode[] {
  return lines.map((line) => {
    const [id = "", after = ""] = line.split(":");
    return { id: id.trim(), after: after.split(" ").filter((one) => one !== "") };
  });
}

function chain(length: number): readonly GraphNode[] {
  return Array.from({ length }, (_, index) => ({
    id: `n${index}`,
    after: index === 0 ? [] : [`n${index - 1}`],
  }));
}

/** Layers of 100 nodes, each after three of the layer before. */
function layers(length: number): readonly GraphNode[] {
  return Array.from({ length }, (_, index) => {
    const start = Math.floor(index / 100) * 100 - 100;
    const after = [1, 37, 73].map((step) => `n${start + ((index * step) % 100)}`);
    return { id: `n${index}`, after: start < 0 ? [] : after };
  });
}

function cyclesOf(nodes: readonly GraphNode[]): readonly (readonly string[])[] {
  const ordering = orderGraph(nodes);
  if (ordering.ok) throw new Error("ordered");
  return ordering.error.cycles;
}

describe("orderGraph", () => {
  it("puts every node after what it waits for, ties by UTF-16 order of ids", () => {
    const nodes = graph("total: price quantity", "quantity", "price", "Zeta", "a10", "a9", "b: a9");
    expect(orderGraph(nodes)).toEqual({
      ok: true,
      value: ["Zeta", "a10", "a9", "b", "price", "quantity", "total"],
    });
    expect(orderGraph(graph("\ufb33", "\u{1f600}"))).toEqual({
      ok: true,
      value: ["\u{1f600}", "\ufb33"],
    });
  });

  it("gives one order for one graph, however its nodes and edges are listed (B072)", () => {
    const nodes = graph("d: b c", "b: a", "c: a", "a", "e");
    const shuffled = graph("e", "c: a", "a", "d: c b b", "b: a");
    expect(orderGraph(shuffled)).toEqual(orderGraph(nodes));
  });

  it("passes over names that are no nodes, and takes a repeated id once", () => {
    expect(orderGraph(graph("b: a nowhere", "a", "a: c", "c"))).toEqual({
      ok: true,
      value: ["c", "a", "b"],
    });
    expect(orderGraph([])).toEqual({ ok: true, value: [] });
  });

  it.each<[string, readonly GraphNode[], readonly (readonly string[])[]]>([
    ["two nodes after each other", graph("a: b", "b: a"), [["a", "b"]]],
    ["a node after itself", graph("c: c"), [["c"]]],
    [
      "three nodes beside a valid chain",
      graph("x", "y: x", "z: y", "q: r", "p: q", "r: p"),
      [["p", "q", "r"]],
    ],
    [
      "two cycles, with nodes before, between and after",
      graph("s", "b: a s", "a: b", "m: a", "d: c m", "c: d", "e: d", "f: f"),
      [["a", "b"], ["c", "d"], ["f"]],
    ],
    ["two cycles that share a node", graph("a: b c", "b: a", "c: a"), [["a", "b", "c"]]],
  ])("names exactly the members of the cycle: %s (B089)", (_, nodes, cycles) => {
    expect(cyclesOf(nodes)).toEqual(cycles);
    expect(cyclesOf([...nodes].reverse())).toEqual(cycles);
  });

  it("takes node ids with the names of built-ins as ids (B101)", () => {
    const nodes = graph("__proto__: constructor", "constructor", "hasOwnProperty: __proto__");
    expect(orderGraph(nodes)).toEqual({
      ok: true,
      value: ["constructor", "__proto__", "hasOwnProperty"],
    });
    expect(cyclesOf(graph("__proto__: toString", "toString: __proto__"))).toEqual([
      ["__proto__", "toString"],
    ]);
    expect(Object.prototype.toString.call([])).toBe("[object Array]");
  });

  it("orders a chain and layers of 100,000 nodes, and finds a ring of 5,000, without recursion", () => {
    const ordering = orderGraph(chain(100_000));
    expect(ordering.ok && ordering.value.at(-1)).toBe("n99999");
    expect(orderGraph(layers(100_000)).ok).toBe(true);
    const [first, ...rest] = chain(5_000);
    const ring = [{ id: first?.id ?? "", after: ["n4999"] }, ...rest];
    expect(cyclesOf(ring).map((cycle) => cycle.length)).toEqual([5_000]);
  });

  it("finds two small cycles, one before and one after 100,000 nodes that are on none", () => {
    const followers = chain(50_000).map(({ id, after }) => ({
      id: `follower ${id}`,
      after: after.length === 0 ? ["y0"] : after.map((one) => `follower ${one}`),
    }));
    const nodes = [...chain(50_000), ...graph("z0: n49999 z1", "z1: z0", "y0: y1", "y1: y0")];
    expect(cyclesOf([...nodes, ...followers])).toEqual([
      ["y0", "y1"],
      ["z0", "z1"],
    ]);
  });
});
