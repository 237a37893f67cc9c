import { describe, expect, it } from "vitest";
import { canonicalText } from "../../../src/base/canonical.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { readJson } from "../../../src/base/json.ts";
import { parsePointer, pointer, readPointer } from "../../../src/base/pointer.ts";
import { sharedPresent } from "../../support/shared.ts";
import { vectorText } from "../../support/vectors-json.ts";

const absent = !sharedPresent("vectors/json-pointer", "vectors/json-patch");

function strict(value: unknown): JsonValue {
  const reading = readJson(JSON.stringify(value), { numbers: "finite" });
  if (!reading.ok) throw new Error(reading.error.message);
  return reading.value;
}

function read(document: JsonValue, text: string): JsonValue | undefined {
  const tokens = parsePointer(text);
  return tokens === undefined ? undefined : readPointer(document, tokens);
}

interface PatchCase {
  readonly doc: unknown;
  readonly patch: readonly {
    readonly op?: string;
    readonly path?: string;
    readonly value?: unknown;
  }[];
  readonly error?: string;
  readonly disabled?: boolean;
}

describe.skipIf(absent)("published pointer vectors (skipped where ../shared is absent)", () => {
  it("resolves, refuses or finds nothing for all 38 pointers as stated (B101)", () => {
    const cases = JSON.parse(vectorText("json-pointer/rfc6901-examples.json"));
    const document = strict(cases.document);
    let count = 0;
    for (const { pointer: text, value } of cases.resolve) {
      const found = read(document, text);
      expect(found === undefined ? undefined : canonicalText(found), text).toBe(
        canonicalText(strict(value)),
      );
      expect(pointer(...(parsePointer(text) ?? []))).toBe(text);
      count += 1;
    }
    for (const text of cases.whole_document) {
      expect(read(document, text)).toBe(document);
      count += 1;
    }
    for (const text of cases.syntax_error) {
      expect(parsePointer(text), text).toBeUndefined();
      count += 1;
    }
    for (const text of cases.no_value) {
      expect(parsePointer(text), text).toBeDefined();
      expect(read(document, text), text).toBeUndefined();
      count += 1;
    }
    expect(count).toBe(38);
  });

  it("agrees with the JSON Patch suite wherever a patch only tests", () => {
    let hold = 0;
    let fail = 0;
    for (const file of ["tests.json", "spec_tests.json"]) {
      const cases: readonly PatchCase[] = JSON.parse(vectorText(`json-patch/${file}`));
      for (const { doc, patch, error, disabled } of cases) {
        const tests =
          patch.length > 0 &&
          patch.every(
            ({ op, path, value }) => op === "test" && path !== undefined && value !== undefined,
          );
        if (!tests || disabled === true) continue;
        const document = strict(doc);
        const holds = patch.every(({ path, value }) => {
          const found = read(document, path ?? "");
          return found !== undefined && canonicalText(found) === canonicalText(strict(value));
        });
        expect(holds, JSON.stringify(patch)).toBe(error === undefined);
        if (holds) hold += 1;
        else fail += 1;
      }
    }
    expect({ hold, fail }).toEqual({ hold: 10, fail: 6 });
  });
});
