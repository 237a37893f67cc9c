/** What an audit answers: the same for machines and, through `formatAudit`, for people. */
import type { Counts } from "./counts.ts";
import type { Finding } from "./finding.ts";
import type { FindingCode } from "./finding-codes.ts";

export interface AuditReport {
  readonly type: "rote-audit/v1";
  /** True when there is no finding at all. */
  readonly clean: boolean;
  /** The journal that was audited, by the auditor's trust store. */
  readonly origin: string;
  /** The version of the trust store in force at the end, when the auditor vouches for it. */
  readonly trust: { readonly version: number; readonly digest: string } | null;
  readonly counts: Counts;
  /** Entries that a valid tree head covers. */
  readonly covered: number;
  /** Tree heads from outside that fit; 0 says that nothing outside of the bundle tells where the record ends. */
  readonly anchors: number;
  readonly findings: readonly Finding[];
  /** Findings that the list has no room for. */
  readonly omitted: number;
  /** Number of findings by code, all of them. */
  readonly codes: { readonly [code in FindingCode]?: number };
}
