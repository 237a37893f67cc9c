export { differingParts, environmentFor } from "./environment.ts";
export { type Host, hostOf, partsOf, toolsOf } from "./host.ts";
export { type GateRequest, type Judgement, judge, overLimit, type Refusal } from "./judge.ts";
export { changeBetween, type FrozenOperation, placeOf } from "./operation.ts";
export type { HostParts, Identity, Intent, Pinned, RegisteredTool } from "./parts.ts";
export { admit, fileRefusal, type Performed, perform, type UsedApproval } from "./perform.ts";
export { reconcile } from "./reconcile.ts";
export { operationOf, recover, withoutReceipt } from "./recover.ts";
export {
  claimedNonce,
  decisionsOn,
  fileDecision,
  type OpenRequest,
  openRequest,
  refusedApproval,
  requestFrom,
} from "./request.ts";
export { escaped, renderOperations } from "./show.ts";
