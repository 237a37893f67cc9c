import { describe, expect, it } from "vitest";
import { render, wantsColour } from "../../../src/cli/terminal.ts";

describe("text for a terminal", () => {
  it("shows control, bidirectional and other invisible characters instead of obeying them", () => {
    expect(render("a\u001b[2Jb\rc\u202ed\u200be\u0085f\u2028g\u{e0041}", false)).toBe(
      "a\\u{1b}[2Jb\\u{d}c\\u{202e}d\\u{200b}e\\u{85}f\\u{2028}g\\u{e0041}",
    );
  });

  it("leaves line ends, tabs and every script as they are", () => {
    const text = "één\tcañón\n日本語 😀 ελ";
    expect(render(text, false)).toBe(text);
  });

  it("colours only the words that start a line", () => {
    expect(render("error: an error\n  ok  disk", true)).toBe(
      "\u001b[31merror\u001b[0m: an error\n  \u001b[32mok\u001b[0m  disk",
    );
    expect(render("okay: errors", true)).toBe("okay: errors");
  });
});

describe("colour", () => {
  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: "1" }, true, false],
    [{ NO_COLOR: "" }, true, true],
    [{ NO_COLOR: "1", FORCE_COLOR: "1" }, true, false],
    [{ FORCE_COLOR: "1" }, false, true],
    [{ FORCE_COLOR: "0" }, true, false],
    [{ TERM: "dumb" }, true, false],
  ])("with %j on a terminal: %s gives %s", (environment, isTty, wanted) => {
    expect(wantsColour(environment, isTty)).toBe(wanted);
  });
});
