/** Ways to call a tool as the gate does, and a local target that counts what reached it. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type JsonValue, readJson } from "../../src/base/json.ts";
import type { Tool, ToolCall, ToolOutcome } from "../../src/ports/tool.ts";

export const OPERATION = `sha256:${"ab".repeat(32)}`;

/** Arguments as the gate hands them over: parsed back from bytes, without prototypes. */
export function json(text: string): JsonValue {
  const read = readJson(text, { numbers: "finite" });
  if (!read.ok) throw new TypeError(read.error.message);
  return read.value;
}

export function callOf(args: unknown, change: Partial<ToolCall> = {}): ToolCall {
  return {
    arguments: json(JSON.stringify(args)),
    operationId: OPERATION,
    signal: new AbortController().signal,
    ...change,
  };
}

/** The outcome; for a break-down `threw` and its code. */
export async function outcome(
  tool: Tool,
  args: unknown,
  change: Partial<ToolCall> = {},
): Promise<ToolOutcome | { readonly threw: string; readonly message: string }> {
  try {
    return await tool.call(callOf(args, change));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { threw: "code" in error ? String(error.code) : error.name, message: error.message };
  }
}

/** Only what is to be compared: the kind with the code or the result. */
export async function short(
  tool: Tool,
  args: unknown,
  change: Partial<ToolCall> = {},
): Promise<unknown> {
  const got = await outcome(tool, args, change);
  if ("threw" in got) return `threw ${got.threw}`;
  return got.kind === "done" ? got.result : `${got.kind} ${got.code}`;
}

export function aborted(): AbortSignal {
  const controller = new AbortController();
  controller.abort();
  return controller.signal;
}

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface LocalTarget {
  readonly origin: string;
  /** Requests whose body arrived whole. */
  readonly received: Received[];
  close(): Promise<void>;
}

/** A real HTTP server on loopback. `answer` runs after the request was counted, as a target that applied it. */
export async function localTarget(
  answer: (request: Received, response: ServerResponse, socket: Socket) => void,
  host = "127.0.0.1",
): Promise<LocalTarget> {
  const received: Received[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const got = {
        method: request.method ?? "",
        url: request.url ?? "",
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      received.push(got);
      answer(got, response, request.socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
