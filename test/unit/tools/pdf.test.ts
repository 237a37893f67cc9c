import { fork } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/base/digest.ts";
import { registerFiles } from "../../../src/tools/file-sources.ts";
import { fileTool } from "../../../src/tools/files.ts";
import { type PdfToolOptions, pdfTool } from "../../../src/tools/pdf.ts";
import { bombPage, endlessPdf, pdfOf } from "../../support/documents.ts";
import { aborted, callOf, short } from "../../support/tool-calls.ts";

const INVOICE = pdfOf(["Invoice 7\nTotal (net) 1,250.00", "Second page", ""]);
const LOCKED = pdfOf(
  ["secret"],
  `/ID [<${"00".repeat(16)}> <${"00".repeat(16)}>] /Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <${"11".repeat(32)}> /U <${"22".repeat(32)}> >>`,
);
const FILES: Readonly<Record<string, Buffer>> = {
  invoice: INVOICE,
  locked: LOCKED,
  bomb: pdfOf([bombPage(64 * 1024 * 1024)]),
  cut: INVOICE.subarray(0, 300),
  noise: Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.alloc(2_000, 0x41)]),
  endless: endlessPdf(),
  strange: pdfOf([{ bytes: Buffer.from("BT ET"), filter: "/Filter /Strange" }]),
  unlisted: Buffer.from(
    INVOICE.toString("latin1").replace(/startxref\n\d+/, "startxref\n7"),
    "latin1",
  ),
  broken: pdfOf([{ bytes: Buffer.from("not deflated"), filter: "/Filter /FlateDecode" }]),
};

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "rote-pdf-"));
  for (const [source, bytes] of Object.entries(FILES)) {
    writeFileSync(join(directory, `${source}.pdf`), bytes);
  }
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function sources() {
  return registerFiles(
    Object.keys(FILES).map((source) => ({ source, file: join(directory, `${source}.pdf`) })),
  );
}

/** Time that only what hangs needs, but where a test says otherwise. */
const timeoutMs = 300_000;

const read = (args: unknown, options: PdfToolOptions = {}, change = {}) =>
  short(pdfTool(sources(), { timeoutMs, ...options }), args, change);

const CHILD = fileURLToPath(new URL("../../../src/tools/pdf-child.mjs", import.meta.url));

/** What the process that parses says, started from a file of its own. */
async function told(file: string, version: string): Promise<unknown> {
  const bounds = { from: 1, count: 1, maxCharacters: 100, maxMemory: 2 ** 28, timeoutMs };
  const child = fork(file, [], { serialization: "advanced", execArgv: [] });
  child.send({ ...bounds, bytes: INVOICE, version });
  const [answer] = await once(child, "message");
  return answer;
}

describe("text of a PDF", () => {
  it("comes page by page, with the digest of the whole document", async () => {
    expect(await read({ source: "invoice", from: 1, count: 2 })).toEqual({
      source: "invoice",
      sha256: sha256Hex(INVOICE),
      media_type: "application/pdf",
      pages: 3,
      texts: [
        { page: 1, text: "Invoice 7\nTotal (net) 1,250.00" },
        { page: 2, text: "Second page" },
      ],
    });
  });

  it("ends with the document, and a page without text says so", async () => {
    expect(await read({ source: "invoice", from: 3, count: 9 })).toMatchObject({
      texts: [{ page: 3, text: "" }],
    });
    expect(await read({ source: "invoice", from: 4, count: 1 })).toBe("refused page_absent");
  });

  it("can be asked for by content, and is no other then", async () => {
    const one = { source: "invoice", from: 2, count: 1 };
    expect(await read({ ...one, sha256: sha256Hex(INVOICE) })).toMatchObject({ pages: 3 });
    expect(await read({ ...one, sha256: "0".repeat(64) })).toBe("refused other_content");
    expect(await read({ ...one, sha256: "0" })).toBe("not_applied tool_arguments_invalid");
  });

  it("is one answer's worth or none", async () => {
    const two = { source: "invoice", from: 1, count: 2 };
    expect(await read(two, { maxCharacters: 41 })).toMatchObject({ pages: 3 });
    expect(await read(two, { maxCharacters: 40 })).toBe("refused answer_too_large");
  });

  it.each([
    ["a document that needs a password", "locked", "document_encrypted"],
    ["a document that is cut off", "cut", "document_malformed"],
    ["what only begins like one", "noise", "document_malformed"],
    ["a document with a part that cannot be unpacked", "broken", "document_malformed"],
    ["a document with a filter that nobody knows", "strange", "document_malformed"],
    ["a document whose list of objects has to be guessed", "unlisted", "document_malformed"],
  ])("is refused for %s", async (_, source, code) => {
    expect(await read({ source, from: 1, count: 1 })).toBe(`refused ${code}`);
  });

  it("is refused for a stream that unpacks a thousandfold, once its budget is used up", async () => {
    const tight = { maxMemory: 16 * 1024 * 1024 };
    expect(await read({ source: "bomb", from: 1, count: 1 }, tight)).toBe(
      "refused document_too_costly",
    );
  });

  it("is refused for a document that fills any memory, and only the process that parses it ends", async () => {
    const tight = { maxMemory: 64 * 1024 * 1024 };
    expect(await read({ source: "endless", from: 1, count: 1 }, tight)).toBe(
      "refused document_too_costly",
    );
  });

  it("is not read when parsing takes longer than it may, which is no answer about the document", async () => {
    const slow = { timeoutMs: 1 };
    expect(await read({ source: "invoice", from: 1, count: 1 }, slow)).toBe(
      "not_applied document_too_slow",
    );
  });

  it("is not read once the call is cancelled, before or while it is parsed", async () => {
    const one = { source: "invoice", from: 1, count: 1 };
    expect(await read(one, {}, { signal: aborted() })).toBe("not_applied cancelled");
    const under = new AbortController();
    const running = read(one, {}, { signal: under.signal });
    setImmediate(() => under.abort());
    expect(await running).toMatch(/cancelled|source_unreadable/);
  });

  it("is not parsed when the call was cancelled as the document had just been read", async () => {
    const under = new AbortController();
    // The last look at the signal before the document is there is that of the last read.
    let looks = 0;
    under.signal.throwIfAborted = () => {
      looks += 1;
      if (looks === 2) under.abort();
    };
    const one = { source: "invoice", from: 1, count: 1 };
    expect(await read(one, {}, { signal: under.signal })).toBe("not_applied cancelled");
    expect(looks).toBe(2);
  });

  it("is that of the registered document, or none", async () => {
    const tool = pdfTool(sources());
    writeFileSync(join(directory, "noise.pdf"), INVOICE);
    expect(await short(tool, { source: "noise", from: 1, count: 1 })).toBe(
      "refused source_changed",
    );
    writeFileSync(join(directory, "noise.pdf"), FILES["noise"] ?? "");
    expect(await short(tool, { source: "other", from: 1, count: 1 })).toBe(
      "refused unknown_source",
    );
  });

  it("comes from this tool alone, and this tool reads nothing else", async () => {
    const ranged = { source: "invoice", from: 0, count: 5 };
    expect(await short(fileTool(sources()), ranged)).toBe("refused wrong_media_type");
    const named = join(directory, "invoice.pdf");
    const plain = registerFiles([{ source: "text", file: named, media_type: "text/plain" }]);
    const first = { source: "text", from: 1, count: 1 };
    expect(await short(pdfTool(plain), first)).toBe("refused wrong_media_type");
  });

  it.each([
    ["nothing", {}],
    ["page 0", { source: "invoice", from: 0, count: 1 }],
    ["too many pages", { source: "invoice", from: 1, count: 501 }],
    ["a path", { source: "invoice", from: 1, count: 1, file: "/etc/passwd" }],
  ])("is not asked for with %s", async (_, args) => {
    expect(pdfTool(sources()).fault?.(callOf(args).arguments)).toEqual(expect.any(String));
    expect(await read(args)).toBe("not_applied tool_arguments_invalid");
  });

  it("needs its parser, in the version that was reviewed", async () => {
    const alone = join(directory, "child.mjs");
    copyFileSync(CHILD, alone);
    expect(await told(alone, "5.6.205")).toEqual({ code: "package_missing" });
    expect(await told(CHILD, "5.6.206")).toEqual({ code: "package_version" });
    expect(await told(CHILD, "5.6.205")).toMatchObject({ pages: 3 });
  });

  it("names its parser and its bound in what a reviewer signs", () => {
    expect(pdfTool(sources(), { maxCharacters: 5 }).definition.annotations).toEqual({
      parser: "pdf.js 5.6.205",
      max_characters: 5,
    });
  });

  it("is not registered as a PDF when it does not begin like one", () => {
    const file = join(directory, "picture.pdf");
    writeFileSync(file, "GIF89a");
    expect(() => registerFiles([{ source: "x", file }])).toThrow(
      expect.objectContaining({ code: "bad_source" }),
    );
  });
});
