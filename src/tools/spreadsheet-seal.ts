/**
 * Writes the spreadsheet of a workpaper and knows it again. The archive's comment holds a digest of every byte before
 * it, so that a file which a spreadsheet program has saved, or which was never ours, is told from what was written.
 *
 * It is no signature: who may write the file can make the comment, too.
 */
import { sha256Hex } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import { commentStart } from "./spreadsheet-zip.ts";

/** A text, an integer of at most 15 digits, true or false; null leaves the cell empty. */
export type CellValue = string | number | boolean | null;

export interface SheetRows {
  readonly name: string;
  readonly rows: readonly (readonly CellValue[])[];
}

export type Sealed = "sealed" | "foreign" | "changed";

const MARK = "rote-workpaper/v1 sha256:";

/** @throws RoteError `package_missing` */
export async function writeSealed(sheets: readonly SheetRows[]): Promise<Uint8Array> {
  const { default: writeExcel } = await loadWriter();
  const data = sheets.map(({ name, rows }) => ({
    sheet: name,
    data: rows.map((row) => row.map(cellOf)),
  }));
  const bytes = await writeExcel(data).toBuffer();
  const start = commentStart(bytes);
  if (start !== bytes.length) {
    throw new RoteError("internal_error", "the archive that was written is not one to be sealed");
  }
  const plain = Buffer.from(bytes);
  plain.writeUInt16LE(MARK.length + 64, plain.length - 2);
  return Buffer.concat([plain, Buffer.from(MARK + sha256Hex(plain), "latin1")]);
}

export function sealOf(bytes: Uint8Array): Sealed {
  const start = commentStart(bytes);
  if (start === undefined) return "foreign";
  const comment = Buffer.from(bytes.subarray(start)).toString("latin1");
  if (!comment.startsWith(MARK)) return "foreign";
  return comment === MARK + sha256Hex(bytes.subarray(0, start)) ? "sealed" : "changed";
}

async function loadWriter() {
  try {
    return await import("write-excel-file/node");
  } catch (error) {
    throw new RoteError(
      "package_missing",
      "a workpaper in a spreadsheet needs the package write-excel-file, which is not installed",
      { hint: "npm install write-excel-file@4.1.1" },
      error,
    );
  }
}

/** Typed by what it is, so that a text that begins with = stays a text. */
function cellOf(value: CellValue) {
  if (value === null) return null;
  if (typeof value === "string") return { value: escaped(value), type: String };
  return typeof value === "number" ? { value, type: Number } : { value, type: Boolean };
}

/** What XML would change or cannot hold, and what would be read as such an escape. */
function escaped(text: string): string {
  return text.replaceAll(/_(?=x[0-9a-fA-F]{4}_)|\r/g, (found) =>
    found === "\r" ? "_x000D_" : "_x005F_",
  );
}
