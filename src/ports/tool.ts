import type { JsonValue } from "../base/json.ts";

/**
 * A tool as the host sees it: a complete definition that a reviewer judged by digest, and one way to call it.
 *
 * Whether it reads or has effects is not said here: that comes from the signed review alone.
 */
export interface Tool {
  readonly definition: ToolDefinition;
  /** Why arguments do not fit its schema; null when they do. Pure: asked before anything is admitted. */
  fault?(args: JsonValue): string | null;
  /**
   * Called only by the gate, after its admission is durable, with a value parsed back from the frozen bytes.
   *
   * Resolves to `done`, or `not_applied` when the tool knows that nothing happened at the target. Anything else, an
   * exception and a time-out among them, leaves open whether it happened.
   */
  call(call: ToolCall): Promise<ToolOutcome>;
  /** Asks the target what became of an operation id; only where the target can tell. */
  probe?(call: ToolCall): Promise<ProbeOutcome>;
}

export interface ToolCall {
  readonly arguments: JsonValue;
  /** The operation's digest: the idempotency key for targets that take one. */
  readonly operationId: string;
  readonly signal: AbortSignal;
}

export type ToolDefinition = {
  /** Where it comes from: `function`, `file`, `workpaper`, `http`, or the server of an MCP tool. */
  readonly server: string;
  readonly name: string;
  readonly title: string | null;
  readonly description: string;
  readonly input_schema: JsonValue;
  readonly output_schema: JsonValue;
  readonly annotations: JsonValue;
  /** Digest of what is behind it, for local tools that can tell; else null. */
  readonly implementation: string | null;
};

export type ToolOutcome =
  | { readonly kind: "done"; readonly result: JsonValue }
  /** A domain refusal by the target (a read may permit it through `absent_on`); nothing was changed. */
  | { readonly kind: "refused"; readonly code: string; readonly message: string }
  /**
   * Nothing was sent, or nothing of it took effect. Final, for a repeatable read too: what may go better at once a tool
   * throws. A code that the gate itself gives (`timeout`, say) gets `tool_` before it.
   */
  | { readonly kind: "not_applied"; readonly code: string; readonly message: string };

export type ProbeOutcome =
  | { readonly kind: "done"; readonly result: JsonValue }
  | { readonly kind: "absent" }
  | { readonly kind: "unknown" };
