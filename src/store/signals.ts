/**
 * Signals kept per procedure, of each verdict the latest ones. They are in the counts already; they stay so that no run
 * is taken twice, and so that what contradicted a learned answer is remembered.
 */
export const KEPT_SIGNALS = 100;
