/** Typed operators -> a closure that evaluates, within limits and without side effects. */
import type { CompiledExpression, Sources, Value } from "../model/value.ts";
import type { TypedExpression } from "./check.ts";
import { isScalar } from "./equality.ts";
import { measure } from "./extent.ts";
import { type Frame, fail, type Layout, outOfFuel } from "./frame.ts";
import { type EvaluationLimits, lowered } from "./limits.ts";

/**
 * Compiles a checked expression.
 *
 * @param layout the slots of `Sources` in which inputs and nodes will stand
 * @param limits lower limits than the defaults; higher ones have no effect
 */
export function compileExpression(
  typed: TypedExpression,
  layout: Layout,
  limits?: Partial<EvaluationLimits>,
): CompiledExpression {
  // Nothing of the parsed and checked forms is kept: a plan holds only what it evaluates.
  const { root, type, at, inEach, names } = typed;
  const { site } = root;
  const bounds = lowered(limits);
  const code = root.lower({ limits: bounds, layout });
  const fuel = bounds.fuel - root.cost;
  const scalar = isScalar(type);
  const evaluate = (sources: Sources): Value => {
    const frame: Frame = {
      inputs: sources.inputs,
      nodes: sources.nodes,
      items: names === 0 ? NO_ITEMS : [],
      positions: names === 0 ? NO_POSITIONS : [],
      fuel,
    };
    if (inEach) {
      frame.items[0] = sources.item ?? null;
      frame.positions[0] = sources.index ?? 0;
    }
    if (fuel < 0) throw outOfFuel(frame, site);
    const value = code(frame);
    if (scalar) return value;
    // Parts may be shared, so only the whole tells how large it is when written.
    const extent = measure(type, value, bounds);
    if (typeof extent === "string") throw fail(frame, site, "too_large", extent);
    return value;
  };
  return Object.freeze({
    type,
    at,
    evaluate,
  });
}

/** Where nothing has a name, nothing is written here. */
const NO_ITEMS: Value[] = [];
const NO_POSITIONS: number[] = [];
