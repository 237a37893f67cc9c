import { formatReceipt, verifyReceipt } from "../../app/audit.ts";
import { readJson } from "../../base/json.ts";
import { fault } from "../fault.ts";
import { MAX_DOCUMENT_BYTES, readDocument } from "../files.ts";
import { ofTrustFile } from "../json-file.ts";
import { reportJson } from "../report-json.ts";
import { type Call, type Outcome, textOption } from "../spec.ts";
import { trustOf } from "./audit.ts";

/** Judges one receipt. Changes nothing. */
export async function run(call: Call): Promise<Outcome> {
  const { options } = call;
  const [file = ""] = call.arguments;
  const run = textOption(options, "run");
  const operation = textOption(options, "operation");
  const expected = {
    ...(run === undefined ? {} : { run }),
    ...(operation === undefined ? {} : { operation }),
  };
  const given = readJson(await readDocument(file, "receipt", MAX_DOCUMENT_BYTES, call.terminal));
  if (!given.ok) {
    const { line, message } = given.error;
    throw fault("bad_json", `receipt ${file}: line ${line}: ${message}`, undefined, { file });
  }
  const trust = await trustOf(call);
  const report = await ofTrustFile(textOption(options, "trust") ?? "", () =>
    verifyReceipt(given.value, { trust, expected }),
  );
  return {
    exit: report.verified ? "verified" : "rejected",
    json: { file, ...reportJson(report) },
    text: formatReceipt(report),
  };
}
