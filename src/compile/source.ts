/**
 * A document on its way in, and its problems on their way out.
 *
 * Text and bytes go through the strict reader, values through the same closed domain, so both give the same document.
 * Only texts have places: lines and columns are looked up once, for the problems that are reported.
 */
import { admitJson, type JsonError, type JsonValue, locate, readJson } from "../base/json.ts";
import { err, ok, type Result } from "../base/result.ts";
import { compareText } from "../base/text.ts";
import type { Diagnostic, Report } from "../model/diagnostic.ts";
import { RECIPE_LIMITS } from "../model/recipe-limits.ts";

export interface DocumentLimits {
  /** Bytes of the document; default and most 16 MiB. A larger one is refused before it is read on. */
  readonly maxBytes?: number;
  /** Problems listed; default 1,000, since nobody reads more and a hostile document can have millions. */
  readonly maxDiagnostics?: number;
}

export interface Source {
  readonly document: JsonValue;
  readonly report: Report;
  /** True once so many problems were found that looking for more only costs time and memory. */
  readonly enough: () => boolean;
  /** The problems found so far, in order, or null when there are none. */
  readonly problems: () => readonly Diagnostic[] | null;
}

/** Every value takes at least two bytes (itself and a separator), so bytes alone bound their number. */
const BYTES_PER_VALUE = 2;

const DEFAULT_DIAGNOSTICS = 1_000;

/** Well above what is listed, so that the list is the first in order and not the first found. */
const ENOUGH = 10_000;

export function readSource(
  source: unknown,
  limits: DocumentLimits,
): Result<Source, readonly Diagnostic[]> {
  const maxBytes = Math.min(limits.maxBytes ?? RECIPE_LIMITS.bytes, RECIPE_LIMITS.bytes);
  const bounds = { maxBytes, maxNodes: Math.ceil(maxBytes / BYTES_PER_VALUE) };
  const written = typeof source === "string" || source instanceof Uint8Array ? source : null;
  const read = written === null ? admitJson(source, bounds) : readJson(written, bounds);
  if (!read.ok) return err([fromJsonError(read.error)]);
  const found: Diagnostic[] = [];
  return ok({
    document: read.value,
    report: (diagnostic) => found.push(diagnostic),
    enough: () => found.length >= ENOUGH,
    problems: () =>
      found.length === 0
        ? null
        : placed(inOrder(found, limits.maxDiagnostics ?? DEFAULT_DIAGNOSTICS), written),
  });
}

function fromJsonError(error: JsonError): Diagnostic {
  const { code, pointer, message, line, column, excerpt, caret } = error;
  if (line === 0) return { code, pointer, message };
  return { code, pointer, message, line, column, excerpt, caret };
}

function inOrder(found: readonly Diagnostic[], most: number): readonly Diagnostic[] {
  const keyed = found.map((diagnostic) => ({ diagnostic, key: orderKey(diagnostic) }));
  keyed.sort((left, right) => compareText(left.key, right.key));
  const unique = keyed.filter(({ key }, index) => index === 0 || keyed[index - 1]?.key !== key);
  const sorted = unique.map(({ diagnostic }) => diagnostic);
  if (sorted.length <= most) return sorted;
  const rest = sorted.length - most;
  return [
    ...sorted.slice(0, most),
    { code: "too_many_problems", pointer: "", message: `${rest} more problems are not listed` },
  ];
}

/** A text whose UTF-16 order is: pointer token by token, indexes by number, then code, then message. */
function orderKey({ pointer, code, message }: Diagnostic): string {
  const place = pointer.replace(INDEX, (digits) => String(digits.length).padStart(2, "0") + digits);
  return `${place.replaceAll("/", "\u0001")}\u0000${code}\u0000${message}`;
}

const INDEX = /(?<=\/)(?:0|[1-9][0-9]{0,9})(?=\/|$)/g;

function placed(
  diagnostics: readonly Diagnostic[],
  written: string | Uint8Array | null,
): readonly Diagnostic[] {
  if (written === null) return diagnostics;
  const text = typeof written === "string" ? written : new TextDecoder().decode(written);
  const places = locate(
    text,
    diagnostics.map(({ pointer }) => pointer),
  );
  return diagnostics.map((diagnostic) => ({ ...diagnostic, ...places.get(diagnostic.pointer) }));
}
