export { drive } from "./drive.ts";
export { agentEntries, agentEvents, startOf } from "./entries.ts";
export { nextOf } from "./next.ts";
export { RECALL_K, recalledFor } from "./recalled.ts";
export { type AgentReport, reportOf } from "./report.ts";
export { resumeAgent, stateIn } from "./resume.ts";
export { finish, type Progress, type ProgressMarker, type Session } from "./session.ts";
export { type AgentOptions, startAgent } from "./start.ts";
export type { AgentState } from "./state.ts";
