/** JSON as Rote reads it: one closed domain, one strict way in from bytes and one from objects. */
export { admitJson } from "./json-admit.ts";
export { copyJson } from "./json-copy.ts";
export type { JsonError, JsonLimits } from "./json-error.ts";
export { locate, sourceAt, sourcesIn } from "./json-locate.ts";
export { readJson } from "./json-read.ts";
export { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "./json-value.ts";
