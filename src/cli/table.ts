import { inLine } from "../base/text.ts";

/** A table in plain columns, a line for each row; numbers are right-aligned. */
export function table(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const texts = rows.map((row) => row.map((cell) => inLine(String(cell))));
  const widths = head.map((title, column) =>
    Math.max(width(title), ...texts.map((row) => width(row[column] ?? ""))),
  );
  const right = head.map(
    (_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === "number"),
  );
  const line = (cells: readonly string[]) =>
    head
      .map((_, column) => {
        const cell = cells[column] ?? "";
        const gap = " ".repeat(Math.max(0, (widths[column] ?? 0) - width(cell)));
        return right[column] === true ? gap + cell : cell + gap;
      })
      .join("  ")
      .trimEnd();
  const rule = widths.map((size) => "-".repeat(size));
  return [line(head), line(rule), ...texts.map(line)].join("\n");
}

function width(text: string): number {
  return [...text].length;
}

/** `1 run`, `2 runs`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`;
}
