/** The answers of an audit and of the check of a receipt in words. */

import { inLine } from "../base/text.ts";
import type { Finding, Span } from "./finding.ts";
import { FINDING_CODES } from "./finding-codes.ts";
import type { ReceiptReport } from "./receipt-file.ts";
import type { AuditReport } from "./report.ts";

/** Lines that end in a line feed; every finding with its place, its meaning once for each code, and what to do. */
export function formatAudit(report: AuditReport): string {
  const lines = [
    report.clean
      ? `ok: the record of ${report.origin} holds`
      : `NOT OK: ${total(report)} in the record of ${report.origin}`,
    "",
    ...countLines(report),
  ];
  for (const line of findingLines(report.findings)) lines.push(line);
  if (report.omitted > 0) lines.push("", `${report.omitted} more findings are not listed.`);
  return textOf(lines);
}

/** What comes from the record does not begin a line of its own, which would pass for one of ours. */
function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${inLine(line)}\n`).join("");
}

/** Lines that end in a line feed: what the receipt states, what was shown of it, and every finding. */
export function formatReceipt({
  verified,
  findings,
  statement,
  time,
  head,
}: ReceiptReport): string {
  const lines = [
    verified
      ? "ok: the receipt holds, and it is in the log of a signed tree head"
      : `NOT OK: ${findings.length === 1 ? "1 finding" : `${findings.length} findings`} about the receipt`,
  ];
  if (statement !== null) {
    const { subject, predicate } = statement;
    const { node, index, attempt, approvals, refusal } = predicate;
    lines.push(
      "",
      `host       ${predicate.audience}`,
      `run        ${predicate.run}`,
      `step       ${node}${index === null ? "" : ` [${index}]`}${attempt === 1 ? "" : `, attempt ${attempt}`}`,
      `tool       ${predicate.target.name}`,
      `outcome    ${predicate.outcome}${refusal === null ? "" : `: ${refusal.code}, ${refusal.message}`}`,
      ...subject.map(({ name, digest }) => `${name.padEnd(10)} sha256:${digest.sha256}`),
      `approvals  ${approvals.length === 0 ? "none" : approvals.join(", ")}`,
    );
  }
  if (time !== null) lines.push(`recorded   ${new Date(time).toISOString()}`);
  if (head !== null) lines.push(`in         entry ${head.index} of a log of ${head.size}`);
  lines.push(...findingLines(findings));
  return textOf(lines);
}

/** Every finding with its place; its meaning and what to do once for each code. */
function findingLines(findings: readonly Finding[]): readonly string[] {
  const told = new Set<string>();
  return findings.flatMap((finding) => {
    const lines = [
      "",
      `${finding.severity} ${finding.code} ${placeText(finding)}`,
      `  ${finding.message}`,
      ...(finding.count > 1 ? [`  and ${finding.count - 1} more in this range`] : []),
    ];
    if (told.has(finding.code)) return lines;
    told.add(finding.code);
    const { meaning, todo } = FINDING_CODES[finding.code];
    return [...lines, `  ${meaning}`, `  to do: ${todo}`];
  });
}

function total({ codes }: AuditReport): string {
  const count = Object.values(codes).reduce((sum, each) => sum + each, 0);
  return count === 1 ? "1 finding" : `${count} findings`;
}

function countLines({ counts, covered, anchors, trust }: AuditReport): readonly string[] {
  const { runs, receipts, admissions, approvals } = counts;
  const version = trust === null ? "none that counts" : `version ${trust.version}, ${trust.digest}`;
  return [
    `entries      ${counts.entries}, of which signed tree heads cover ${covered}`,
    `tree heads   ${counts.heads}`,
    `trust store  ${version}`,
    `runs         ${runs.started}: ${tally(runs.ended)}${runs.open > 0 ? `, ${runs.open} not ended` : ""}`,
    `admissions   ${tally(admissions)}`,
    `receipts     ${tally(receipts)}`,
    `approvals    ${approvals.requests} requests, ${approvals.approved} approved, ${approvals.rejected} rejected, ${approvals.used} used`,
    `signatures   ${counts.signatures + counts.heads} verified`,
    anchors > 0
      ? `anchored     ${anchors} tree heads from outside fit`
      : "unanchored   no tree head from outside: that the end was cut off could not be seen",
  ];
}

function tally(counts: { readonly [name: string]: number }): string {
  const parts = Object.entries(counts).filter(([, count]) => count > 0);
  return parts.length === 0 ? "none" : parts.map(([name, count]) => `${count} ${name}`).join(", ");
}

/** Where a finding is, like `journal.jsonl 12 to 15, run-1 seq 3 to 6`. */
export function placeText({ file, index, chain, seq }: Finding): string {
  const inFile = index === null ? file : `${file} ${spanText(index)}`;
  if (chain === null) return inFile;
  return seq === null ? `${inFile}, ${chain}` : `${inFile}, ${chain} seq ${spanText(seq)}`;
}

function spanText([from, to]: Span): string {
  return from === to ? String(from) : `${from} to ${to}`;
}
