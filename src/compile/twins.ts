/**
 * Pure nodes that compute the same thing twice.
 *
 * A node is the twin of an earlier one when guard, list, expression and declared output are identical, references to
 * twins counting as references to their originals, and when whatever the original waits for the twin waits for as
 * well: by the time the twin may start, the original has its value.
 *
 * Texts are written out only for nodes that agree in cheap traits, so a graph without twins costs next to nothing.
 * Nodes with one text and different dependencies are compared with the first few only: that bounds the work, and a
 * missed twin costs one evaluation.
 */
import { canonicalText } from "../base/canonical.ts";
import type { JsonValue } from "../base/json.ts";
import { typeToJson } from "../expression/index.ts";
import type { CheckedNode } from "./3-check.ts";
import { isList, isObject } from "./json-object.ts";
import { SLOTS } from "./parsed.ts";

const COMPARED = 8;

/** For each node, in plan order, the plan index of its original or null. */
export function findTwins(nodes: readonly CheckedNode[]): readonly (number | null)[] {
  const search = new TwinSearch(nodes);
  return nodes.map((node) => search.originalOf(node));
}

class TwinSearch {
  /** The first node with given traits, until a second one asks for its text. */
  private readonly lone = new Map<string, CheckedNode | null>();
  private readonly byText = new Map<string, CheckedNode[]>();
  /** Twins found so far: id of the twin to its original. */
  private readonly originals = new Map<string, CheckedNode>();
  private readonly nodes: readonly CheckedNode[];

  constructor(nodes: readonly CheckedNode[]) {
    this.nodes = nodes;
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
      this.originals.set(node.resolved.id, original);
      return original.resolved.index;
    }
    if (alike.length < COMPARED) alike.push(node);
    return null;
  }

  /** The original of a node that is a twin, else the node itself. */
  private standIn(index: number): number {
    const id = this.nodes[index]?.resolved.id ?? "";
    return this.originals.get(id)?.resolved.index ?? index;
  }

  private standInId(id: string): string {
    return this.originals.get(id)?.resolved.id ?? id;
  }

  /** Equal for nodes that could be twins, cheap to make. */
  private traits({ resolved: { parsed } }: CheckedNode): string {
    let traits = parsed.each === undefined ? "" : `${parsed.each.as} ${parsed.each.limit}`;
    for (const slot of SLOTS) {
      const expression = parsed.slots[slot];
      if (expression === undefined) continue;
      const nodes = expression.nodes.map((id) => this.standInId(id)).sort();
      const inputs = [...expression.inputs].sort();
      traits += `|${slot} ${expression.operators} ${inputs.join(" ")} / ${nodes.join(" ")}`;
    }
    return traits;
  }

  private text({ resolved: { parsed }, types }: CheckedNode): string {
    const parts: JsonValue[] = [typeToJson(types.declared)];
    if (parsed.each !== undefined) parts.push({ ...parsed.each });
    for (const slot of SLOTS) {
      const expression = parsed.slots[slot];
      if (expression !== undefined) parts.push(slot, this.withStandIns(expression.normal));
    }
    return canonicalText(parts);
  }

  /** The expression with references to twins replaced; what a literal holds is data and stays. */
  private withStandIns(normal: JsonValue): JsonValue {
    if (isList(normal)) return normal.map((one) => this.withStandIns(one));
    if (!isObject(normal) || normal["op"] === "literal") return normal;
    const isReference = normal["op"] === "node";
    const replaced: { [key: string]: JsonValue } = Object.create(null);
    for (const [key, value] of Object.entries(normal)) {
      replaced[key] =
        isReference && key === "id" && typeof value === "string"
          ? this.standInId(value)
          : this.withStandIns(value);
    }
    return replaced;
  }
}
