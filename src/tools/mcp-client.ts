/**
 * Tools of an MCP server, with pinned definitions.
 *
 * - M3 A tool is what it was when the host connected. When the server says something else of it, the gate sees another
 *   definition than the reviewed one, and a call that was already admitted is not sent.
 * - M4 A server's hints decide nothing. Whether a tool reads or has effects, and whether its error results mean that
 *   nothing was changed, is said by the host and signed by a reviewer.
 */
import type { JsonSchemaType } from "@modelcontextprotocol/client";
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import type { Tool, ToolCall, ToolOutcome } from "../ports/tool.ts";
import type { Secrets } from "./credentials.ts";
import { NotSent } from "./http-connect.ts";
import {
  goneDefinition,
  hostName,
  type Listed,
  type McpReading,
  type McpResultType,
} from "./mcp-definition.ts";
import { outcomeOf } from "./mcp-result.ts";
import { type Session, sessionOf, type Used } from "./mcp-session.ts";
import { loadClient, type McpServer, type Packages, type Way, wayTo } from "./mcp-transport.ts";
import {
  badArguments,
  bounded,
  broke,
  CANCELLED,
  nameOf,
  nothingDone,
  ToolBroke,
} from "./outcome.ts";

export type { McpResultType } from "./mcp-definition.ts";
export type { McpEndpoint, McpProcess, McpServer } from "./mcp-transport.ts";

export interface McpOptions {
  /** How the host calls the server: `ledger` makes its tool `post` the host's `ledger.post`. */
  readonly id: string;
  readonly server: McpServer;
  /** Values of the credentials that the server names. */
  readonly secrets?: Secrets;
  /** Tools to offer, by the server's names. Default: all that the server lists. */
  readonly tools?: readonly string[];
  /** How answers of a tool without output schema are read. Default `text/plain`. */
  readonly results?: Readonly<Record<string, McpResultType>>;
  /**
   * Tools whose error results mean that nothing was changed, as for every tool that only reads: the target's no, which
   * a recipe may take for absence as `tool_error`. Default none, since an error may come after the effect: an error
   * result (`isError`) of any other tool leaves an effect uncertain, and breaks a read.
   */
  readonly refusing?: readonly string[];
  /** `auto` asks for the 2026 protocol first, which starts a process twice. Default: `legacy` for processes, else `auto`. */
  readonly protocol?: "auto" | "legacy";
  /** Milliseconds for connecting, listing and each call. Default 30,000. */
  readonly timeoutMs?: number;
}

export interface McpTools {
  /** By the host's names. */
  readonly tools: ReadonlyMap<string, Tool>;
  /** Reads the server's list again. */
  refresh(this: void): Promise<void>;
  /** Ends the connection, and the process with it. */
  close(this: void): Promise<void>;
}

/** @throws RoteError `package_missing` `tool_server_unavailable` `bad_tool` */
export async function mcpTools({ secrets, ...declared }: McpOptions): Promise<McpTools> {
  // What a reviewer signs is what was declared now.
  const options = { ...structuredClone(declared), ...(secrets === undefined ? {} : { secrets }) };
  const packages = await loadClient();
  const way = wayTo(packages, options.id, options.server, secrets ?? (() => undefined));
  const timeoutMs = options.timeoutMs ?? 30_000;
  const session = sessionOf(packages, way, {
    id: options.id,
    protocol: options.protocol ?? ("command" in options.server ? "legacy" : "auto"),
    timeoutMs,
    reading: (name, structured) => readingOf(options, name, structured),
  });
  const refresh = async () => {
    const used = await session.current(new AbortController().signal);
    used.release();
  };
  try {
    await refresh();
    const tools = new Map<string, Tool>();
    for (const name of options.tools ?? session.live().keys()) {
      const pinned = session.live().get(name);
      if (pinned === undefined) throw bad(options.id, `the server does not offer ${name}`);
      tools.set(
        hostName(options.id, name),
        toolOf({ packages, session, way, pinned, timeoutMs, options }),
      );
    }
    return { tools, refresh, close: session.close };
  } catch (error) {
    await session.close();
    if (error instanceof RoteError) throw error;
    throw new RoteError(
      "tool_server_unavailable",
      `the MCP server ${bounded(options.id)} is not available (${nameOf(error)})`,
      { server: options.id },
      error,
    );
  }
}

interface Parts {
  readonly packages: Packages;
  readonly session: Session;
  readonly way: Way;
  readonly pinned: Listed;
  readonly timeoutMs: number;
  readonly options: McpOptions;
}

function toolOf(parts: Parts): Tool {
  const { pinned, session } = parts;
  const gone = goneDefinition(pinned.definition);
  const check = checkOf(parts);
  return {
    get definition() {
      return session.live().get(pinned.wire.name)?.definition ?? gone;
    },
    fault: check,
    async call(call) {
      const wrong = check(call.arguments);
      return wrong === null ? send(parts, call) : badArguments(wrong);
    },
  };
}

async function send(parts: Parts, call: ToolCall): Promise<ToolOutcome> {
  const { session, way } = parts;
  if (call.signal.aborted) return CANCELLED;
  let used: Used;
  let hide: (value: JsonValue) => JsonValue;
  try {
    hide = way.hiding();
    used = await session.current(call.signal);
  } catch (error) {
    if (call.signal.aborted) return CANCELLED;
    return nothingDone("server_unreachable", `the server is not available (${nameOf(error)})`);
  }
  try {
    return await sendOver(parts, used, hide, call);
  } finally {
    used.release();
  }
}

async function sendOver(
  { pinned, session, timeoutMs, options }: Parts,
  { client }: Used,
  hide: (value: JsonValue) => JsonValue,
  { arguments: args, signal }: ToolCall,
): Promise<ToolOutcome> {
  const { name, outputSchema } = pinned.wire;
  if (session.live().get(name)?.canonical !== pinned.canonical) {
    return nothingDone("definition_changed", `the server says something else of ${name} now`);
  }
  if (signal.aborted) return CANCELLED;
  try {
    const answer = await client.callTool(
      { name, arguments: args as Record<string, unknown> },
      // With the definition at hand the client has no reason to list and send again by itself.
      { toolDefinition: pinned.wire, signal, timeout: timeoutMs },
    );
    return outcomeOf(readingOf(options, name, outputSchema !== undefined), answer, hide);
  } catch (error) {
    if (error instanceof NotSent) return nothingDone(error.code, error.message);
    if (error instanceof ToolBroke) throw error;
    throw broke("tool_call_failed", `the call of ${name} broke (${nameOf(error)})`, error);
  }
}

function readingOf(options: McpOptions, name: string, structured: boolean): McpReading {
  const { results = {}, refusing = [] } = options;
  const declared = Object.hasOwn(results, name) ? results[name] : undefined;
  return {
    result: structured ? "structured" : (declared ?? "text/plain"),
    error_results: refusing.includes(name) ? "refused" : "unknown",
  };
}

/** The check of arguments against the pinned schema. A schema that cannot be compiled has no tool. */
function checkOf({ packages, pinned, options }: Parts): (args: JsonValue) => string | null {
  const { name, inputSchema, outputSchema } = pinned.wire;
  try {
    const engine = new packages.validators.AjvJsonSchemaValidator();
    const fits = engine.getValidator(inputSchema as JsonSchemaType);
    if (outputSchema !== undefined) engine.getValidator(outputSchema as JsonSchemaType);
    return (args) => {
      if (args === null || typeof args !== "object" || Array.isArray(args)) return "not an object";
      const verdict = fits(args);
      return verdict.valid ? null : bounded(verdict.errorMessage);
    };
  } catch (error) {
    throw bad(options.id, `a schema of ${name} cannot be used (${nameOf(error)})`);
  }
}

function bad(id: string, what: string): RoteError {
  return new RoteError("bad_tool", bounded(`${id}: ${what}`), { server: id });
}
