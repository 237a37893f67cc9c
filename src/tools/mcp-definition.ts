/**
 * What an MCP server says of a tool, as a definition that a reviewer can sign: everything it says, since any of it may
 * be what a model or a person relied on. Its hints are kept as data; nothing here or later acts on them.
 */
import type { Tool as ListedTool } from "@modelcontextprotocol/client";
import { canonicalText } from "../base/canonical.ts";
import { deepFreeze } from "../base/freeze.ts";
import { admitJson } from "../base/json.ts";
import { TOOL_PATTERN } from "../model/names.ts";
import type { ToolDefinition } from "../ports/tool.ts";

/** What the host decides about a server's tool; it is part of the definition, so a reviewer signs it. */
export interface McpReading {
  /** How an answer becomes a result; `structured` wherever the tool declares a schema for it. */
  readonly result: McpResultType | "structured";
  /** Whether a result that the server marks as error means that nothing was changed. */
  readonly error_results: "refused" | "unknown";
}

/**
 * `text/plain`: one block of text, as it is. `application/json`: one block of text, read strictly. `blocks`: the list of
 * content blocks.
 */
export type McpResultType = "text/plain" | "application/json" | "blocks";

export interface Listed {
  readonly definition: ToolDefinition;
  /** As the client wants it back for a call. */
  readonly wire: ListedTool;
  readonly canonical: string;
}

const LIMITS = { numbers: "finite", maxBytes: 1024 * 1024 } as const;

/** How the host calls a server's tool: two servers may have tools of one name. */
export function hostName(id: string, name: string): string {
  return `${id}.${name}`;
}

/** The tool as listed; undefined when it cannot be named, or what the server sent has no canonical form. */
export function listed(
  id: string,
  server: string,
  implementation: string,
  wire: ListedTool,
  reading: (structured: boolean) => McpReading,
): Listed | undefined {
  const { name, title, description, inputSchema, outputSchema, ...rest } = wire;
  const { result, error_results } = reading(outputSchema !== undefined);
  const said = admitJson(withoutUndefined({ ...rest }), LIMITS);
  const input = admitJson(inputSchema, LIMITS);
  const output = admitJson(outputSchema ?? null, LIMITS);
  const named = TOOL_PATTERN.test(hostName(id, name));
  if (!named || !said.ok || !input.ok || !output.ok) return undefined;
  const definition: ToolDefinition = {
    server,
    name: hostName(id, name),
    title: title ?? null,
    description: description ?? "",
    input_schema: input.value,
    output_schema: output.value,
    annotations: { from_server: said.value, result, error_results },
    implementation,
  };
  return frozen(definition, wire);
}

/** A tool that its server lists no more: no arguments fit it, and no review covers it. */
export function goneDefinition(pinned: ToolDefinition): ToolDefinition {
  return Object.freeze({ ...pinned, input_schema: false, output_schema: false });
}

function frozen(definition: ToolDefinition, wire: ListedTool): Listed | undefined {
  const { input_schema, output_schema, annotations } = definition;
  for (const part of [input_schema, output_schema, annotations]) deepFreeze(part);
  try {
    const canonical = canonicalText({ ...definition });
    return { definition: Object.freeze(definition), wire, canonical };
  } catch {
    return undefined;
  }
}

/** The client writes members that the server left out as undefined. */
function withoutUndefined(members: { readonly [key: string]: unknown }): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
