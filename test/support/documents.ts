/** PDF and spreadsheet files written by hand, so that a test says every byte that matters. */
import { crc32, deflateRawSync, deflateSync } from "node:zlib";

/** A page's content: text, or bytes of a stream as they are to stand, with their filter. */
export type Page = string | { readonly bytes: Uint8Array; readonly filter?: string };

/** A PDF with one content stream a page, in Helvetica. `trailer` goes into the trailer as it stands. */
export function pdfOf(pages: readonly Page[], trailer = ""): Buffer {
  const kids = pages.map((_, index) => `${4 + 2 * index} 0 R`).join(" ");
  const objects: Buffer[] = [
    text("<< /Type /Catalog /Pages 2 0 R >>"),
    text(`<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`),
    text("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"),
  ];
  pages.forEach((page, index) => {
    const fonts = "/Resources << /Font << /F1 3 0 R >> >>";
    const own = `/MediaBox [0 0 600 800] /Contents ${5 + 2 * index} 0 R`;
    objects.push(text(`<< /Type /Page /Parent 2 0 R ${fonts} ${own} >>`));
    const lines = typeof page === "string" ? page.split("\n") : [];
    const shown = lines.map((line) => `(${line.replaceAll(/[()\\]/g, "\\$&")}) Tj T*`).join(" ");
    const { bytes, filter = "" } =
      typeof page === "string" ? { bytes: text(`BT /F1 12 Tf 14 TL 50 700 Td ${shown} ET`) } : page;
    const head = text(`<< /Length ${bytes.length} ${filter} >>\nstream\n`);
    objects.push(Buffer.concat([head, bytes, text("\nendstream")]));
  });
  const parts = [text("%PDF-1.7\n")];
  const places: number[] = [];
  let at = parts[0]?.length ?? 0;
  objects.forEach((object, index) => {
    const whole = Buffer.concat([text(`${index + 1} 0 obj\n`), object, text("\nendobj\n")]);
    places.push(at);
    parts.push(whole);
    at += whole.length;
  });
  const rows = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  parts.push(
    text(`xref\n0 ${size}\n0000000000 65535 f \n${rows}`),
    text(`trailer\n<< /Size ${size} /Root 1 0 R ${trailer} >>\nstartxref\n${at}\n%%EOF\n`),
  );
  return Buffer.concat(parts);
}

/** A page whose content unpacks to so many bytes. */
export function bombPage(bytes: number): Page {
  return { bytes: deflateSync(Buffer.alloc(bytes, 0x20)), filter: "/Filter /FlateDecode" };
}

/** A PDF of few bytes whose list of objects is endless: each takes no byte of the list, and some of a parser's memory. */
export function endlessPdf(): Buffer {
  const head = "%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\n";
  const list =
    "<< /Type /XRef /Size 900000000 /Index [0 900000000] /W [0 0 0] /Root 1 0 R /Length 0 >>";
  return text(
    `${head}2 0 obj\n${list}\nstream\n\nendstream\nendobj\nstartxref\n${head.length}\n%%EOF\n`,
  );
}

export interface Part {
  readonly name: string;
  readonly content: string | Uint8Array;
  /** What the archive claims of it instead of the truth. */
  readonly claim?: { readonly size?: number; readonly crc?: number; readonly flags?: number };
}

export function zipOf(parts: readonly Part[], comment = ""): Buffer {
  const files: Buffer[] = [];
  const central: Buffer[] = [];
  let at = 0;
  for (const { name, content, claim = {} } of parts) {
    const plain = typeof content === "string" ? Buffer.from(content) : content;
    const packed = deflateRawSync(plain);
    const about = Buffer.alloc(26);
    about.writeUInt16LE(20, 0);
    about.writeUInt16LE(claim.flags ?? 0, 2);
    about.writeUInt16LE(8, 4);
    about.writeUInt32LE(claim.crc ?? crc32(plain), 10);
    about.writeUInt32LE(packed.length, 14);
    about.writeUInt32LE(claim.size ?? plain.length, 18);
    about.writeUInt16LE(name.length, 22);
    const file = Buffer.concat([text("PK\u0003\u0004"), about, text(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(at, 10);
    central.push(
      Buffer.concat([text("PK\u0001\u0002"), Buffer.from([20, 0]), about, rest, text(name)]),
    );
    files.push(file);
    at += file.length;
  }
  const list = Buffer.concat(central);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(parts.length, 4);
  end.writeUInt16LE(parts.length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(at, 12);
  end.writeUInt16LE(comment.length, 16);
  return Buffer.concat([...files, list, text("PK\u0005\u0006"), end, text(comment)]);
}

export interface Workbook {
  /** Rows of each sheet as they stand in `sheetData`. */
  readonly sheets: Readonly<Record<string, string>>;
  readonly texts?: readonly string[];
  /** `<numFmt>` elements, and the format's number of each style. */
  readonly formats?: string;
  readonly styles?: readonly number[];
  readonly from1904?: boolean;
  /** Put in place of the part of that name, or beside the others. */
  readonly parts?: readonly Part[];
}

const RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

export function xlsxOf(workbook: Workbook): Buffer {
  const { sheets, texts = [], formats = "", styles = [0], from1904 = false } = workbook;
  const names = Object.keys(sheets);
  const relation = (id: string, kind: string, target: string) =>
    `<Relationship Id="${id}" Type="${RELATIONS}/${kind}" Target="${target}"/>`;
  const listed = names.map((name, at) => `<sheet name="${name}" sheetId="${at}" r:id="s${at}"/>`);
  const made: Part[] = [
    {
      name: "_rels/.rels",
      content: `<Relationships>${relation("w", "officeDocument", "xl/workbook.xml")}</Relationships>`,
    },
    {
      name: "xl/workbook.xml",
      content: `<?xml version="1.0"?><workbook xmlns:r="${RELATIONS}"><workbookPr date1904="${Number(from1904)}"/><sheets>${listed.join("")}</sheets></workbook>`,
    },
    {
      name: "xl/_rels/workbook.xml.rels",
      content: `<Relationships>${names.map((_, at) => relation(`s${at}`, "worksheet", `worksheets/sheet${at}.xml`)).join("")}${relation("t", "sharedStrings", "/xl/sharedStrings.xml")}${relation("y", "styles", "styles.xml")}</Relationships>`,
    },
    {
      name: "xl/sharedStrings.xml",
      content: `<sst>${texts.map((each) => `<si>${each}</si>`).join("")}</sst>`,
    },
    {
      name: "xl/styles.xml",
      content: `<styleSheet><numFmts>${formats}</numFmts><cellXfs>${styles.map((id) => `<xf numFmtId="${id}"/>`).join("")}</cellXfs></styleSheet>`,
    },
    ...names.map((name, at) => ({
      name: `xl/worksheets/sheet${at}.xml`,
      content: `<worksheet><sheetData>${sheets[name] ?? ""}</sheetData></worksheet>`,
    })),
  ];
  const { parts = [] } = workbook;
  const kept = made.filter(({ name }) => !parts.some((part) => part.name === name));
  return zipOf([...kept, ...parts]);
}

function text(content: string): Buffer {
  return Buffer.from(content, "latin1");
}
