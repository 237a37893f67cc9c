/** What an answer of an HTTP target means, and its body as JSON. Nothing is repaired and nothing is guessed. */
import type { IncomingMessage } from "node:http";
import { type JsonValue, readJson } from "../base/json.ts";
import { readBody } from "./http-exchange.ts";
import { broke } from "./outcome.ts";

/** What a status says of the request. A `code` is for the run, as `absent_on` names it. */
export type StatusMeaning =
  | "done"
  | { readonly refused: string }
  | { readonly not_applied: string };

interface AnswerSettings {
  readonly mediaTypes: readonly string[];
  readonly maxResponseBytes: number;
}

/** @throws ToolBroke `response_malformed` `response_too_large`, or as the connection breaks */
export async function resultOf(
  settings: AnswerSettings,
  method: string,
  answer: IncomingMessage,
  signal: AbortSignal,
): Promise<JsonValue> {
  const status = answer.statusCode ?? 0;
  const bytes = await readBody(answer, settings.maxResponseBytes, signal);
  if (method === "HEAD" || bytes.byteLength === 0) return { status, media_type: null, body: null };
  const encoding = answer.headers["content-encoding"] ?? "identity";
  if (encoding !== "identity") throw broke("response_malformed", "the answer is packed");
  const { media_type, charset } = contentType(answer.headers["content-type"]);
  if (!settings.mediaTypes.includes(media_type)) {
    throw broke("response_malformed", "the answer has a media type that was not declared");
  }
  if (charset !== undefined && charset !== "utf-8") {
    throw broke("response_malformed", "the answer is not in UTF-8");
  }
  return { status, media_type, body: bodyOf(media_type, bytes) };
}

function bodyOf(mediaType: string, bytes: Uint8Array): JsonValue {
  if (mediaType.startsWith("text/")) {
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch (error) {
      throw broke("response_malformed", "the answer is not UTF-8", error);
    }
  }
  const read = readJson(bytes, { numbers: "finite" });
  if (read.ok) return read.value;
  throw broke("response_malformed", `the answer is not strict JSON (${read.error.code})`);
}

function contentType(header: string | undefined) {
  const [type = "", ...parameters] = (header ?? "").toLowerCase().split(";");
  const charset = parameters.map((one) => one.trim()).find((one) => one.startsWith("charset="));
  return {
    media_type: type.trim(),
    charset: charset?.slice("charset=".length).replace(/^"(.*)"$/, "$1"),
  };
}

export function meaningOf(
  statuses: Readonly<Record<string, StatusMeaning>>,
  status: number,
): StatusMeaning | undefined {
  const exact = String(status);
  if (Object.hasOwn(statuses, exact)) return statuses[exact];
  const family = `${exact.slice(0, 1)}xx`;
  return Object.hasOwn(statuses, family) ? statuses[family] : undefined;
}
