import { exportStoredReceipt, type ListedReceipt, storedReceipts } from "../../app/audit.ts";
import { canonicalText } from "../../base/canonical.ts";
import { quoted } from "../../base/quoted.ts";
import { fault, usageFault } from "../fault.ts";
import { writeDocument } from "../files.ts";
import { reportJson } from "../report-json.ts";
import { type Call, type Outcome, switchOption, textOption } from "../spec.ts";
import { table } from "../table.ts";

/** One receipt with its proof, in the one spelling that openssl's users can take apart. */
export async function run(call: Call): Promise<Outcome> {
  const { options } = call;
  const [store = "", named] = call.arguments;
  const receipt = await chosen(call, store, named);
  const file = reportJson(await exportStoredReceipt(store, receipt));
  const text = canonicalText(file);
  const out = textOption(options, "out");
  if (out === undefined) return { exit: "verified", json: { receipt, file }, text, exact: true };
  writeDocument(out, `${text}\n`, switchOption(options, "force"));
  return {
    exit: "verified",
    json: { receipt, out },
    text: `ok ${out} has the receipt ${receipt}\nhint: check it with  rote receipt verify ${quoted(out)} --trust TRUST`,
  };
}

async function chosen(
  { options }: Call,
  store: string,
  named: string | undefined,
): Promise<string> {
  const run = textOption(options, "run");
  const node = textOption(options, "node");
  if ((named === undefined) === (run === undefined) || (node !== undefined && run === undefined)) {
    throw usageFault(
      "one receipt is exported",
      "name it as its run lists it, or give --run RUN, with --node NODE where the run has several",
    );
  }
  if (run === undefined) return named ?? "";
  const all = await storedReceipts(store, run);
  const fitting = all.filter((one) => node === undefined || one.node === node);
  const [only, ...more] = fitting;
  if (only !== undefined && more.length === 0) return only.receipt;
  const where = node === undefined ? run : `the step ${node} of ${run}`;
  const offered = only === undefined ? all : fitting;
  throw fault(
    "unknown_receipt",
    `${where} has ${fitting.length === 0 ? "no receipt" : `${fitting.length} receipts`}`,
    all.length === 0
      ? "rote runs list names the runs"
      : `name one of these: rote receipt export ${quoted(store)} RECEIPT`,
    { details: listed(offered), receipts: offered.map((one) => ({ ...one })) },
  );
}

function listed(receipts: readonly ListedReceipt[]): string {
  if (receipts.length === 0) return "";
  const rows = receipts.map(({ node, index, tool, outcome, receipt }) => [
    index === null ? node : `${node} [${index}]`,
    tool,
    outcome,
    receipt,
  ]);
  return table(["step", "tool", "outcome", "receipt"], rows);
}
