import { fromBase64, fromBase64Url } from "../base/bytes.ts";
import { isJsonObject, type JsonValue } from "../base/json.ts";
import { warrantSchema } from "../model/trust.ts";
import { readDocument } from "../trust/signed-document.ts";

/** The parent that a warrant names, before anybody vouched for it: only to find the next link. */
export function parentOf(envelope: JsonValue): string | null {
  const payload = isJsonObject(envelope) ? envelope["payload"] : undefined;
  if (typeof payload !== "string") return null;
  const bytes = fromBase64(payload) ?? fromBase64Url(payload);
  const document = bytes === undefined ? undefined : readDocument(bytes, warrantSchema);
  return document?.ok === true ? document.value.parent : null;
}
