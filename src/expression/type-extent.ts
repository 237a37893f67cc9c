/** How large a type is when everything shared is written out. */
import type { Type } from "../model/type.ts";

export interface TypeExtent {
  /** Types nested in each other; 1 for a scalar. */
  readonly depth: number;
  /** Types and enum texts in all. */
  readonly parts: number;
}

const SCALAR: TypeExtent = { depth: 1, parts: 1 };

/**
 * The extent of a type. `known` remembers shared parts, so that a type built by doubling is measured in linear time;
 * nested types are reached by recursion, so nothing deeper than a few times the limit may be built before asking.
 */
export function typeExtent(type: Type, known: Map<Type, TypeExtent> = new Map()): TypeExtent {
  if (type.kind !== "list" && type.kind !== "record" && type.kind !== "enum") {
    if (type.kind !== "dictionary" && type.kind !== "optional") return SCALAR;
  }
  const before = known.get(type);
  if (before !== undefined) return before;
  const extent = measure(type, known);
  known.set(type, extent);
  return extent;
}

function measure(type: Type, known: Map<Type, TypeExtent>): TypeExtent {
  switch (type.kind) {
    case "enum":
      return { depth: 1, parts: 1 + type.values.length };
    case "list":
    case "dictionary":
    case "optional": {
      const of = typeExtent(type.of, known);
      return { depth: of.depth + 1, parts: of.parts + 1 };
    }
    case "record": {
      let depth = 0;
      let parts = 1;
      for (const field of type.fields.values()) {
        const extent = typeExtent(field, known);
        depth = Math.max(depth, extent.depth);
        parts += extent.parts;
      }
      return { depth: depth + 1, parts };
    }
    default:
      return SCALAR;
  }
}
