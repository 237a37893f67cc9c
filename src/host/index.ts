export {
  type DecidingParts,
  decisionsOn,
  fileDecision,
  isUndecided,
  type Verdict,
  verdictOn,
} from "./decisions.ts";
export { CANCELLED, within } from "./dispatch.ts";
export { keepDocuments } from "./documents.ts";
export { environmentFor } from "./environment.ts";
export { type Host, hostOf, partsOf, toolsOf } from "./host.ts";
export {
  definitionOf,
  type GateRequest,
  type Judgement,
  judge,
  overLimit,
  type Refusal,
  refusalOf,
} from "./judge.ts";
export { changeBetween, type FrozenOperation } from "./operation.ts";
export {
  type HostParts,
  type Identity,
  type Intent,
  type RegisteredTool,
  TRUST_COUNTER,
} from "./parts.ts";
export {
  admit,
  fileRefusal,
  leaseLost,
  perform,
  type UsedApproval,
} from "./perform.ts";
export { type ReceiptParts, type ReceiptsRead, receiptIn, receiptsIn } from "./receipt.ts";
export { operationOf, recover } from "./recover.ts";
export {
  isUsed,
  MOST_SHOWN,
  type OpenRequest,
  openAmong,
  openRequest,
  openRequestsIn,
  type Replaced,
  requestsIn,
} from "./request.ts";
export { escaped, renderOperations } from "./show.ts";
export { type Body, type Kept, keep, kept, storedJson } from "./stored.ts";
export { judgedNow } from "./time.ts";
export { bounded } from "./words.ts";
