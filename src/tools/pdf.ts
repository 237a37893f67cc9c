/**
 * The text of a registered PDF as a read, page by page. Needs the package `unpdf`, which is loaded at the first call.
 *
 * - D1 The document is parsed in a process of its own, under a budget of memory and a limit of time, with nothing of this
 *   one's environment. A document that needs more is refused, and the process ends with the call.
 * - D2 The reviewed definition names the parser's version. Another one may see another text, so it is not used.
 * - D3 A part that cannot be parsed refuses the document: text that is silently incomplete is worse than none. Pages
 *   that are pictures have no text, and a page's text says nothing of what is drawn over it.
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { placeFromHome } from "../base/code-home.ts";
import type { JsonValue } from "../base/json.ts";
import type { Tool, ToolOutcome } from "../ports/tool.ts";
import { defineTool, type ToolWords, wordsOf } from "./definition.ts";
import { committedRead, isWantedContent, WANTED_CONTENT, wellFormed } from "./documents.ts";
import { type FileSources, PDF_TYPE } from "./file-sources.ts";
import { faultOf, isInteger, membersOf } from "./members.ts";
import { CANCELLED, done, nothingDone, refused } from "./outcome.ts";

export interface PdfToolOptions extends Partial<ToolWords> {
  /** Characters that one answer may hold. Default 200,000. */
  readonly maxCharacters?: number;
  /** Bytes that parsing may ask for: for arrays all in all, and for everything else at once. Default 256 MiB. */
  readonly maxMemory?: number;
  /** Milliseconds for one answer. Default 20,000. */
  readonly timeoutMs?: number;
}

interface Request {
  readonly source: string;
  readonly sha256: string | undefined;
  readonly from: number;
  readonly count: number;
}

/** Of the parser inside unpdf 1.7.0. */
const PARSER = "5.6.205";
const MAX_PAGES = 500;

const DESCRIPTION = `Reads the text of up to ${MAX_PAGES} pages of a registered PDF, counted from 1. A page that is a picture has no text.`;

const INPUT: JsonValue = {
  type: "object",
  properties: {
    source: { type: "string" },
    sha256: WANTED_CONTENT,
    from: { type: "integer", minimum: 1, description: "the first page" },
    count: { type: "integer", minimum: 1, maximum: MAX_PAGES },
  },
  required: ["source", "from", "count"],
  additionalProperties: false,
};

const OUTPUT: JsonValue = {
  type: "object",
  properties: {
    source: { type: "string" },
    sha256: { type: "string", description: "of the whole source" },
    media_type: { type: "string" },
    pages: { type: "integer", minimum: 0, description: "of the whole document" },
    texts: {
      type: "array",
      items: {
        type: "object",
        properties: { page: { type: "integer", minimum: 1 }, text: { type: "string" } },
        required: ["page", "text"],
        additionalProperties: false,
      },
    },
  },
  required: ["source", "sha256", "media_type", "pages", "texts"],
  additionalProperties: false,
};

/** @throws RoteError `bad_tool` */
export function pdfTool(sources: FileSources, options: PdfToolOptions = {}): Tool {
  const maxCharacters = options.maxCharacters ?? 200_000;
  const maxMemory = options.maxMemory ?? 256 * 1024 * 1024;
  const timeoutMs = options.timeoutMs ?? 20_000;
  const definition = defineTool(wordsOf(options, { name: "pdf.read", description: DESCRIPTION }), {
    server: "file",
    input: INPUT,
    output: OUTPUT,
    annotations: { parser: `pdf.js ${PARSER}`, max_characters: maxCharacters },
  });
  return {
    definition,
    fault: (args) => faultOf(requestOf(args)),
    call: committedRead(sources, PDF_TYPE, requestOf, async ({ request, bytes, about, signal }) => {
      const { from, count } = request;
      const bounds = { maxCharacters, maxMemory, timeoutMs };
      const work = { bytes, from, count, ...bounds, version: PARSER };
      const told = await inProcess(work, signal);
      if ("code" in told) return toldOutcome(told, maxCharacters);
      const texts = told.texts.map(({ page, text }) => ({ page, text: wellFormed(text) }));
      return done({ ...about, pages: told.pages, texts });
    }),
  };
}

interface Work {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly count: number;
  readonly maxCharacters: number;
  readonly maxMemory: number;
  readonly timeoutMs: number;
  readonly version: string;
}

interface Text {
  readonly page: number;
  readonly text: string;
}

type Told =
  | { readonly pages: number; readonly texts: readonly Text[] }
  | { readonly code: string; readonly pages?: number };

/** MiB; the parser itself takes about half of this. */
const LEAST_HEAP = 64;
const CHILD = fileURLToPath(placeFromHome("tools/pdf-child.mjs"));

async function inProcess(work: Work, signal: AbortSignal): Promise<Told> {
  // What was cancelled while the document was read says so no more.
  if (signal.aborted) return { code: "cancelled" };
  const heap = Math.max(LEAST_HEAP, Math.ceil(work.maxMemory / 1024 ** 2));
  const child = fork(CHILD, [], {
    execArgv: [`--max-old-space-size=${heap}`],
    env: {},
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const told = new Promise<Told>((resolve, reject) => {
    const limit = AbortSignal.timeout(work.timeoutMs);
    limit.addEventListener("abort", () => resolve({ code: "document_too_slow" }));
    const cancelled = () => resolve({ code: "cancelled" });
    signal.addEventListener("abort", cancelled, { once: true });
    child.once("message", (answer) => resolve(answer as Told));
    child.once("error", reject);
    child.once("exit", (_, killed) => {
      signal.removeEventListener("abort", cancelled);
      if (killed !== null) resolve({ code: "document_too_costly" });
      else reject(new Error("the process ended without an answer"));
    });
    child.send(work, (error) => {
      if (error !== null) reject(error);
    });
  });
  try {
    return await told;
  } finally {
    child.kill("SIGKILL");
  }
}

function toldOutcome(
  { code, pages = 0 }: Told & { code: string },
  maxCharacters: number,
): ToolOutcome {
  switch (code) {
    case "cancelled":
      return CANCELLED;
    case "package_missing":
      return nothingDone(code, "text of a PDF needs the package unpdf: npm install unpdf@1.7.0");
    case "package_version":
      return nothingDone(code, `the tool was reviewed with the parser of unpdf 1.7.0 (${PARSER})`);
    case "page_absent":
      return refused(code, `the document has ${pages} pages`);
    case "answer_too_large":
      return refused(code, `one answer holds ${maxCharacters} characters at most`);
    case "document_encrypted":
      return refused(code, "the document cannot be opened without a password");
    case "document_too_costly":
      return refused(code, "the document takes more memory than is allowed");
    case "document_too_slow":
      // Says more of the machine than of the document, so it is no answer about the document.
      return nothingDone(code, "the document could not be read in the time that is allowed");
    default:
      return refused("document_malformed", "the document cannot be parsed as a PDF");
  }
}

/** The request, or why it is none. */
function requestOf(args: JsonValue): Request | string {
  const members = membersOf(args, ["source", "sha256", "from", "count"]);
  if (typeof members === "string") return members;
  const { source, sha256, from, count } = members;
  if (typeof source !== "string") return "/source: a text names the source";
  if (!isWantedContent(sha256)) return "/sha256: 64 hexadecimal digits";
  if (!isInteger(from, 1)) return "/from: an integer from 1";
  if (!isInteger(count, 1) || count > MAX_PAGES) return `/count: an integer from 1 to ${MAX_PAGES}`;
  return { source, sha256, from, count };
}
