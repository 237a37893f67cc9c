/**
 * Pure nodes that compute the same thing twice.
 *
 * A node is the twin of an earlier one when guard, list, expression and declared output are identical, references to
 * twins counting as references to their originals, and when whatever the original waits for the twin waits for as
 * well: by the time the twin may start, the original has its value.
 *
 * Texts are written out only for nodes that agree in cheap traits: where nodes refer to different things that costs next
 * to nothing, and elsewhere no more than writing the normal form once more. Nodes with one text and different
 * dependencies are compared with the first few only: that bounds the work, and a missed twin costs one evaluation.
 */
import { byteSink, putAscii } from "../base/canonical-bytes.ts";
import { type ParsedExpression, putNormal, putType } from "../expression/index.ts";
import type { ResolvedRecipe } from "./2-resolve.ts";
import type { CheckedNode, CheckedRecipe } from "./3-check.ts";
import { SLOTS } from "./parsed.ts";

const COMPARED = 8;

/** For each node, in plan order, the plan index of its original or null. */
export function findTwins({ resolved, nodes }: CheckedRecipe): readonly (number | null)[] {
  const search = new TwinSearch(resolved);
  return nodes.map((node) => search.originalOf(node));
}

class TwinSearch {
  /** The first node with given traits, until a second one asks for its text. */
  private readonly lone = new Map<number, CheckedNode | null>();
  private readonly byText = new Map<string, CheckedNode[]>();
  /** Twins found so far, by plan index, with their originals. */
  private readonly originals = new Map<number, CheckedNode>();
  private readonly sink = byteSink();
  private readonly positions: ReadonlyMap<string, number>;
  private readonly inputs: ReadonlyMap<string, number>;

  constructor({ positions, parsed }: ResolvedRecipe) {
    this.positions = positions;
    this.inputs = new Map([...parsed.inputs.keys()].map((name, slot) => [name, slot] as const));
  }

  originalOf(node: CheckedNode): number | null {
    if (node.resolved.parsed.step?.kind !== "pure") return null;
    const traits = this.traits(node);
    const first = this.lone.get(traits);
    if (first === undefined) {
      this.lone.set(traits, node);
      return null;
    }
    if (first !== null) {
      this.byText.set(this.text(first), [first]);
      this.lone.set(traits, null);
    }
    const text = this.text(node);
    const alike = this.byText.get(text);
    if (alike === undefined) {
      this.byText.set(text, [node]);
      return null;
    }
    const waitsFor = new Set(node.resolved.after.map((index) => this.standIn(index)));
    const original = alike.find(({ resolved }) =>
      resolved.after.every((index) => waitsFor.has(this.standIn(index))),
    );
    if (original !== undefined) {
      this.originals.set(node.resolved.index, original);
      return original.resolved.index;
    }
    if (alike.length < COMPARED) alike.push(node);
    return null;
  }

  /** The original of a node that is a twin, else the node itself. */
  private standIn(index: number): number {
    return this.originals.get(index)?.resolved.index ?? index;
  }

  private readonly rename = (id: string): string =>
    this.originals.get(this.position(id))?.resolved.id ?? id;

  /** Equal for nodes that could be twins, cheap to make: a hash of sizes and sources. */
  private traits({ resolved: { parsed } }: CheckedNode): number {
    let traits = parsed.each === undefined ? 1 : parsed.each.limit;
    for (const slot of SLOTS) {
      const expression = parsed.slots[slot];
      if (expression === undefined) continue;
      let sources = 0;
      for (const id of expression.nodes) sources += spread(this.standIn(this.position(id)) + 1);
      for (const name of expression.inputs) sources += spread(-1 - (this.inputs.get(name) ?? 0));
      traits = (Math.imul(traits, 31) + operatorTrait(expression.tree)) | 0;
      traits = (Math.imul(traits, 31) + sources) | 0;
    }
    return traits;
  }

  private position(id: string): number {
    return this.positions.get(id) ?? -1;
  }

  /** One text for nodes that compute the same; the sink is used again for the next. */
  private text({ resolved: { parsed }, types }: CheckedNode): string {
    const { sink } = this;
    sink.size = 0;
    putType(sink, types.declared);
    if (parsed.each !== undefined) putAscii(sink, ` ${parsed.each.as} ${parsed.each.limit}`);
    for (const slot of SLOTS) {
      const expression = parsed.slots[slot];
      if (expression === undefined) continue;
      putAscii(sink, ` ${slot} `);
      putNormal(sink, expression.tree, this.rename);
    }
    return sink.bytes.toString("latin1", 0, sink.size);
  }
}

/** The outermost operator alone: how many there are depends on whether members that may be left out are written. */
function operatorTrait(tree: ParsedExpression["tree"]): number {
  if (tree.kind !== "operator") return 0;
  return spread(tree.op.length * 128 + tree.op.charCodeAt(0));
}

/** Scatters small numbers, so that sums of different ones rarely meet. */
function spread(value: number): number {
  return Math.imul(value ^ (value >>> 15), 0x2c1b3c6d) | 0;
}
