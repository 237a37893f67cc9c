/** How large a type is when everything shared is written out. */
import type { Type } from "../model/type.ts";

export interface TypeExtent {
  /** Types nested in each other; 1 for a scalar. */
  readonly depth: number;
  /** Types and enum texts in all. */
  readonly parts: number;
}

const SCALAR: TypeExtent = { depth: 1, parts: 1 };

/** Extents by type. `made` counts the parts that were looked at, each shared type once. */
export interface Extents {
  readonly known: Map<Type, TypeExtent>;
  made: number;
}

export function noExtents(): Extents {
  return { known: new Map(), made: 0 };
}

/**
 * The extent of a type. `extents` remembers shared parts, so that a type built by doubling is measured in linear time;
 * nested types are reached by recursion, so nothing deeper than a few times the limit may be built before asking.
 */
export function typeExtent(type: Type, extents: Extents = noExtents()): TypeExtent {
  switch (type.kind) {
    case "enum":
    case "list":
    case "record":
    case "dictionary":
    case "optional":
      break;
    default:
      return SCALAR;
  }
  const before = extents.known.get(type);
  if (before !== undefined) return before;
  const extent = measure(type, extents);
  extents.known.set(type, extent);
  return extent;
}

function measure(type: Type, extents: Extents): TypeExtent {
  extents.made += 1;
  switch (type.kind) {
    case "enum":
      extents.made += type.values.length;
      return { depth: 1, parts: 1 + type.values.length };
    case "list":
    case "dictionary":
    case "optional": {
      const of = typeExtent(type.of, extents);
      return { depth: of.depth + 1, parts: of.parts + 1 };
    }
    case "record": {
      let depth = 0;
      let parts = 1;
      extents.made += type.fields.size;
      for (const field of type.fields.values()) {
        const extent = typeExtent(field, extents);
        depth = Math.max(depth, extent.depth);
        parts += extent.parts;
      }
      return { depth: depth + 1, parts };
    }
    default:
      return SCALAR;
  }
}
