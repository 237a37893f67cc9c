import type { JsonValue } from "./json-value.ts";

/**
 * The one error class of Rote: misuse by the caller, or an adapter that broke.
 *
 * Expected outcomes are values (`Result`, a run's stop reason), not errors. Callers match `code`, which is
 * stable, never the message. `data` is bounded and free of secrets, so it may be logged.
 */
export class RoteError extends Error {
  override readonly name = "RoteError";
  readonly code: string;
  readonly data: { readonly [key: string]: JsonValue };

  constructor(
    code: string,
    message: string,
    data: { readonly [key: string]: JsonValue } = {},
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.data = data;
  }
}
