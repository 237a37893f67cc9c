export type { EnvelopeFault } from "../base/dsse.ts";
export type {
  Approval,
  Constraint,
  Role,
  ToolReview,
  TrustDocument,
  TrustedKey,
  Warrant,
} from "../model/trust.ts";
export {
  type ApprovalFault,
  type ApprovalRequest,
  type CheckedApproval,
  checkApproval,
  signApproval,
} from "./approval.ts";
export {
  type DocumentFault,
  envelopeDigest,
  openDocumentByOne,
  type SignedDocument,
  signDocument,
} from "./signed-document.ts";
export {
  type CheckedReview,
  checkToolReview,
  definitionDigest,
  signToolReview,
  type ToolReviewFault,
} from "./tool-review.ts";
export {
  type KeyFault,
  openTrust,
  signTrust,
  type TrustFault,
  type TrustStore,
} from "./trust-store.ts";
export {
  type CheckedWarrant,
  checkWarrant,
  signWarrant,
  type WarrantFault,
  type WarrantRefusal,
} from "./warrant.ts";
