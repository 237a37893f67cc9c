/** Why a document is not in the closed JSON domain. */
export type JsonErrorCode =
  /** Not UTF-8, a byte order mark, or a surrogate without its partner. */
  | "bad_encoding"
  /** Not the JSON grammar, or (for values given as objects) not plain data. */
  | "bad_json"
  /** Two members of one object with one name, however the names are spelled. */
  | "duplicate_key"
  /** A number whose text would not survive: not canonical, not safe, rounded, infinite. */
  | "bad_number"
  /** More bytes or more values than the caller takes. */
  | "document_too_large"
  /** Nested deeper than the caller takes. */
  | "document_too_deep";

export interface JsonError {
  readonly code: JsonErrorCode;
  /** JSON Pointer of the value at fault; for `duplicate_key` of the repeated member. */
  readonly pointer: string;
  /** UTF-16 units before the fault in the decoded text. */
  readonly offset: number;
  /** 1-based; 0 where there was no text to point into (`admitJson`, or refused by size before decoding). */
  readonly line: number;
  /** 1-based, in UTF-16 units; 0 as for `line`. */
  readonly column: number;
  /** The line of the text, cut to at most 120 characters around the column; empty as for `line`. */
  readonly excerpt: string;
  /** UTF-16 units of the excerpt before the column. */
  readonly caret: number;
  /** What was found and what was expected there, without the position. */
  readonly message: string;
}

export interface JsonLimits {
  /**
   * `safe_integer` (the default, for our own documents): canonical texts of safe integers only. `finite` (for run
   * inputs, model answers, tool results, transcripts): also other numbers, when the text denotes exactly the shortest
   * decimal of its double, trailing zeros and exponent form aside (`1.50`, `1e2`); nothing is ever rounded.
   */
  readonly numbers?: "safe_integer" | "finite";
  /** Default 16 MiB: well above any recipe, well below what hurts. Checked before decoding. */
  readonly maxBytes?: number;
  /** Levels of lists and objects. Default 64; at most 1,000, which the stack is known to take. */
  readonly maxDepth?: number;
  /** Values in the document, member names not counted. Default 1,000,000. */
  readonly maxNodes?: number;
}

export interface ResolvedLimits {
  readonly finite: boolean;
  readonly maxBytes: number;
  readonly maxDepth: number;
  readonly maxNodes: number;
}

export function resolveLimits(limits: JsonLimits): ResolvedLimits {
  return {
    finite: limits.numbers === "finite",
    maxBytes: limits.maxBytes ?? 16 * 1024 * 1024,
    maxDepth: Math.min(limits.maxDepth ?? 64, 1000),
    maxNodes: limits.maxNodes ?? 1_000_000,
  };
}
