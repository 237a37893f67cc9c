import { readdirSync, readFileSync } from "node:fs";
import { sharedPath } from "./shared.ts";

export interface JsonFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The files of a folder of vectors, by name. */
export function vectorFiles(folder: string): readonly JsonFile[] {
  return readdirSync(sharedPath(`vectors/${folder}`))
    .sort()
    .map((name) => ({ name, bytes: vectorBytes(`${folder}/${name}`) }));
}

export function vectorBytes(file: string): Uint8Array {
  return readFileSync(sharedPath(`vectors/${file}`));
}

export function vectorText(file: string): string {
  return readFileSync(sharedPath(`vectors/${file}`), "utf8");
}

export interface StrictCase {
  readonly name: string;
  readonly input_hex: string;
  readonly canonical_hex?: string;
  readonly reject?: boolean;
}

/** The cases of jcs-strict: bytes, and either their canonical bytes or that they must be refused. */
export function strictCases(): readonly StrictCase[] {
  return JSON.parse(vectorText("jcs-strict/cases.json")).cases;
}

/** The two files that the parsing suite leaves out for their size, made as its SOURCE.md says. */
export function generatedParsingFiles(): readonly JsonFile[] {
  const encoder = new TextEncoder();
  return [
    {
      name: "n_structure_open_array_object.json",
      bytes: encoder.encode(`${'[{"":'.repeat(50_000)}\n`),
    },
    {
      name: "n_structure_100000_opening_arrays.json",
      bytes: encoder.encode("[".repeat(100_000)),
    },
  ];
}
