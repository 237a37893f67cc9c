/** What readers of registered documents share: the source by name, its committed bytes, and refusals of its content. */
import type { JsonValue } from "../base/json.ts";
import type { Tool, ToolOutcome } from "../ports/tool.ts";
import { committedBytes, type FileSource, type FileSources } from "./file-sources.ts";
import { badArguments, broke, CANCELLED, Declared, nameOf, refused } from "./outcome.ts";

export interface Committed<Request> {
  readonly request: Request;
  /** What the registration committed to, compared just now. */
  readonly bytes: Uint8Array;
  readonly about: { readonly source: string; readonly sha256: string; readonly media_type: string };
  readonly signal: AbortSignal;
}

export const WANTED_CONTENT: JsonValue = {
  type: "string",
  pattern: "^[0-9a-f]{64}$",
  description: "the content that is meant; any other is refused",
};

export function isWantedContent(value: JsonValue | undefined): value is string | undefined {
  return value === undefined || (typeof value === "string" && /^[0-9a-f]{64}$/.test(value));
}

interface Wanted {
  readonly source: string;
  readonly sha256: string | undefined;
}

/**
 * A tool's `call` that hands committed bytes to `answer`. What `answer` throws as a refusal is the document's; anything
 * else breaks the call without a word of the document.
 */
export function committedRead<Request extends Wanted>(
  registered: FileSources,
  mediaType: string,
  requestOf: (args: JsonValue) => Request | string,
  answer: (read: Committed<Request>) => Promise<ToolOutcome>,
): Tool["call"] {
  const sources = new Map(registered);
  return async ({ arguments: args, signal }) => {
    const request = requestOf(args);
    if (typeof request === "string") return badArguments(request);
    if (signal.aborted) return CANCELLED;
    const found = sources.get(request.source);
    if (found === undefined) return refused("unknown_source", "there is no such source");
    const { source, sha256, media_type } = found;
    if (request.sha256 !== undefined && request.sha256 !== sha256) {
      return refused("other_content", `${source} has another content than was asked for`);
    }
    if (media_type !== mediaType) {
      return refused("wrong_media_type", `${source} is registered as ${media_type}`);
    }
    const bytes = await committed(found, signal);
    if (bytes === undefined) {
      return refused("source_changed", `${source} is not what was registered any more`);
    }
    try {
      return await answer({ request, bytes, about: { source, sha256, media_type }, signal });
    } catch (error) {
      if (error instanceof Declared) return error.outcome;
      throw broke("source_unreadable", `${source} cannot be read (${nameOf(error)})`, error);
    }
  };
}

/** @throws ToolBroke `source_unreadable` */
export async function committed(
  source: FileSource,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  try {
    return await committedBytes(source, signal);
  } catch (error) {
    const message = `${source.source} cannot be read (${nameOf(error)})`;
    throw broke("source_unreadable", message, error);
  }
}

/** Text of a document as JSON can hold it: half a character, which some writers leave behind, is shown as one lost. */
export function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, "\ufffd");
}
