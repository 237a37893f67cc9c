/** Agents, as the package offers them: an entry point of its own, which nothing that runs a recipe loads. */
export type {
  AgentEventType,
  AgentReport,
  AgentTrace,
  Progress,
  ProgressMarker,
  ReplayChange,
  Spent,
  TracedCall,
  TracedEvent,
  Transcript,
  TranscriptCall,
} from "../agent/index.ts";
export {
  type AgentLimits,
  type AgentTool,
  DEFAULT_AGENT_LIMITS,
  type Stopping,
} from "../model/agent.ts";
export {
  AGENT_STATES,
  AGENT_TERMINAL_STATES,
  type AgentStateName,
  type AgentTerminalState,
  type AgentWaitingState,
  agentStateOf,
} from "../model/agent-states.ts";
export {
  type ChatCall,
  type ChatMessage,
  type ChatReply,
  type ChatStop,
  type ChatUsage,
  PROVIDER_FAULTS,
  type ProviderFault,
  UNKNOWN_CHAT_USAGE,
} from "../model/chat.ts";
export {
  type ChatModel,
  type ChatRequest,
  type ChatTool,
  type ProviderErrorFacts,
  providerError,
} from "../ports/chat-model.ts";
export type { Recall } from "../ports/recall.ts";
export { scriptedAgent } from "./agent-model.ts";
export {
  type AgentOptions,
  type AgentReplay,
  type AgentResult,
  AgentRuntime,
  type AgentRuntimeOptions,
  type ContinueAgent,
  type RunAgent,
} from "./agent-runtime.ts";
