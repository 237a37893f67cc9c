import type { JsonValue } from "../base/json.ts";

/** A report is a JSON document by contract; this only says so to the compiler. */
export function reportJson(report: object): { readonly [key: string]: JsonValue } {
  return JSON.parse(JSON.stringify(report)) as { readonly [key: string]: JsonValue };
}
