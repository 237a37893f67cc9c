import { expectTypeOf, test } from "vitest";
import { ok, type Result } from "../../src/base/result.ts";

test("a result is either a value or an error", () => {
  expectTypeOf(ok(1)).toExtend<Result<number, never>>();
});
