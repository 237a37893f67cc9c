/** Text of others on its way into records that are small, canonical and kept for ever. */
import { shortened } from "../base/text.ts";

/** What a tool calls an outcome. */
export const CODE_LENGTH = 128;
export const MESSAGE_LENGTH = 500;

/** At most `most` UTF-16 units, without lone surrogates; for what is no text, nothing. */
export function bounded(text: unknown, most = MESSAGE_LENGTH): string {
  return typeof text === "string" ? shortened(text, most) : "";
}
