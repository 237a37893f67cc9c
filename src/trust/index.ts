export {
  type ApprovalFault,
  type ApprovalRequest,
  type CheckedApproval,
  checkApproval,
  signApproval,
} from "./approval.ts";
export { envelopeDigest, openDocumentByOne, signDocument } from "./signed-document.ts";
export { checkToolReview, definitionDigest, signToolReview } from "./tool-review.ts";
export { openTrust, signTrust, type TrustStore } from "./trust-store.ts";
export { checkWarrant, signWarrant } from "./warrant.ts";
