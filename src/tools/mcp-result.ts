/** From the answer of an MCP server to an outcome. What fits no declared form leaves open what happened. */
import type { CallToolResult } from "@modelcontextprotocol/client";
import { admitJson, type JsonValue, readJson } from "../base/json.ts";
import type { ToolOutcome } from "../ports/tool.ts";
import type { McpReading } from "./mcp-definition.ts";
import { broke, done, refused } from "./outcome.ts";

/** @throws ToolBroke `tool_error` `result_malformed` */
export function outcomeOf(
  { result, error_results }: McpReading,
  answer: CallToolResult,
  hide: (value: JsonValue) => JsonValue,
): ToolOutcome {
  if (answer.isError === true) {
    const message = `the server reports: ${String(hide(textOf(answer) ?? "an error"))}`;
    if (error_results === "refused") return refused("tool_error", message);
    throw broke("tool_error", message);
  }
  switch (result) {
    case "structured":
      return done(hide(admitted(answer.structuredContent)));
    case "blocks":
      return done(hide(admitted(answer.content)));
    case "text/plain":
      return done(hide(onlyText(answer)));
    case "application/json": {
      const read = readJson(onlyText(answer), { numbers: "finite" });
      if (read.ok) return done(hide(read.value));
      throw broke("result_malformed", `the result is not strict JSON (${read.error.code})`);
    }
  }
}

function onlyText(answer: CallToolResult): string {
  const text = textOf(answer);
  if (text !== undefined) return text;
  throw broke("result_malformed", "the result is not one block of text");
}

function textOf({ content }: CallToolResult): string | undefined {
  const [block] = content;
  return content.length === 1 && block?.type === "text" ? block.text : undefined;
}

/**
 * The client has parsed this part already, and not strictly. An integer beyond the safe range may have been rounded on
 * the way, so none is taken.
 */
function admitted(value: unknown): JsonValue {
  const copy = admitJson(value, { numbers: "finite" });
  if (!copy.ok) throw broke("result_malformed", `the result is not JSON (${copy.error.code})`);
  if (hasUnsafeInteger(copy.value)) {
    throw broke("result_malformed", "the result has an integer that may have been rounded");
  }
  return copy.value;
}

function hasUnsafeInteger(value: JsonValue): boolean {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value);
  if (value === null || typeof value !== "object") return false;
  return Object.values(value).some(hasUnsafeInteger);
}
