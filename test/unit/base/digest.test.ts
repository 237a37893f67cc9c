import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import {
  digestBytes,
  digestedBytes,
  digestOf,
  isDigest,
  sha256Hex,
} from "../../../src/base/digest.ts";
import { RoteError } from "../../../src/base/error.ts";
import type { JsonValue } from "../../../src/base/json.ts";

const EMPTY_PLAN = "sha256:c201e7acb120cf2fa6cafb177b5d4df71902d6239451167496f6f04591ecb5ac";

describe("digestOf", () => {
  it("is SHA-256 over tag, line feed and canonical bytes", () => {
    // printf 'rote-plan/v1\n{}' | sha256sum
    expect(digestOf("rote-plan/v1", {})).toBe(EMPTY_PLAN);
    const bytes = new TextEncoder().encode('rote-plan/v1\n{"a":"é","b":[1,2]}');
    expect(digestOf("rote-plan/v1", { b: [1, 2], a: "é" })).toBe(`sha256:${sha256Hex(bytes)}`);
    expect(sha256Hex(new Uint8Array())).toBe(
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    );
  });

  it("differs by tag, so a document of one kind never has the digest of another", () => {
    expect(digestOf("rote-plan/v1", {})).not.toBe(digestOf("rote-verifier/v1", {}));
    for (const tag of ["", "two words", "rote-plan/v1\n", "é"]) {
      expect(() => digestOf(tag, {})).toThrow(RoteError);
      expect(() => digestBytes(tag, new Uint8Array())).toThrow(RoteError);
    }
  });

  it("is the digest of the canonical bytes", () => {
    expect(digestBytes("rote-plan/v1", new TextEncoder().encode("{}"))).toBe(EMPTY_PLAN);
  });

  it("is the same where the bytes are kept beside it", () => {
    const document = { b: "é", a: [1, { c: null }] };
    const { bytes, digest } = digestedBytes("rote-plan/v1", document);
    expect(digest).toBe(digestOf("rote-plan/v1", document));
    expect(Buffer.from(bytes).toString()).toBe('{"a":[1,{"c":null}],"b":"é"}');
    expect(() => digestedBytes("two words", document)).toThrow(
      expect.objectContaining({ code: "bad_tag" }),
    );
  });

  it("makes no digest of what has no canonical form (B083)", () => {
    const values: unknown[] = [
      { x: Number.NaN },
      { x: Number.POSITIVE_INFINITY },
      { x: undefined },
    ];
    for (const value of values) {
      expect(() => digestOf("rote-plan/v1", value as JsonValue)).toThrow(/at \/x$/);
    }
  });

  it("keeps null, absent, and two spellings of an accent apart (B084, B085)", () => {
    const digests = [{ a: null }, {}, { "\u00e9": 1 }, { "e\u0301": 1 }].map((value) =>
      digestOf("rote-plan/v1", value),
    );
    expect(new Set(digests).size).toBe(4);
  });

  it("is the same in another process (B072)", () => {
    const script = `const h = require("node:crypto").createHash("sha256");
      process.stdout.write(h.update("rote-plan/v1\\n{}").digest("hex"));`;
    const other = execFileSync(process.execPath, ["-e", script], { encoding: "utf8" });
    expect(`sha256:${other}`).toBe(EMPTY_PLAN);
  });
});

describe("isDigest", () => {
  it("takes the one text form only", () => {
    expect(isDigest(EMPTY_PLAN)).toBe(true);
    for (const text of [
      EMPTY_PLAN.slice(7),
      EMPTY_PLAN.toUpperCase(),
      `${EMPTY_PLAN}0`,
      `${EMPTY_PLAN}\n`,
      EMPTY_PLAN.replace("c201", "g201"),
      "",
    ]) {
      expect(isDigest(text), text).toBe(false);
    }
  });
});
