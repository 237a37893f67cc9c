/** Text of others on its way into records that are small, canonical and kept for ever. */

/** What a tool calls an outcome. */
export const CODE_LENGTH = 128;
export const MESSAGE_LENGTH = 500;

/** At most `most` UTF-16 units, without lone surrogates; for what is no text, nothing. */
export function bounded(text: unknown, most = MESSAGE_LENGTH): string {
  if (typeof text !== "string") return "";
  const cut = text.length > most ? `${text.slice(0, most - 1)}…` : text;
  // Encoding replaces halves of pairs, those that the cut made among them.
  return Buffer.from(cut).toString();
}
