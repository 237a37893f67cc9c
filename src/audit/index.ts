/** Judging a host's record by somebody who was not there. */
export { type AuditOptions, auditBundle } from "./audit.ts";
export type { Statement } from "./bodies.ts";
export type { Counts, Tally } from "./counts.ts";
export type { Severity } from "./explained.ts";
export { type Exported, exportBundle } from "./export.ts";
export type { Finding, Place, Span } from "./finding.ts";
export { FINDING_CODES, type FindingCode } from "./finding-codes.ts";
export { formatAudit, formatReceipt } from "./format.ts";
export { readOutsideHeads } from "./heads.ts";
export { sourceOf } from "./journal-source.ts";
export {
  exportReceipt,
  type ReceiptFile,
  type ReceiptOptions,
  type ReceiptReport,
  verifyReceipt,
} from "./receipt-file.ts";
export { type ListedReceipt, receiptsIn } from "./receipt-list.ts";
export type { AuditReport } from "./report.ts";
