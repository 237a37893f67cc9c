// @ts-check
/**
 * Takes the text out of one PDF in a process of its own, which `pdf.ts` ends when it takes too long, and whose end harms
 * nobody: a broken document can have the parser fill any heap, and V8 then aborts the process, not a thread.
 *
 * A stream in a PDF can unpack to a thousand times its size, into memory that no limit of a heap counts. So arrays are
 * counted here, and the way round them (unpacking by the platform) is closed: what is over the budget is refused at the
 * same place every time.
 */
import { once } from "node:events";
import process from "node:process";
import { Worker } from "node:worker_threads";

const [{ bytes, from, count, maxCharacters, maxMemory, timeoutMs, version }] = await once(
  process,
  "message",
);
// Should nobody be there any more to end a parser that does not.
const watch =
  "setTimeout(() => process.kill(process.pid, 'SIGKILL'), require('node:worker_threads').workerData)";
new Worker(watch, { eval: true, workerData: timeoutMs + 1_000 }).unref();

class Costly extends Error {}
let costly = false;
let allocated = 0;

const counting = new Proxy(Uint8Array, {
  construct(target, args, made) {
    if (typeof args[0] === "number") allocated += args[0];
    if (allocated > maxMemory) {
      costly = true;
      throw new Costly("over the budget");
    }
    return Reflect.construct(target, args, made);
  },
});
// Not by assignment, which would declare another type of that name to the compiler.
Reflect.set(globalThis, "Uint8Array", counting);
Reflect.deleteProperty(globalThis, "DecompressionStream");

/**
 * The parser goes on where it can and says so in a warning. These are the ones after which text may be missing or
 * wrong; they are those of the one version that is used.
 */
const LOSSES = [
  "Invalid stream",
  "Empty ",
  "Filter ",
  "getContentStream - ignoring",
  "getTextContent - ignoring",
  "loadFont - ",
  "translateFont - ",
  "readToUnicode - ",
  "Invalid cMap",
  "Indexing all PDF objects",
  "getAllPageDicts - ",
  "Unknown command",
  "Not enough parameters",
  "Skipping command",
  "Unterminated",
];
let lossy = false;
// Nothing of it is printed: it may hold the document.
for (const method of /** @type {const} */ (["log", "info", "warn", "error"])) {
  console[method] = (message) => {
    const said = String(message).replace(/^Warning: /, "");
    lossy ||= LOSSES.some((loss) => said.startsWith(loss));
  };
}

/** @param {object} answer */
const tell = (answer) => process.send?.(answer, () => process.exit());

try {
  tell(await answer());
} catch (error) {
  if (costly) tell({ code: "document_too_costly" });
  else if (error instanceof Error && error.name === "PasswordException")
    tell({ code: "document_encrypted" });
  else tell({ code: "document_malformed" });
}

async function answer() {
  let unpdf;
  try {
    unpdf = await import("unpdf");
  } catch {
    return { code: "package_missing" };
  }
  const pdfjs = await unpdf.getResolvedPDFJS();
  if (pdfjs.version !== version) return { code: "package_version" };
  const pdf = await unpdf.getDocumentProxy(new Uint8Array(bytes), {
    stopAtErrors: true,
    useSystemFonts: false,
    disableFontFace: true,
    isEvalSupported: false,
    // Never what happens to be installed beside it: the same bytes give the same text everywhere.
    cMapUrl: undefined,
    standardFontDataUrl: undefined,
    verbosity: 1,
  });
  const pages = pdf.numPages;
  if (from > pages) return { code: "page_absent", pages };
  const texts = [];
  let characters = 0;
  for (let number = from; number < from + count && number <= pages; number += 1) {
    const page = await pdf.getPage(number);
    let text = "";
    const { items } = await page.getTextContent();
    for (const item of items) {
      if (!("str" in item)) continue;
      text += item.hasEOL ? `${item.str}\n` : item.str;
      if (characters + text.length > maxCharacters) return { code: "answer_too_large" };
    }
    characters += text.length;
    texts.push({ page: number, text });
    page.cleanup();
  }
  return lossy ? { code: "document_malformed" } : { pages, texts };
}
