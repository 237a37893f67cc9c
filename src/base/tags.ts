/**
 * Tags of digests: one for each kind of document, so that a document of one kind never has the digest of another. What a
 * tag once stood for it stands for as long as anything that was signed may be checked: a kind that changes gets a new one.
 */
export const TAGS = {
  action: "rote-action/v1",
  budget: "rote-budget/v1",
  configuration: "rote-configuration/v1",
  conversation: "rote-conversation/v1",
  credentials: "rote-credentials/v1",
  display: "rote-display/v1",
  envelope: "rote-envelope/v1",
  environment: "rote-environment/v1",
  evidence: "rote-evidence/v1",
  inputs: "rote-inputs/v1",
  intent: "rote-intent/v1",
  key: "rote-key/v1",
  marker: "rote-marker/v1",
  observation: "rote-observation/v1",
  offered: "rote-offered/v1",
  operation: "rote-operation/v1",
  plan: "rote-plan/v1",
  policy: "rote-policy/v1",
  prompt: "rote-prompt/v1",
  request: "rote-request/v1",
  result: "rote-result/v1",
  start: "rote-start/v1",
  tool: "rote-tool/v1",
  toolImplementation: "rote-tool-implementation/v1",
  tools: "rote-tools/v1",
  turn: "rote-turn/v1",
  value: "rote-value/v1",
  verifier: "rote-verifier/v1",
} as const;
