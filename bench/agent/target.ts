/** The target and the model's counter in files, which outlive whoever is killed. They take whatever they are told. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonValue } from "../../src/base/json.ts";
import type { Counted } from "./scenario.ts";

const EFFECTS = "effects.jsonl";
const ASKED = "asked.jsonl";

/** How many there have been, this one among them. */
export function recordEffect(directory: string, args: JsonValue): number {
  return record(directory, EFFECTS, args);
}

export function recordAsked(directory: string): number {
  return record(directory, ASKED, null);
}

export function countedIn(directory: string): Counted {
  return { effects: lines(directory, EFFECTS), asked: lines(directory, ASKED).length };
}

function record(directory: string, name: string, line: JsonValue): number {
  appendFileSync(join(directory, name), `${JSON.stringify(line)}\n`);
  return lines(directory, name).length;
}

function lines(directory: string, name: string): readonly JsonValue[] {
  const file = join(directory, name);
  if (!existsSync(file)) return [];
  const text = readFileSync(file, "utf8").trimEnd();
  return text === "" ? [] : text.split("\n").map((line) => JSON.parse(line) as JsonValue);
}
