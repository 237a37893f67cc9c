/**
 * The private file source: records and byte ranges of files that the host registered. A request names a source and a
 * record, never a path; the content is compared with its commitment at every read.
 */
import { canonicalBytes } from "../base/canonical.ts";
import { type JsonValue, readJson } from "../base/json.ts";
import { parsePointer, readPointer } from "../base/pointer.ts";
import { shortened } from "../base/text.ts";
import type { Tool, ToolOutcome } from "../ports/tool.ts";
import { defineTool, type ToolWords, wordsOf } from "./definition.ts";
import { committed, isWantedContent } from "./documents.ts";
import {
  type ByteRange,
  type FileSource,
  type FileSources,
  isDocument,
  JSON_LIMITS,
  JSON_LINES_TYPE,
  JSON_TYPE,
} from "./file-sources.ts";
import { faultOf, isInteger, membersOf } from "./members.ts";
import { badArguments, broke, CANCELLED, done, refused } from "./outcome.ts";

export interface FileToolOptions extends Partial<ToolWords> {
  /** Bytes that one answer may hold. Default 1 MiB. */
  readonly maxCount?: number;
}

interface Request {
  readonly source: string;
  readonly record: string | number | undefined;
  readonly range: ByteRange | undefined;
  /** What the source must be, when whoever asks says so: the digest is then part of what is approved. */
  readonly sha256: string | undefined;
}

const DESCRIPTION =
  'Reads a record or a byte range of a registered source. A record of JSON Lines is named by its number from 0 or by its id, a part of a JSON document by a JSON Pointer ("" is all of it).';

const INPUT: JsonValue = {
  type: "object",
  properties: {
    source: { type: "string" },
    record: { anyOf: [{ type: "string" }, { type: "integer", minimum: 0 }] },
    from: { type: "integer", minimum: 0 },
    count: { type: "integer", minimum: 1 },
    sha256: { type: "string", description: "refuses a source with other content" },
  },
  required: ["source"],
  oneOf: [{ required: ["record"] }, { required: ["from", "count"] }],
  dependentRequired: { from: ["count"], count: ["from"] },
  additionalProperties: false,
};

const OUTPUT: JsonValue = {
  type: "object",
  properties: {
    source: { type: "string" },
    sha256: { type: "string", description: "of the whole source" },
    from: { type: "integer", minimum: 0 },
    count: { type: "integer", minimum: 0 },
    media_type: { type: "string" },
    text: { type: "string" },
    json: {},
  },
  required: ["source", "sha256", "from", "count", "media_type"],
  oneOf: [{ required: ["text"] }, { required: ["json"] }],
  additionalProperties: false,
};

/** @throws RoteError `bad_tool` */
export function fileTool(registered: FileSources, options: FileToolOptions = {}): Tool {
  const sources = new Map(registered);
  const maxCount = options.maxCount ?? 1024 * 1024;
  const definition = defineTool(wordsOf(options, { name: "file.read", description: DESCRIPTION }), {
    server: "file",
    input: INPUT,
    output: OUTPUT,
    annotations: { max_count: maxCount },
  });
  return {
    definition,
    fault: (args) => faultOf(requestOf(args)),
    async call(call) {
      const request = requestOf(call.arguments);
      if (typeof request === "string") return badArguments(request);
      if (call.signal.aborted) return CANCELLED;
      const source = sources.get(request.source);
      if (source === undefined) return refused("unknown_source", "there is no such source");
      if (request.sha256 !== undefined && request.sha256 !== source.sha256) {
        return refused("other_content", `${source.source} has another content than was asked for`);
      }
      if (isDocument(source.media_type)) {
        return refused(
          "wrong_media_type",
          `${source.source} is registered as ${source.media_type}`,
        );
      }
      const bytes = await committed(source, call.signal);
      if (bytes === undefined) {
        return refused("source_changed", `${source.source} is not what was registered any more`);
      }
      return answer(source, bytes, request, maxCount);
    },
  };
}

function answer(
  source: FileSource,
  bytes: Uint8Array,
  { record, range }: Request,
  maxCount: number,
): ToolOutcome {
  const found = range ?? placeOf(source, record);
  if (found === undefined) return absent(source, record);
  const { from, count } = found;
  const whole = source.media_type === JSON_TYPE && range === undefined;
  if (!whole && count > maxCount) return tooLarge(maxCount);
  if (from + count > source.size) {
    return refused("range_outside", `the source ends after ${source.size} bytes`);
  }
  const part = bytes.subarray(from, from + count);
  const about = { source: source.source, sha256: source.sha256, from, count };
  const { media_type } = source;
  if (range !== undefined) {
    if (!isBoundary(bytes, from) || !isBoundary(bytes, from + count)) {
      return refused("range_splits_character", "the range begins or ends within a character");
    }
    return done({ ...about, media_type, text: decoder.decode(part) });
  }
  const read = readJson(part, JSON_LIMITS);
  if (!read.ok) throw broke("source_malformed", `${source.source}: ${read.error.message}`);
  const json = whole ? pointed(read.value, record) : read.value;
  if (json === undefined) return absent(source, record);
  if (whole && canonicalBytes(json).byteLength > maxCount) return tooLarge(maxCount);
  return done({ ...about, media_type: JSON_TYPE, json });
}

function absent({ source }: FileSource, record: string | number | undefined): ToolOutcome {
  return refused(
    "record_absent",
    `${source} has no record ${shortened(JSON.stringify(record ?? null), 64)}`,
  );
}

/** Where a record stands; a part of a JSON document is drawn from all of it. */
function placeOf(source: FileSource, record: string | number | undefined): ByteRange | undefined {
  switch (source.media_type) {
    case JSON_LINES_TYPE: {
      const index = typeof record === "number" ? record : source.ids.get(record ?? "");
      return index === undefined ? undefined : source.lines[index];
    }
    case JSON_TYPE:
      return typeof record === "string" ? { from: 0, count: source.size } : undefined;
    default:
      return undefined;
  }
}

function pointed(document: JsonValue, record: string | number | undefined): JsonValue | undefined {
  const tokens = parsePointer(String(record));
  return tokens === undefined ? undefined : readPointer(document, tokens);
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

function isBoundary(bytes: Uint8Array, at: number): boolean {
  return ((bytes[at] ?? 0) & 0xc0) !== 0x80;
}

/** The request, or why it is none. */
function requestOf(args: JsonValue): Request | string {
  const members = membersOf(args, ["source", "record", "from", "count", "sha256"]);
  if (typeof members === "string") return members;
  const { source, record, from, count, sha256 } = members;
  if (typeof source !== "string") return "/source: a text names the source";
  if (!isWantedContent(sha256)) return "/sha256: 64 hexadecimal digits";
  const ranged = from !== undefined || count !== undefined;
  if (ranged === (record !== undefined)) return "either record, or from and count";
  if (ranged) {
    if (!isInteger(from, 0)) return "/from: an integer from 0";
    if (!isInteger(count, 1)) return "/count: an integer from 1";
    return { source, record: undefined, range: { from, count }, sha256 };
  }
  if (typeof record === "string" || isInteger(record, 0)) {
    return { source, record, range: undefined, sha256 };
  }
  return "/record: a text, or an integer from 0";
}

function tooLarge(maxCount: number): ToolOutcome {
  return refused("answer_too_large", `one answer holds ${maxCount} bytes at most`);
}
