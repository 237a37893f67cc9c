/**
 * The text that a reviewer is shown, and that a signature covers by its digest.
 *
 * What is shown is what is signed is what is dispatched, so the text is made from the frozen operations and from nothing
 * else, in one way. Characters that a screen hides, joins or reorders are escaped; nothing is cut.
 */

import { type Digest, digestBytes } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import { TAGS } from "../base/tags.ts";
import type { Operation } from "../model/operation.ts";
import type { FrozenOperation } from "./operation.ts";

/** Named in the text itself, so that a signature says by which rules it was rendered. */
const RENDERER = TAGS.display;

/**
 * What a screen does not show as itself: controls, format characters, separators but the space, private use, unassigned,
 * lone surrogates, what fonts leave out (variation selectors, fillers, the blank of Braille), digits of other scripts,
 * and combining marks that stand on anything but a letter or upon two others: they change what is under them or beside.
 */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{2800}]|(?! )\p{Zs}|(?![0-9])\p{Nd}|(?<![\p{L}\p{M}])\p{M}|(?<=\p{M}{2})\p{M}/gu;

/** Other forms of what ASCII has a form for: wide, mathematical, ligatures. They read alike and are not the same. */
const NOT_ASCII = /\P{ASCII}/gu;

const WORD = /[\p{L}\p{M}\p{N}]+/gu;

/** Nothing in it is hidden or reads as something else, and most texts are such. */
const PLAIN = /^[ -~]*$/u;

/** Alphabets with letters that look like those of another one. */
const ALPHABETS = ["Latin", "Greek", "Cyrillic", "Armenian", "Cherokee", "Coptic", "Lisu"].map(
  (script) => new RegExp(`\\p{Script=${script}}`, "u"),
);

type Shown = Pick<FrozenOperation, "operation" | "digest">;

export function renderOperations(run: string, operations: readonly Shown[]): string {
  const [first] = operations;
  const lines = [
    RENDERER,
    `host: ${quoted(first?.operation.audience ?? "")}`,
    `run: ${quoted(run)}`,
    `requested by: ${quoted(first?.operation.identity ?? "")}`,
    `operations: ${operations.length}`,
  ];
  operations.forEach((frozen, at) => {
    lines.push(
      "",
      `${at + 1} of ${operations.length}: ${frozen.digest}`,
      ...linesOf(frozen.operation),
    );
  });
  return `${lines.join("\n")}\n`;
}

export function displayDigest(text: string): Digest {
  return digestBytes(TAGS.display, Buffer.from(text));
}

function linesOf(operation: Operation): string[] {
  const { node, index, tool, key } = operation;
  const element = index === null ? "" : ` [${index}]`;
  return [
    `  step: ${quoted(node)}${element}`,
    `  tool: ${quoted(tool.name)} (${tool.category}), definition ${tool.definition}`,
    ...(key === null ? [] : ["  key:", ...jsonLines(key, "    ")]),
    "  arguments:",
    ...jsonLines(operation.arguments, "    "),
  ];
}

function jsonLines(value: JsonValue, indent: string): string[] {
  const text = JSON.stringify(value, null, 2);
  return text.split("\n").map((line) => indent + escaped(line));
}

/** In quotes and with its backslashes doubled, so that nothing in a name looks like an escape or ends the line. */
function quoted(text: string): string {
  return escaped(JSON.stringify(text));
}

/** Visible text; what is not visible, or reads as something else, as `\u{...}`. */
export function escaped(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .replace(WORD, (word) => (isMixed(word) ? word.replace(NOT_ASCII, codeOf) : word))
    .replace(NOT_ASCII, (character) => (readsAsAscii(character) ? codeOf(character) : character))
    .replace(HIDDEN, codeOf);
}

function isMixed(word: string): boolean {
  return ALPHABETS.filter((alphabet) => alphabet.test(word)).length > 1;
}

function readsAsAscii(character: string): boolean {
  const plain = character.normalize("NFKC");
  return plain !== character && plain.search(NOT_ASCII) < 0;
}

function codeOf(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
