/**
 * The text that a reviewer is shown, and that a signature covers by its digest.
 *
 * What is shown is what is signed is what is dispatched, so the text is made from the frozen operations and from nothing
 * else, in one way. Characters that a screen hides, joins or reorders are escaped; nothing is cut.
 */

import { type Digest, digestBytes } from "../base/digest.ts";
import type { JsonValue } from "../base/json.ts";
import type { Operation } from "../model/operation.ts";
import type { FrozenOperation } from "./operation.ts";

/** Named in the text itself, so that a signature says by which rules it was rendered. */
const RENDERER = "rote-display/v1";

/**
 * Controls, format characters, separators but the space, private use, unassigned, lone surrogates, and combining marks
 * that stand on anything but a letter: one on a digit changes what the digit looks like.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}|(?<![\p{L}\p{M}])\p{M}/gu;

export function renderOperations(run: string, operations: readonly FrozenOperation[]): string {
  const [first] = operations;
  const lines = [
    RENDERER,
    `host: ${escaped(first?.operation.audience ?? "")}`,
    `run: ${escaped(run)}`,
    `requested by: ${escaped(first?.operation.identity ?? "")}`,
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
  return digestBytes("rote-display/v1", Buffer.from(text));
}

function linesOf(operation: Operation): string[] {
  const { node, index, tool, key } = operation;
  const element = index === null ? "" : ` [${index}]`;
  return [
    `  step: ${escaped(node)}${element}`,
    `  tool: ${escaped(tool.name)} (${tool.category}), definition ${tool.definition}`,
    ...(key === null ? [] : ["  key:", ...jsonLines(key, "    ")]),
    "  arguments:",
    ...jsonLines(operation.arguments, "    "),
  ];
}

function jsonLines(value: JsonValue, indent: string): string[] {
  const text = JSON.stringify(value, null, 2);
  return text.split("\n").map((line) => indent + escaped(line));
}

/** Visible text; what is not visible as `\u{...}`. */
export function escaped(text: string): string {
  return text.replace(HIDDEN, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
