/** Bounds that make every expression end soon and small. A host may lower them, never raise them. */

/** Bounds of the document part: checked before anything is evaluated. */
export interface ExpressionLimits {
  /** Operators of one expression, short forms counted as what they stand for. */
  readonly operators: number;
  /** JSON levels of the long form. */
  readonly depth: number;
}

export const EXPRESSION_LIMITS: ExpressionLimits = { operators: 10_000, depth: 48 };

/** Bounds of a type, names resolved: nested types, and parts in all. */
export const TYPE_LIMITS = { depth: 48, parts: 10_000 } as const;

/** Parts of all types that the operators of one expression make, parts that they share counted once. */
export const MADE_TYPES = 200_000;

/** Levels of a json value, as many as the reader of documents admits. */
export const MAX_JSON_DEPTH = 64;

/** Bounds of one evaluation. */
export interface EvaluationLimits {
  /** Bits of an integer's magnitude. */
  readonly integerBits: number;
  /** UTF-16 units of one text. */
  readonly textUnits: number;
  /** Elements of one list or dictionary. */
  readonly elements: number;
  /** A whole value: scalars and containers, shared parts counted as often as they occur. */
  readonly nodes: number;
  /** A whole value: UTF-16 units of all its texts and keys, shared parts counted as often as they occur. */
  readonly units: number;
  /** Fuel of one evaluation (docs/expressions.md says what costs how much). */
  readonly fuel: number;
}

export const EVALUATION_LIMITS: EvaluationLimits = {
  integerBits: 8_192,
  textUnits: 1_048_576,
  elements: 100_000,
  nodes: 1_000_000,
  units: 16_777_216,
  fuel: 1_000_000,
};

/** The given limits, none above the defaults. */
export function lowered(limits: Partial<EvaluationLimits> | undefined): EvaluationLimits {
  if (limits === undefined) return EVALUATION_LIMITS;
  const lower = (name: keyof EvaluationLimits): number => {
    const asked = limits[name];
    const standard = EVALUATION_LIMITS[name];
    // Whatever is not lower, NaN among it, has no effect.
    return asked !== undefined && asked < standard ? Math.max(0, Math.floor(asked)) : standard;
  };
  return {
    integerBits: lower("integerBits"),
    textUnits: lower("textUnits"),
    elements: lower("elements"),
    nodes: lower("nodes"),
    units: lower("units"),
    fuel: lower("fuel"),
  };
}
