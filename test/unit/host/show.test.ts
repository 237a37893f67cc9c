import { afterAll, describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { escaped, renderOperations } from "../../../src/host/index.ts";
import { freezeOperation } from "../../../src/host/operation.ts";
import { displayDigest } from "../../../src/host/show.ts";
import type { Operation } from "../../../src/model/operation.ts";
import { directories } from "../../support/directories.ts";
import { asked, bank, begin, hostAt, TWO_FENCED } from "../../support/gate.ts";
import { operationOf } from "./operations.ts";

const places = directories();
afterAll(() => places.remove());

const operation = (change: Partial<Operation> = {}) => freezeOperation(operationOf(change));

const show = (change: Partial<Operation>) => renderOperations("run-x", [operation(change)]);

/** The text without the digests, which differ anyway. */
const lines = (change: Partial<Operation>) => show(change).replace(/sha256:[0-9a-f]{64}/g, "");

describe("what a reviewer is shown", () => {
  it("is the whole of every operation, and says how many there are", () => {
    const one = operation();
    const two = operation({ index: 3, key: ["7", "2024-05"] });
    expect(renderOperations("run-x", [one, two])).toBe(
      [
        "rote-display/v1",
        'host: "tests.example/journal"',
        'run: "run-x"',
        'requested by: "agent"',
        "operations: 2",
        "",
        `1 of 2: ${one.digest}`,
        '  step: "pay"',
        '  tool: "bank.pay" (effect), definition sha256:0',
        "  arguments:",
        "    {",
        '      "account": "7",',
        '      "amount": "50"',
        "    }",
        "",
        `2 of 2: ${two.digest}`,
        '  step: "pay" [3]',
        '  tool: "bank.pay" (effect), definition sha256:0',
        "  key:",
        "    [",
        '      "7",',
        '      "2024-05"',
        "    ]",
        "  arguments:",
        "    {",
        '      "account": "7",',
        '      "amount": "50"',
        "    }",
        "",
      ].join("\n"),
    );
  });

  it("cuts nothing, however long", () => {
    const note = "x".repeat(200_000);
    expect(show({ arguments: { note } })).toContain(note);
  });

  it("differs for values that a person could take for each other (B013)", () => {
    const shown = [{ row: 7 }, { row: "7" }, { row: 7, memo: null }, { row: [7] }].map((args) =>
      lines({ arguments: args }),
    );
    expect(new Set(shown).size).toBe(4);
    expect(show({ arguments: { memo: null, row: 7 } })).toBe(
      show({ arguments: { row: 7, memo: null } }),
    );
  });

  it("keeps every value inside of its own line", () => {
    const value = 'x",\n  "amount": "1';
    const shown = show({ arguments: { note: value } });
    expect(shown.split("\n").filter((line) => line.includes('"amount"'))).toHaveLength(0);
    const name = 'pay" (effect)\n  arguments:\n    {}';
    const tool = { name, category: "effect", definition: "sha256:d" } as const;
    expect(show({ tool: tool as never }).split("\n")).toHaveLength(show({}).split("\n").length);
  });

  it("escapes a literal escape, so that it is not taken for the character", () => {
    const real = lines({ arguments: { to: "a\u202eb" } });
    const written = lines({ arguments: { to: "a\\u{202e}b" } });
    expect(real).toContain('"a\\u{202e}b"');
    expect(written).toContain('"a\\\\u{202e}b"');
    const named = (name: string) =>
      lines({ tool: { name, category: "effect", definition: "sha256:d" as never } });
    expect(named("a\u202eb")).not.toBe(named("a\\u{202e}b"));
  });

  it("is signed by the digest of exactly this text", () => {
    expect(displayDigest(show({}))).not.toBe(displayDigest(`${show({})} `));
    expect(displayDigest(show({}))).toMatch(/^sha256:[0-9a-f]{64}$/);
  });
});

describe("a character", () => {
  const all = (...points: readonly number[]) => points.map((point) => String.fromCodePoint(point));

  it("that a screen hides or that turns the direction is written out", () => {
    const hidden = all(
      0x00,
      0x07,
      0x09,
      0x1b,
      0x7f,
      0x85,
      0xa0,
      0xad,
      0x34f,
      0x61c,
      0x115f,
      0x1160,
      0x17b4,
      0x180b,
      0x180e,
      0x2000,
      0x200b,
      0x200c,
      0x200d,
      0x200e,
      0x200f,
      0x2028,
      0x2029,
      0x202a,
      0x202b,
      0x202c,
      0x202d,
      0x202e,
      0x202f,
      0x2060,
      0x2066,
      0x2067,
      0x2068,
      0x2069,
      0x2800,
      0x3000,
      0x3164,
      0xe000,
      0xfe00,
      0xfe0f,
      0xfeff,
      0xffa0,
      0xfff9,
      0xe0001,
      0xe0041,
      0xe0100,
      0x10ffff,
    );
    for (const character of hidden) {
      const code = character.codePointAt(0)?.toString(16);
      expect(escaped(`a${character}b`), code).toBe(`a\\u{${code}}b`);
    }
    expect(escaped("a\ud800b")).toBe("a\\u{d800}b");
  });

  it("that people write is left as it is", () => {
    for (const text of [
      "Müller & Söhne, 12.50 €",
      "naïve café",
      "Ελλάδα",
      "Москва, улица 5",
      "日本語のテキスト",
      "Tシャツ",
      "한국어",
      "עברית",
      "العربية",
      "e\u0301te\u0301",
      "ไทยที่",
      "→ ✓ 🙂",
    ]) {
      expect(escaped(text), text).toBe(text);
    }
  });

  it("of another alphabet inside of a word is written out", () => {
    expect(escaped("pаypal")).toBe("p\\u{430}ypal");
    expect(escaped("Αpple")).toBe("\\u{391}pple");
    expect(escaped("scope сор")).toBe("scope сор");
    expect(escaped("аccount 7")).toBe("\\u{430}ccount 7");
  });

  it("that is another form of one in ASCII is written out, digits of other scripts too", () => {
    expect(escaped("１00")).toBe("\\u{ff11}00");
    expect(escaped("ｐay")).toBe("\\u{ff50}ay");
    expect(escaped("𝐚dmin")).toBe("\\u{1d41a}dmin");
    expect(escaped("ﬁle")).toBe("\\u{fb01}le");
    expect(escaped("5²")).toBe("5\\u{b2}");
    expect(escaped("٥٠")).toBe("\\u{665}\\u{660}");
    expect(escaped("1\u20e3")).toBe("1\\u{20e3}");
  });

  it("that combines with what it does not belong to, or is piled up, is written out", () => {
    expect(escaped("5\u0336")).toBe("5\\u{336}");
    expect(escaped("\u0301a")).toBe("\\u{301}a");
    expect(escaped("a\u0301\u0302\u0303\u0304")).toBe("a\u0301\u0302\\u{303}\\u{304}");
  });
});

describe("shown, signed, dispatched", () => {
  it("are one: the tool gets what the text says, whatever becomes of the object it came from", async () => {
    const of = bank();
    const host = await hostAt(null, of);
    const { run } = await begin(host, TWO_FENCED);
    const request = asked(run);
    expect(request.display).toBe(displayDigest(request.text));
    for (const digest of request.operations) expect(request.text).toContain(digest);
    expect(request.text).toContain('"amount": "50"');
    await host.close();
  });

  it("are one also where an object changes between two looks at it", () => {
    let looks = 0;
    const args = {
      get amount() {
        looks += 1;
        return looks === 1 ? "1" : "1000000";
      },
    };
    // A getter is no data: it has no canonical form, so there is nothing that could be signed.
    expect(() => operation({ arguments: args as unknown as JsonValue })).toThrow();
  });

  it("are one also where a check tries to change what the next one sees", () => {
    const frozen = operation({ arguments: { amount: "1", to: { name: "a" } } });
    const members = frozen.operation.arguments as { amount: string; to: { name: string } };
    expect(() => {
      members.amount = "1000000";
    }).toThrow(TypeError);
    expect(() => {
      members.to.name = "b";
    }).toThrow(TypeError);
  });
});
