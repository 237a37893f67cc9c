/**
 * The public face of Rote. Everything here is named on purpose; importing it loads no native module (procedure memory
 * loads its database when a memory is first opened).
 */
export {
  type Answering,
  advanceAnswering,
  type LanguageModel,
  type ScriptProblem,
  scriptedModel,
} from "./app/answering.ts";
export { createHost, type HostOptions, type ToolRegistration } from "./app/create-host.ts";
export { type GenerateOptions, generateKey, loadKey } from "./app/key-file.ts";
export { Procedure, type ProcedureOptions, type ProcedureStart } from "./app/procedure.ts";
export {
  type Asking,
  type HostSignal,
  type MemoryOptions,
  type Observing,
  ProcedureMemory,
} from "./app/procedure-memory.ts";
export { type Deciding, openReview, type Review, type ReviewOptions } from "./app/review.ts";
export type {
  Decision,
  FiledDecision,
  RequestStatus,
  ReviewRequest,
} from "./app/review-request.ts";
export type { CurrencyTotal, Totals } from "./app/totals.ts";
export type { Digest } from "./base/digest.ts";
export { RoteError } from "./base/error.ts";
export type { JsonValue } from "./base/json.ts";
export type { JsonObject } from "./base/json-value.ts";
export type { Result } from "./base/result.ts";
export type { KeyId, PrivateKey, PublicKey } from "./base/sign.ts";
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
export type { DocumentLimits } from "./compile/source.ts";
export {
  type EvaluationLimits,
  type Expression,
  expressions,
  type TypeSource,
} from "./expression/index.ts";
export type { FrozenOperation, Host, OpenRequest, Replaced } from "./host/index.ts";
export type {
  LookUp,
  PlanAndVerifier,
  QualifiedProcedure,
  QualifiedStart,
  SignalReport,
  Wanted,
} from "./memory/index.ts";
export { ERROR_CODES, type ErrorCode } from "./model/codes.ts";
export { DIAGNOSTIC_CODES, type Diagnostic, type DiagnosticCode } from "./model/diagnostic.ts";
export type { Environment } from "./model/environment.ts";
export type { EntryType } from "./model/journal.ts";
export {
  type Demotion,
  type DemotionCause,
  type Forgotten,
  type KeyPart,
  LEAST_REQUIREMENT,
  type MemoryLimits,
  type Mismatch,
  type ObservationReport,
  PHASES,
  type Phase,
  type PhaseStatus,
  type ProcedureKey,
  type ProcedureStatus,
  type ProcedureSummary,
  type Requirement,
  type SignalCounts,
  type Verdict,
  type VoidEvidence,
} from "./model/memory.ts";
export type { GateCode, Operation, Outcome } from "./model/operation.ts";
export {
  type Plan,
  type PlanEach,
  type PlanInput,
  type PlanNode,
  type PlanStep,
  type RunLimits,
  SEMANTICS_VERSION,
  type Verifier,
} from "./model/plan.ts";
export type { Budget, PolicyDocument } from "./model/policy.ts";
export type {
  LearnedAnswer,
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
export type { Reconciliation, ToolCategory } from "./model/trust.ts";
export type { Type } from "./model/type.ts";
export type { CompiledExpression, RecordValue, Sources, Value } from "./model/value.ts";
export type { Clock } from "./ports/clock.ts";
export type { RunSummary } from "./ports/journal.ts";
export type { ModelReply } from "./ports/language-model.ts";
export type { Random } from "./ports/random.ts";
export type { OperationSecurity, SecurityDecision } from "./ports/security.ts";
export type {
  ProbeOutcome,
  Tool,
  ToolCall,
  ToolDefinition,
  ToolOutcome,
} from "./ports/tool.ts";
export type { Advance, DurableAdvance, Models, PendingRequest, Run } from "./run/index.ts";
