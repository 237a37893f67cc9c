/**
 * Order of a dependency graph, and what keeps it from having one.
 *
 * Everything here is iterative and linear but for the heap, so a chain of 100,000 nodes neither overflows the stack nor
 * slows down. Ordering runs on flat arrays: filling a graphlib graph takes about ten times as long as the whole
 * order. graphlib holds what could not be ordered, where cycles are searched; a good graph never pays for it. Its node
 * names are ranks, never ids: it keeps nodes in plain objects, where an id such as `__proto__` reaches Object.prototype.
 */
import { Graph } from "@dagrejs/graphlib";
import { err, ok, type Result } from "./result.ts";
import { compareText } from "./text.ts";

/** A node and the ids of the nodes it waits for. */
export interface GraphNode {
  readonly id: string;
  readonly after: readonly string[];
}

export interface GraphCycles {
  /**
   * The strongly connected parts of more than one node, and nodes that wait for themselves: members only, not what
   * merely waits for them. Members sorted, parts sorted by first member.
   */
  readonly cycles: readonly (readonly string[])[];
}

/**
 * All ids, each after everything it waits for; among those that could come next the smallest (UTF-16 order) comes
 * first, so the order depends on ids and edges only. An `after` that names no node is passed over, and nodes of the
 * same id count as one: whoever resolves names reports both.
 */
export function orderGraph(nodes: readonly GraphNode[]): Result<readonly string[], GraphCycles> {
  const edges = rankedEdges(nodes);
  const { ids, waiting, first, next, to } = edges;
  const ready: RankHeap = { ranks: new Int32Array(ids.length), size: 0 };
  for (let rank = 0; rank < ids.length; rank += 1) if (waiting[rank] === 0) push(ready, rank);
  const order: string[] = [];
  const done = new Uint8Array(ids.length);
  for (let rank = pop(ready); rank !== -1; rank = pop(ready)) {
    order.push(ids[rank] ?? "");
    done[rank] = 1;
    for (let edge = first[rank] ?? -1; edge !== -1; edge = next[edge] ?? -1) {
      const follower = to[edge] ?? 0;
      const left = (waiting[follower] ?? 0) - 1;
      waiting[follower] = left;
      if (left === 0) push(ready, follower);
    }
  }
  if (order.length === ids.length) return ok(order);
  return err({ cycles: cyclesOf(unordered(edges, done), ids) });
}

/** Nodes by rank, which is their position in the sorted ids; the edges out of each as a linked list in flat arrays. */
interface RankedEdges {
  readonly ids: readonly string[];
  /** How many edges lead to a rank; counted down while ordering. */
  readonly waiting: Int32Array;
  /** The first edge out of a rank, or -1. */
  readonly first: Int32Array;
  /** The edge after an edge of the same rank, or -1. */
  readonly next: Int32Array;
  readonly to: Int32Array;
}

function rankedEdges(nodes: readonly GraphNode[]): RankedEdges {
  const rankOf = new Map<string, number>();
  let count = 0;
  for (const node of nodes) {
    rankOf.set(node.id, 0);
    count += node.after.length;
  }
  const ids = [...rankOf.keys()].sort(compareText);
  for (let rank = 0; rank < ids.length; rank += 1) rankOf.set(ids[rank] ?? "", rank);
  const waiting = new Int32Array(ids.length);
  const first = new Int32Array(ids.length).fill(-1);
  const next = new Int32Array(count);
  const to = new Int32Array(count);
  let edge = 0;
  for (const node of nodes) {
    const rank = rankOf.get(node.id) ?? 0;
    for (const before of node.after) {
      const from = rankOf.get(before);
      if (from === undefined) continue;
      waiting[rank] = (waiting[rank] ?? 0) + 1;
      to[edge] = rank;
      next[edge] = first[from] ?? -1;
      first[from] = edge;
      edge += 1;
    }
  }
  return { ids, waiting, first, next, to };
}

/** What no order reached, without what merely waits for it: only nodes on a cycle or between two cycles are left. */
function unordered({ ids, first, next, to }: RankedEdges, done: Uint8Array): Graph {
  const followers = new Int32Array(ids.length);
  const before: number[][] = ids.map(() => []);
  for (let rank = 0; rank < ids.length; rank += 1) {
    if (done[rank] === 1) continue;
    for (let edge = first[rank] ?? -1; edge !== -1; edge = next[edge] ?? -1) {
      followers[rank] = (followers[rank] ?? 0) + 1;
      before[to[edge] ?? 0]?.push(rank);
    }
  }
  const open: number[] = [];
  for (let rank = 0; rank < ids.length; rank += 1) {
    if (done[rank] === 0 && followers[rank] === 0) open.push(rank);
  }
  for (let rank = open.pop(); rank !== undefined; rank = open.pop()) {
    done[rank] = 1;
    for (const one of before[rank] ?? []) {
      const left = (followers[one] ?? 0) - 1;
      followers[one] = left;
      if (left === 0) open.push(one);
    }
  }
  const graph = new Graph({ directed: true });
  for (let rank = 0; rank < ids.length; rank += 1) {
    if (done[rank] === 1) continue;
    graph.setNode(String(rank));
    for (const one of before[rank] ?? []) {
      if (done[one] === 0) graph.setEdge(String(one), String(rank));
    }
  }
  return graph;
}

/** A node on the path of the search, and which of its successors comes next. */
interface Visit {
  readonly rank: string;
  readonly successors: readonly string[];
  position: number;
}

/** Tarjan's strongly connected parts with a stack of our own: graphlib's search recurses. */
function cyclesOf(graph: Graph, ids: readonly string[]): readonly (readonly string[])[] {
  const cycles: string[][] = [];
  const numbers = new Map<string, number>();
  const lowest = new Map<string, number>();
  const part: string[] = [];
  const inPart = new Set<string>();
  const enter = (rank: string): Visit => {
    const number = numbers.size;
    numbers.set(rank, number);
    lowest.set(rank, number);
    part.push(rank);
    inPart.add(rank);
    return { rank, successors: graph.successors(rank) ?? [], position: 0 };
  };
  const lower = (rank: string, number: number | undefined): void => {
    if (number !== undefined && number < (lowest.get(rank) ?? 0)) lowest.set(rank, number);
  };
  for (const root of graph.nodes()) {
    if (numbers.has(root)) continue;
    const path = [enter(root)];
    for (let visit = path.at(-1); visit !== undefined; visit = path.at(-1)) {
      const { rank } = visit;
      const successor = visit.successors[visit.position];
      if (successor !== undefined) {
        visit.position += 1;
        if (!numbers.has(successor)) path.push(enter(successor));
        else if (inPart.has(successor)) lower(rank, numbers.get(successor));
        continue;
      }
      path.pop();
      const parent = path.at(-1);
      if (parent !== undefined) lower(parent.rank, lowest.get(rank));
      if (lowest.get(rank) !== numbers.get(rank)) continue;
      const members = part.splice(part.lastIndexOf(rank));
      for (const member of members) inPart.delete(member);
      if (members.length > 1 || graph.hasEdge(rank, rank)) {
        cycles.push(members.map((member) => ids[Number(member)] ?? "").sort(compareText));
      }
    }
  }
  return cycles.sort((left, right) => compareText(left[0] ?? "", right[0] ?? ""));
}

/** A binary heap of ranks, smallest first. */
interface RankHeap {
  readonly ranks: Int32Array;
  size: number;
}

function push(heap: RankHeap, rank: number): void {
  const { ranks } = heap;
  let at = heap.size;
  heap.size += 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const other = ranks[parent] ?? 0;
    if (other <= rank) break;
    ranks[at] = other;
    at = parent;
  }
  ranks[at] = rank;
}

/** The smallest rank, or -1 when there is none. */
function pop(heap: RankHeap): number {
  if (heap.size === 0) return -1;
  const { ranks } = heap;
  const smallest = ranks[0] ?? -1;
  heap.size -= 1;
  const moved = ranks[heap.size] ?? 0;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.size) break;
    if (child + 1 < heap.size && (ranks[child + 1] ?? 0) < (ranks[child] ?? 0)) child += 1;
    const other = ranks[child] ?? 0;
    if (other >= moved) break;
    ranks[at] = other;
    at = child;
  }
  ranks[at] = moved;
  return smallest;
}
