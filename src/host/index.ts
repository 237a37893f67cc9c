export {
  type DecidingParts,
  decisionsOn,
  fileDecision,
  isUndecided,
} from "./decisions.ts";
export { CANCELLED } from "./dispatch.ts";
export { keepDocuments } from "./documents.ts";
export { differingParts, environmentFor } from "./environment.ts";
export { type Host, hostOf, partsOf, toolsOf } from "./host.ts";
export { type GateRequest, type Judgement, judge, limitCode, type Refusal } from "./judge.ts";
export { changeBetween, type FrozenOperation, placeOf } from "./operation.ts";
export {
  type HostParts,
  type Identity,
  type Intent,
  type Pinned,
  type RegisteredTool,
  TRUST_COUNTER,
} from "./parts.ts";
export {
  admit,
  fileRefusal,
  leaseLost,
  type Performed,
  perform,
  type UsedApproval,
} from "./perform.ts";
export { type ReceiptSays, receiptIn } from "./receipt.ts";
export { reconcile } from "./reconcile.ts";
export { operationOf, recover, withoutReceipt } from "./recover.ts";
export {
  MOST_SHOWN,
  type OpenRequest,
  openRequest,
  openRequestsIn,
  type Replaced,
  requestsIn,
} from "./request.ts";
export { escaped, renderOperations } from "./show.ts";
export { type Body, type Kept, keep, kept } from "./stored.ts";
