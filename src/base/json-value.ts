/** A JSON value of the closed domain: finite numbers, strings without lone surrogates, null-prototype objects. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };
