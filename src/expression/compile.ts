/** Typed operators -> a closure that evaluates, within limits and without side effects. */
import type { CompiledExpression, Sources, Value } from "../model/value.ts";
import type { TypedExpression } from "./check.ts";
import { entered } from "./checking.ts";
import { isScalar } from "./equality.ts";
import { measure } from "./extent.ts";
import { type Frame, fail, type Layout } from "./frame.ts";
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
  const { root, type, at, parsed, inEach } = typed;
  const bounds = lowered(limits);
  const code = entered(root, { limits: bounds, layout });
  const { fuel } = bounds;
  const scalar = isScalar(type);
  const evaluate = (sources: Sources): Value => {
    const frame: Frame = {
      inputs: sources.inputs,
      nodes: sources.nodes,
      items: [],
      positions: [],
      fuel,
    };
    if (inEach) {
      frame.items[0] = sources.item ?? null;
      frame.positions[0] = sources.index ?? 0;
    }
    const value = code(frame);
    if (scalar) return value;
    // Parts may be shared, so only the whole tells how large it is when written.
    const extent = measure(type, value, bounds);
    if (typeof extent === "string") throw fail(frame, root.site, "too_large", extent);
    return value;
  };
  return Object.freeze({
    type,
    at,
    get normal() {
      return parsed.normal;
    },
    evaluate,
  });
}
