import { describe, expect, test } from "vitest";
import { show } from "../../../src/expression/show.ts";

describe("values in messages", () => {
  test.each([
    [null, "null"],
    [true, "true"],
    [12n, "12"],
    ["a", '"a"'],
    ['say "hi"\n', '"say \\"hi\\"\\n"'],
    ["a\u202eb\u200bc", '"a\\u202eb\\u200bc"'],
    [[1n, 2n], "a list of 2"],
    [new Map([["a", 1n]]), "a dictionary of 1"],
    [{ password: "x" }, "an object of 1"],
    [
      "The quick brown fox jumps over the lazy dog",
      '"The quick brown fox jumps over t".. (43 units)',
    ],
    ["2026-08-18T17:38:51.000+02:00", '"2026-08-18T17:38:51.000+02:00"'],
    ["customer-order-line-item-12", '"customer-order-line-item-12"'],
    [10n ** 30n, "100000000000000000000000.. (31 digits)"],
  ])("%s is shown as %s", (value, expected) => {
    expect(show(value)).toBe(expected);
  });

  test.each([
    "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.abc",
    "AKIAIOSFODNN7EXAMPLE",
  ])("%s looks like a credential and is not shown", (secret) => {
    expect(show(secret)).toBe(`a text of ${secret.length} units (hidden)`);
  });

  test.each(["password", "api_key", "apiKey", "session_token", "Authorization", "iban"])(
    "a text under %s is not shown",
    (name) => {
      expect(show("hunter2", ["user", name])).toBe("a text of 7 units (hidden)");
    },
  );

  test("a pair of surrogates is never cut in two", () => {
    expect(show(`${"x".repeat(31)}\u{1F600} and more`)).toBe(`"${"x".repeat(31)}".. (42 units)`);
  });
});
