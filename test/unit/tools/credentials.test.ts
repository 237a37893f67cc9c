import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { carry } from "../../../src/tools/credentials.ts";

function hidden(secret: string, value: JsonValue): JsonValue {
  return carry([{ name: "bank" }], () => secret).hide(value);
}

describe("a credential that a target repeats is taken out of its answer", () => {
  it("where it is written as a number", () => {
    expect(hidden("4711081512", [4711081512, -4711081512, 47110815, { pin: 4711081512 }])).toEqual([
      "[credential bank]",
      "-[credential bank]",
      47110815,
      { pin: "[credential bank]" },
    ]);
  });

  it("where it stands in JSON within a text", () => {
    const secret = 'p"ss\\word-1';
    const text = JSON.stringify({ got: secret });
    expect(hidden(secret, { text })).toEqual({ text: '{"got":"[credential bank]"}' });
  });

  it.each(["padded-1", "padded-secret", "padded-12"])(
    "in base64 with and without padding: %s",
    (secret) => {
      const padded = Buffer.from(secret).toString("base64");
      const bare = padded.replaceAll("=", "");
      const rest = padded.slice(bare.length);
      expect(hidden(secret, [padded, bare])).toEqual([
        `[credential bank]${rest}`,
        "[credential bank]",
      ]);
    },
  );

  it("in either spelling of an escape", () => {
    expect(hidden("a+b/c=d:e", ["a%2Bb%2Fc%3Dd%3Ae", "a%2bb%2fc%3dd%3ae"])).toEqual([
      "[credential bank]",
      "[credential bank]",
    ]);
  });
});
