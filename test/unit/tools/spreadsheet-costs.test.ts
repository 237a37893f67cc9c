import { describe, expect, it } from "vitest";
import { isDateFormat, numberText } from "../../../src/tools/spreadsheet-numbers.ts";
import { readXml } from "../../../src/tools/spreadsheet-xml.ts";

/** So long that what looks through it once for each of its characters is not done before the test is over. */
const LONG = 600_000;

describe("a spreadsheet that was made to hold its reader costs what its length costs", () => {
  it.each(["[", '"', '"[', "[h"])("with a number format of %s and no end", (part) => {
    expect(isDateFormat(200, part.repeat(LONG))).toBe(false);
    expect(isDateFormat(200, `yyyy${part.repeat(3)}`)).toBe(true);
  });

  it("with a number of endless zeros", () => {
    expect(numberText(`1${"0".repeat(LONG)}.1`)).toBeUndefined();
    expect(numberText(`0.1${"0".repeat(LONG)}1`)).toBeUndefined();
    expect(numberText(`1${"0".repeat(300)}`)).toBe(`1${"0".repeat(300)}`);
  });

  it("with a namespace that is longer than all the elements in it", () => {
    const paths = new Set<string>();
    const inside = "<p:b/>".repeat(LONG);
    const xml = `<w xmlns="own"><a xmlns:p="${"n".repeat(5 * LONG)}">${inside}</a><p:b xmlns:p="own"/></w>`;
    readXml(Buffer.from(xml), { open: (path) => paths.add(path) });
    expect(paths.size).toBe(4);
    expect(paths).toContain("w/b");
  });

  it("and a namespace that is taken back is none, as that of a root without one", () => {
    const paths: string[] = [];
    readXml(Buffer.from('<w><a xmlns="other"><b/><b xmlns=""/></a></w>'), {
      open: (path) => paths.push(path),
    });
    expect(paths).toEqual(["w", "w/{0}a", "w/{0}a/{0}b", "w/{0}a/b"]);
  });
});
