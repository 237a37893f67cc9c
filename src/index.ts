/**
 * The public face of Rote. Everything here is named on purpose; importing it loads no native module (procedure memory
 * loads its database when a memory is first opened).
 */
export type {
  AgentTrace,
  Progress,
  ProgressMarker,
  ReplayChange,
  TracedCall,
  TracedEvent,
  Transcript,
} from "./agent/index.ts";
export { scriptedAgent } from "./app/agent-model.ts";
export {
  type AgentReplay,
  type AgentResult,
  AgentRuntime,
  type AgentRuntimeOptions,
  type ContinueAgent,
  type RunAgent,
} from "./app/agent-runtime.ts";
export {
  type Answering,
  advanceAnswering,
  type LanguageModel,
  scriptedModel,
} from "./app/answering.ts";
export { createHost, type HostOptions, type ToolRegistration } from "./app/create-host.ts";
export { generateKey, loadKey } from "./app/key-file.ts";
export { Procedure, type ProcedureOptions, type ProcedureStart } from "./app/procedure.ts";
export {
  type Asking,
  type HostSignal,
  type MemoryOptions,
  type Observing,
  ProcedureMemory,
} from "./app/procedure-memory.ts";
export { type Deciding, openReview, type Review, type ReviewOptions } from "./app/review.ts";
export type { FiledDecision, RequestStatus, ReviewRequest } from "./app/review-request.ts";
export type { Totals } from "./app/totals.ts";
export type { Digest } from "./base/digest.ts";
export { RoteError } from "./base/error.ts";
export type { JsonValue } from "./base/json.ts";
export type { Result } from "./base/result.ts";
export {
  bindRecipe,
  type CompileOptions,
  compileRecipe as compile,
  compileVerifier,
  EMPTY_ENVIRONMENT,
  type FormatOptions,
  formatDiagnostics,
  toDot,
  toMermaid,
} from "./compile/index.ts";
export { type Expression, expressions, type TypeSource } from "./expression/index.ts";
export type { Host, OpenRequest } from "./host/index.ts";
export type { QualifiedProcedure, QualifiedStart } from "./memory/index.ts";
export { type AgentLimits, DEFAULT_AGENT_LIMITS, type Stopping } from "./model/agent.ts";
export type { AgentStateName } from "./model/agent-states.ts";
export {
  type ChatCall,
  type ChatMessage,
  type ChatReply,
  type ChatUsage,
  PROVIDER_FAULTS,
  type ProviderFault,
  UNKNOWN_CHAT_USAGE,
} from "./model/chat.ts";
export { ERROR_CODES, type ErrorCode } from "./model/codes.ts";
export { DIAGNOSTIC_CODES, type Diagnostic, type DiagnosticCode } from "./model/diagnostic.ts";
export type { Environment } from "./model/environment.ts";
export {
  LEAST_REQUIREMENT,
  type ObservationReport,
  PHASES,
  type Phase,
  type ProcedureStatus,
  type Requirement,
} from "./model/memory.ts";
export { type Plan, type RunLimits, SEMANTICS_VERSION, type Verifier } from "./model/plan.ts";
export type { Budget, PolicyDocument } from "./model/policy.ts";
export type {
  ModelAnswer,
  ModelIdentity,
  ModelUsage,
  NodeTrace,
  PendingModel,
  RunFailure,
  RunMode,
  RunReport,
} from "./model/run.ts";
export {
  type RunStateName,
  STOP_REASONS,
  type StopReason,
  stateOf,
  TERMINAL_STATES,
  type TerminalState,
  WAITING_STATES,
  type WaitingState,
} from "./model/stop.ts";
export {
  type ChatModel,
  type ChatRequest,
  type ChatTool,
  providerError,
} from "./ports/chat-model.ts";
export type { Clock } from "./ports/clock.ts";
export type { RunSummary } from "./ports/journal.ts";
export type { Random } from "./ports/random.ts";
export type { Recall } from "./ports/recall.ts";
export type { OperationSecurity } from "./ports/security.ts";
export type { Tool, ToolCall, ToolOutcome } from "./ports/tool.ts";
export type { Advance, DurableAdvance, Models, PendingRequest, Run } from "./run/index.ts";
