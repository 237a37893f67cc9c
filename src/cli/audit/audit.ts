import { setImmediate } from "node:timers/promises";
import {
  type AuditOptions,
  auditDirectory,
  auditStore,
  formatAudit,
  isStoreDirectory,
  readHeads,
} from "../../app/audit.ts";
import { fault, usageFault } from "../fault.ts";
import { ofTrustFile, readJsonFile } from "../json-file.ts";
import { reportJson } from "../report-json.ts";
import { type Call, type Outcome, textOption } from "../spec.ts";
import { count } from "../table.ts";

/**
 * Judges a whole record. Changes nothing. Tree heads from outside are those that the auditor names and no others: what lies
 * beside a record is in the hands of whoever holds the record.
 */
export async function run(call: Call): Promise<Outcome> {
  const [record = ""] = call.arguments;
  const trust = await trustOf(call);
  const stored = await isStoreDirectory(record);
  const kept = textOption(call.options, "heads") ?? null;
  const options: AuditOptions = {
    trust,
    progress: (entries) => progressed(call, entries),
    ...(kept === null ? {} : { anchors: await readHeads(kept) }),
  };
  const judge = stored ? auditStore : auditDirectory;
  const file = textOption(call.options, "trust") ?? "";
  const report = await ofTrustFile(file, () => judge(record, options));
  if (call.terminal.watched) call.terminal.progress("");
  return {
    exit: report.clean ? "verified" : "rejected",
    json: {
      record,
      kind: stored ? "store" : "bundle",
      heads: kept,
      ...reportJson(report),
    },
    text: formatAudit(report),
  };
}

/** The auditor's own trust store. @throws RoteError `bad_usage` when none is named */
export async function trustOf({ command, options, terminal }: Call) {
  const file = textOption(options, "trust");
  if (file !== undefined) return await readJsonFile(file, "trust", terminal);
  throw usageFault(
    `rote ${command} believes only keys that you name`,
    "give your own copy of the host's trust store with --trust FILE",
  );
}

/** Also lets an interruption in, which nothing else here would. */
async function progressed({ terminal }: Call, entries: number): Promise<void> {
  if (terminal.watched) terminal.progress(`${count(entries, "entry", "entries")} checked`);
  await setImmediate();
  if (terminal.interrupted.aborted) throw fault("user_cancelled", "the audit was cancelled");
}
