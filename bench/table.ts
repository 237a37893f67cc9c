import type { Row } from "./row.ts";

/** Rows as an aligned text table: columns in the order they first occur, numbers to the right. */
export function table(rows: readonly Row[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = rows.map((row) => columns.map((column) => cell(row[column])));
  const right = columns.map((column) => rows.every((row) => typeof row[column] !== "string"));
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...cells.map((line) => line[index]?.length ?? 0)),
  );
  const pad = (text: string, index: number) =>
    right[index] ? text.padStart(widths[index] ?? 0) : text.padEnd(widths[index] ?? 0);
  const line = (texts: readonly string[]) => texts.map(pad).join("  ").trimEnd();
  return [
    line(columns),
    line(widths.map((width) => "-".repeat(width))),
    ...cells.map((texts) => line(texts)),
  ].join("\n");
}

function cell(value: string | number | null | undefined): string {
  if (value === undefined || value === null) return "-";
  if (typeof value === "string") return value;
  if (!Number.isFinite(value)) return String(value);
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(4)));
}
