/** What tokens cost, as the user states it. Rote knows no prices of its own. */
import * as z from "zod/mini";

/** Money per million tokens: decimal text, never a number. */
const price = z.string().check(z.regex(/^(0|[1-9][0-9]{0,11})(\.[0-9]{1,12})?$/));

export const modelPriceSchema = z.strictObject({
  input: price,
  output: price,
  /** Input that was read from the provider's cache. Without it, such input has no price. */
  cached_input: z.exactOptional(price),
  /** Input that was written to the provider's cache. Without it, such input has no price. */
  cache_write: z.exactOptional(price),
});

export const priceTableSchema = z.strictObject({
  version: z.literal(1),
  /** Three capital letters, for all prices of the table. */
  currency: z.string().check(z.regex(/^[A-Z]{3}$/)),
  /** By `provider:model`, as configured. */
  models: z.record(z.string().check(z.regex(/^[^:]+:.+$/)), modelPriceSchema),
});

export type ModelPrice = z.infer<typeof modelPriceSchema>;
export type PriceTable = z.infer<typeof priceTableSchema>;
