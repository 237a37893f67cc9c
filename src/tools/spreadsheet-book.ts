/** The parts of a workbook that say what a sheet's cells mean: its sheets, the texts they share, the styles. */
import { isDateFormat } from "./spreadsheet-numbers.ts";
import { type Attributes, readXml } from "./spreadsheet-xml.ts";
import { type Archive, malformed, openArchive } from "./spreadsheet-zip.ts";

export interface Book {
  /** By name in the workbook's order; hidden ones too. Charts and macros are no sheets of cells. */
  readonly sheets: readonly { readonly name: string; readonly part: string }[];
  /** Days are counted from 1904 instead of 1900. */
  readonly from1904: boolean;
  readonly texts: readonly string[];
  /** By number of a cell's style: whether it shows a date. */
  readonly dates: readonly boolean[];
  part(this: void, name: string): Promise<Uint8Array>;
}

interface Relation {
  readonly type: string;
  readonly part: string;
}

/** @throws Declared `document_malformed` `document_encrypted` `document_too_costly` */
export async function openBook(bytes: Uint8Array, maxBytes: number): Promise<Book> {
  const archive = openArchive(bytes, maxBytes);
  const part = async (name: string) => {
    const content = await archive.part(name);
    if (content === undefined) throw malformed("a part is missing");
    return content;
  };
  const workbook = oneOf(await relationsOf(archive, ""), "/officeDocument")?.part;
  if (workbook === undefined) throw malformed("it names no workbook");
  const relations = await relationsOf(archive, workbook);
  const texts = oneOf(relations, "/sharedStrings");
  const styles = oneOf(relations, "/styles");
  return {
    ...sheetsOf(await part(workbook), relations),
    texts: texts === undefined ? [] : textsOf(await part(texts.part)),
    dates: styles === undefined ? [] : datesOf(await part(styles.part)),
    part,
  };
}

/** Of two, programs take one, and not all of them the same. */
function oneOf(relations: ReadonlyMap<string, Relation>, kind: string): Relation | undefined {
  const [one, ...more] = [...relations.values()].filter(({ type }) => type.endsWith(kind));
  if (more.length > 0) throw malformed("it names two parts where there is one");
  return one;
}

/** What a part points to, by id. The archive's own relations belong to the part without a name. */
async function relationsOf(
  archive: Archive,
  owner: string,
): Promise<ReadonlyMap<string, Relation>> {
  const slash = owner.lastIndexOf("/") + 1;
  const folder = owner.slice(0, slash);
  const bytes = await archive.part(`${folder}_rels/${owner.slice(slash)}.rels`);
  if (bytes === undefined) throw malformed("a list of relations is missing");
  const relations = new Map<string, Relation>();
  readXml(bytes, {
    open(path, attributes) {
      if (path !== "Relationships/Relationship") return;
      if (attributes.get("TargetMode") === "External") return;
      const id = needed(attributes, "Id");
      if (relations.has(id)) throw malformed("a relation is there twice");
      const target = needed(attributes, "Target");
      relations.set(id, { type: needed(attributes, "Type"), part: resolve(folder, target) });
    },
  });
  return relations;
}

/** Names of parts, not of files: the archive is asked for exactly this one. */
function resolve(folder: string, target: string): string {
  if (target.startsWith("/")) return target.slice(1);
  const steps = folder.split("/").slice(0, -1);
  for (const step of target.split("/")) {
    if (step === "..") steps.pop();
    else if (step !== ".") steps.push(step);
  }
  return steps.join("/");
}

function sheetsOf(
  bytes: Uint8Array,
  relations: ReadonlyMap<string, Relation>,
): Pick<Book, "sheets" | "from1904"> {
  const sheets = new Map<string, string>();
  let from1904 = false;
  readXml(bytes, {
    open(path, attributes) {
      if (path === "workbook/workbookPr") {
        from1904 = ["1", "true"].includes(attributes.get("date1904") ?? "");
      }
      if (path !== "workbook/sheets/sheet") return;
      const [, id = ""] = [...attributes].find(([key]) => key.endsWith(":id")) ?? [];
      const relation = relations.get(id);
      if (relation === undefined) throw malformed("a sheet is lost");
      if (!relation.type.endsWith("/worksheet")) return;
      const name = needed(attributes, "name");
      if (sheets.has(name)) throw malformed("two sheets have one name");
      sheets.set(name, relation.part);
    },
  });
  return { sheets: [...sheets].map(([name, part]) => ({ name, part })), from1904 };
}

function textsOf(bytes: Uint8Array): readonly string[] {
  const texts: string[] = [];
  let text = "";
  readXml(bytes, {
    open(path) {
      if (path === "sst/si") text = "";
    },
    close(path, own) {
      if (path === "sst/si/t" || path === "sst/si/r/t") text += unescaped(own);
      else if (path === "sst/si") texts.push(text);
    },
  });
  return texts;
}

function datesOf(bytes: Uint8Array): readonly boolean[] {
  const codes = new Map<number, string>();
  const dates: boolean[] = [];
  readXml(bytes, {
    open(path, attributes) {
      if (path === "styleSheet/numFmts/numFmt") {
        codes.set(Number(attributes.get("numFmtId")), attributes.get("formatCode") ?? "");
      } else if (path === "styleSheet/cellXfs/xf") {
        const id = Number(attributes.get("numFmtId") ?? "0");
        dates.push(isDateFormat(id, codes.get(id)));
      }
    },
  });
  return dates;
}

/** `_x000D_` stands for a character that XML cannot hold or would change. */
export function unescaped(text: string): string {
  if (!text.includes("_x")) return text;
  return text.replaceAll(/_x([0-9a-fA-F]{4})_/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

function needed(attributes: Attributes, name: string): string {
  const value = attributes.get(name);
  if (value === undefined) throw malformed(`there is no ${name} where one is needed`);
  return value;
}
