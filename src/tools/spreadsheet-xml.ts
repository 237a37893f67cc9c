/**
 * Elements and text of the XML that spreadsheets are made of, in one pass.
 *
 * - X1 UTF-8 alone, well-formed, without a document type: there are no entities to expand but the five and numbers.
 * - X2 Linear in the text, whatever the text; depth and length of what is kept are bounded by the caller's input.
 * - X3 Whoever reads looks at the whole path of an element, in which names of the root's own namespace have no prefix.
 *   Others begin with a number for their namespace: what stands beside the known paths (extensions, alternatives) is passed over, as
 *   programs do that show it.
 */
import { malformed } from "./spreadsheet-zip.ts";

export type Attributes = ReadonlyMap<string, string>;

export interface Reader {
  /** `path` is the element's own, with its name: `worksheet/sheetData/row`. */
  open?(path: string, attributes: Attributes): void;
  /** The text that stands in the element itself, between and after its children. */
  close?(path: string, text: string): void;
}

const MAX_DEPTH = 64;
const NO_ATTRIBUTES: Attributes = new Map();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** Where elements of one name stand below elements of one place: made once, however many there are. */
interface Place {
  readonly path: string;
  /** By name as it is written, or with its namespace where that is not the one it had at the root. */
  readonly below: Map<string, Place>;
}

/** Namespaces by prefix, the empty one of names without, as an element declares them; and those around it. */
interface Spaces {
  /** Each as its number in the part: a namespace may be as long as the part, and every element may be in it. */
  readonly declared: ReadonlyMap<string, string>;
  readonly around: Spaces | null;
}

/** What the names in a part mean: known once its root is. */
interface Names {
  readonly top: Place;
  readonly root: Spaces;
  readonly own: string;
}

interface Open {
  readonly name: string;
  readonly spaces: Spaces;
  readonly place: Place;
  text: string;
}

/** @throws Declared `document_malformed` */
export function readXml(bytes: Uint8Array, reader: Reader): void {
  const xml = textOf(bytes);
  const stack: Open[] = [];
  const known = new Map<string, string>();
  let names: Names | undefined;
  let at = 0;
  while (at < xml.length) {
    const tag = xml.indexOf("<", at);
    const end = tag < 0 ? xml.length : tag;
    if (end > at) addText(stack.at(-1), resolved(xml.slice(at, end)));
    if (tag < 0) break;
    const mark = xml[tag + 1];
    if (mark === "?") at = after(xml, "?>", tag + 2);
    else if (mark === "!") at = declaration(xml, tag, stack.at(-1));
    else if (mark === "/") at = closing(xml, tag, stack, reader);
    else {
      if (stack.length === 0 && names !== undefined) throw malformed("an XML part has two roots");
      const opened = opening(xml, tag);
      const { name, attributes, empty } = opened;
      const spaces = spacesIn(stack.at(-1)?.spaces ?? NO_SPACES, attributes, known);
      names ??= { top: { path: "", below: new Map() }, root: spaces, own: spaceOf(name, spaces) };
      const place = placeBelow(stack.at(-1)?.place ?? names.top, name, spaces, names);
      reader.open?.(place.path, attributes);
      if (empty) reader.close?.(place.path, "");
      else if (stack.length >= MAX_DEPTH) throw malformed("an XML part is nested too deeply");
      else stack.push({ name, spaces, place, text: "" });
      at = opened.next;
    }
  }
  if (stack.length > 0 || names === undefined) throw malformed("an XML part ends too early");
}

function textOf(bytes: Uint8Array): string {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw malformed("an XML part is not UTF-8");
  }
  return text.includes("\r") ? text.replaceAll(/\r\n?/g, "\n") : text;
}

function declaration(xml: string, tag: number, top: Open | undefined): number {
  if (xml.startsWith("<!--", tag)) return after(xml, "-->", tag + 4);
  if (!xml.startsWith("<![CDATA[", tag)) throw malformed("an XML part declares a document type");
  const next = after(xml, "]]>", tag + 9);
  addText(top, xml.slice(tag + 9, next - 3));
  return next;
}

function closing(xml: string, tag: number, stack: Open[], reader: Reader): number {
  const next = after(xml, ">", tag + 2);
  const top = stack.pop();
  if (top === undefined || top.name !== xml.slice(tag + 2, next - 1).trimEnd()) {
    throw malformed("an XML part closes what it did not open");
  }
  reader.close?.(top.place.path, top.text);
  return next;
}

const NAME = /[^\s/>=<"']+/y;
const SPACE = /[ \t\n\r]*/y;

interface Opened {
  readonly name: string;
  readonly attributes: Attributes;
  readonly empty: boolean;
  readonly next: number;
}

function opening(xml: string, tag: number): Opened {
  const name = match(NAME, xml, tag + 1);
  if (name === "") throw malformed("an XML part has a tag without a name");
  let at = tag + 1 + name.length;
  let attributes: Map<string, string> | undefined;
  for (;;) {
    at = afterSpace(xml, at);
    const mark = xml[at];
    if (mark === ">" || mark === "/") {
      const empty = mark === "/";
      if (empty && xml[at + 1] !== ">") break;
      return {
        name,
        attributes: attributes ?? NO_ATTRIBUTES,
        empty,
        next: empty ? at + 2 : at + 1,
      };
    }
    const key = match(NAME, xml, at);
    const equals = afterSpace(xml, at + key.length);
    if (key === "" || xml[equals] !== "=") break;
    const quoted = afterSpace(xml, equals + 1);
    const quote = xml[quoted];
    if (quote !== '"' && quote !== "'") break;
    at = after(xml, quote, quoted + 1);
    attributes ??= new Map();
    // `r:id` keeps its prefix, since an `id` may stand beside it.
    if (attributes.has(key)) throw malformed("an XML part has an attribute twice");
    attributes.set(key, resolved(xml.slice(quoted + 1, at - 1)));
  }
  throw malformed("an XML part has a tag that cannot be read");
}

function match(pattern: RegExp, xml: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(xml)?.[0] ?? "";
}

function afterSpace(xml: string, at: number): number {
  return isSpace(xml, at) ? at + match(SPACE, xml, at).length : at;
}

/** Everything that XML calls space is at or below the space; what else is there is no name either. */
function isSpace(xml: string, at: number): boolean {
  return xml.charCodeAt(at) <= 0x20;
}

function placeBelow(above: Place, name: string, spaces: Spaces, { root, own }: Names): Place {
  const space = spaces === root ? undefined : spaceOf(name, spaces);
  const key = space === undefined ? name : `{${space}}${name}`;
  const known = above.below.get(key);
  if (known !== undefined) return known;
  const local = name.slice(name.indexOf(":") + 1);
  const of = space ?? spaceOf(name, spaces);
  const step = of === own ? local : `{${of}}${local}`;
  const path = above.path === "" ? step : `${above.path}/${step}`;
  const place = { path, below: new Map<string, Place>() };
  above.below.set(key, place);
  return place;
}

const NO_SPACES: Spaces = { declared: new Map(), around: null };
const XMLNS = "xmlns:";

/** Those of the element around it, unless it declares some itself. Nothing is copied, however many there are. */
function spacesIn(around: Spaces, attributes: Attributes, known: Map<string, string>): Spaces {
  let declared: Map<string, string> | undefined;
  for (const [name, value] of attributes) {
    if (name !== "xmlns" && !name.startsWith(XMLNS)) continue;
    declared ??= new Map();
    // The empty one takes a declaration back.
    const number = value === "" ? "" : (known.get(value) ?? String(known.size));
    known.set(value, number);
    declared.set(name.slice(XMLNS.length), number);
  }
  return declared === undefined ? around : { declared, around };
}

/** A prefix that nobody declared is a namespace of its own. */
function spaceOf(name: string, spaces: Spaces): string {
  const colon = name.indexOf(":");
  const prefix = colon < 0 ? "" : name.slice(0, colon);
  for (let at: Spaces | null = spaces; at !== null; at = at.around) {
    const space = at.declared.get(prefix);
    if (space !== undefined) return space;
  }
  return prefix === "" ? "" : `${prefix}:`;
}

function after(xml: string, end: string, from: number): number {
  const at = xml.indexOf(end, from);
  if (at < 0) throw malformed("an XML part ends too early");
  return at + end.length;
}

function addText(open: Open | undefined, text: string): void {
  if (open !== undefined) open.text += text;
  else if (text.trim() !== "") throw malformed("an XML part has text outside its root");
}

const NAMED: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  amp: "&",
  quot: '"',
  apos: "'",
};

function resolved(text: string): string {
  if (!text.includes("&")) return text;
  return text.replaceAll(/&([^;&]{0,12});?/g, (whole, entity: string) => {
    if (!whole.endsWith(";")) throw malformed("an XML part has a stray &");
    const named = Object.hasOwn(NAMED, entity) ? NAMED[entity] : undefined;
    if (named !== undefined) return named;
    const [, hex, decimal] = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}))$/.exec(entity) ?? [];
    const code = hex === undefined ? Number(decimal ?? "NaN") : Number.parseInt(hex, 16);
    if (!isCharacter(code)) throw malformed("an XML part names an entity that is none");
    return String.fromCodePoint(code);
  });
}

function isCharacter(code: number): boolean {
  if (code === 9 || code === 10 || code === 13) return true;
  return code >= 0x20 && code <= 0x10_ffff && !(code >= 0xd800 && code <= 0xdfff);
}
