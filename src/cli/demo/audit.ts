/** The third part of the demonstration: the record is taken away, judged, and judged again when a byte of it is another. */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import type { JsonValue } from "../../base/json.ts";
import { fault } from "../fault.ts";
import { type DemoCounts, listIn, member, numberIn, textIn } from "./counts.ts";
import type { Stage } from "./stage.ts";

const TRUST = ["--trust", "./trust.json"] as const;

/** What was found, for the JSON document. */
export interface Audited {
  readonly counts: JsonValue;
  readonly receipt: string;
  readonly tampered: JsonValue;
}

export async function judgeRecord(stage: Stage, run: string, counts: DemoCounts): Promise<Audited> {
  await stage.operator({
    say: "The record of all that, as files:",
    words: ["export", "./host/store", "--out", "./bundle"],
    exit: "verified",
    show: ["ok "],
  });
  const audit = await stage.operator({
    say: "Somebody who was not there checks it, with nothing but the trust store:",
    words: ["audit", "./bundle", ...TRUST],
    exit: "verified",
    show: ["ok: ", "entries ", "runs ", "admissions ", "receipts ", "approvals ", "signatures "],
  });
  const found = member(audit.json, "counts") ?? null;
  counts.approvals = numberIn(member(found, "approvals"), "approved");
  counts.effects = numberIn(member(found, "admissions"), "effect");
  counts.receipts = Object.values(member(found, "receipts") ?? {}).reduce(
    (sum: number, one) => sum + (typeof one === "number" ? one : 0),
    0,
  );
  const receipt = await oneReceipt(stage, run);
  return { counts: found, receipt, tampered: await tampered(stage) };
}

/** One receipt by itself, for somebody who wants no more. */
async function oneReceipt(stage: Stage, run: string): Promise<string> {
  const listed = await stage.operator({
    words: ["receipt", "export", "./host/store", "--run", run],
    exit: "problem",
  });
  const all = listIn(member(listed.json, "error"), "receipts");
  const effect = all.find((one) => textIn(one, "tool") === "workpaper.append");
  const receipt = textIn(effect, "receipt");
  await stage.operator({
    say: "The receipt of one row, with the proof that it is on record:",
    words: ["receipt", "export", "./host/store", receipt, "--out", "./receipt.json"],
    exit: "verified",
    show: ["ok "],
  });
  await stage.operator({
    words: ["receipt", "verify", "./receipt.json", ...TRUST, "--run", run],
    exit: "verified",
    show: ["ok: ", "step ", "outcome ", "in "],
  });
  return receipt;
}

/** Changes one digit of an amount in a copy of the bundle. */
async function tampered(stage: Stage): Promise<JsonValue> {
  cpSync(stage.place("./bundle"), stage.place("./tampered"), { recursive: true });
  const file = stage.place("./tampered/journal.jsonl");
  const bytes = readFileSync(file);
  const { line, byte } = digitIn(bytes.toString("latin1"));
  const was = String.fromCharCode(bytes[byte] ?? 0);
  const is = String((Number(was) + 1) % 10);
  bytes[byte] = is.charCodeAt(0);
  writeFileSync(file, bytes);
  const audit = await stage.operator({
    say: `In a copy of the bundle one byte is changed: in line ${line} of its journal (from 0), which admits a row, the last digit of an amount from ${was} to ${is}.`,
    words: ["audit", "./tampered", ...TRUST],
    exit: "rejected",
    show: ["NOT OK", "error "],
  });
  const findings = listIn(audit.json, "findings");
  // A range that the line lies in is true of any change near it; named is only what is named alone.
  const named = findings.some((finding) => {
    const [from, to] = listIn(finding, "index");
    return textIn(finding, "file") === "journal.jsonl" && from === line && to === line;
  });
  if (!named) {
    throw fault("demo_failed", `the audit did not name line ${line}, which was changed`);
  }
  stage.say(`    Line ${line} is named, and what no longer fits to it.`);
  return { file: "tampered/journal.jsonl", line, byte, was, is, findings: [...findings] };
}

/** The last digit of an amount in the last admission of an effect: the line of the journal, from 0, and the byte in it. */
function digitIn(text: string): { readonly line: number; readonly byte: number } {
  const lines = text.split("\n");
  const line = lines.findLastIndex(
    (one) => one.includes('"type":"admitted"') && one.includes('"category":"effect"'),
  );
  const [found = ""] = /"booked":"\d+/.exec(lines[line] ?? "") ?? [];
  const start = lines.slice(0, line).reduce((sum, one) => sum + one.length + 1, 0);
  const inLine = (lines[line] ?? "").indexOf(found);
  if (line < 0 || found === "") throw fault("demo_failed", "the record has no such admission");
  return { line, byte: start + inLine + found.length - 1 };
}
