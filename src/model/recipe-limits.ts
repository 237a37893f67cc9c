/** Upper bounds of a recipe. A host may lower them, never raise them. */
export const RECIPE_LIMITS = {
  /** Bytes of the document. */
  bytes: 16_777_216,
  /** Bytes of the normal form. */
  normal: 67_108_864,
  nodes: 100_000,
  inputs: 1_000,
  types: 1_000,
  /** Elements of one `each`. */
  each: 100_000,
  title: 200,
  description: 10_000,
  message: 1_000,
  instructions: 100_000,
  absent_on: 100,
} as const;
