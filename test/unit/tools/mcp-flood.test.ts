import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { type McpTools, mcpTools } from "../../../src/tools/mcp-client.ts";

interface Message {
  readonly id?: number;
  readonly method?: string;
}

/** A server that says only what a test wants it to. */
interface Hostile {
  readonly url: string;
  /** The stream that the client opened for notifications. */
  stream(): ServerResponse | undefined;
  /** Requests for the list of tools so far. */
  lists: number;
  /** While set, a list is answered by `answerHeld` only. */
  holding: boolean;
  answerHeld(): void;
  pongs: number;
}

const open: Server[] = [];
const connected: McpTools[] = [];

afterEach(async () => {
  for (const tools of connected.splice(0)) await tools.close();
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function hostile(): Promise<Hostile> {
  let stream: ServerResponse | undefined;
  const held: (() => void)[] = [];
  const server = createServer((request, response) => {
    if (request.method === "GET") {
      stream = response;
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      return;
    }
    void answer(request, response);
  });
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { id, method } = JSON.parse(Buffer.concat(chunks).toString("utf8") || "{}") as Message;
    if (method === undefined) said.pongs += 1;
    const result = (value: JsonValue) => {
      response.writeHead(200, { "content-type": "application/json", "mcp-session-id": "s" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id: id ?? null, result: value }));
    };
    if (method === "initialize") {
      result({
        protocolVersion: "2025-06-18",
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: "hostile", version: "1" },
      });
    } else if (method === "tools/list") {
      said.lists += 1;
      const list = () => result({ tools: [{ name: "post", inputSchema: { type: "object" } }] });
      if (said.holding) held.push(list);
      else list();
    } else response.writeHead(202).end();
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push(server);
  const said: Hostile = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    stream: () => stream,
    lists: 0,
    holding: false,
    answerHeld: () => {
      for (const list of held.splice(0)) list();
    },
    pongs: 0,
  };
  return said;
}

async function streamOf(server: Hostile, maxResponseBytes?: number): Promise<ServerResponse> {
  const limit = maxResponseBytes === undefined ? {} : { maxResponseBytes };
  const tools = await mcpTools({
    id: "books",
    protocol: "legacy",
    server: { url: server.url, privateAddresses: true, ...limit },
  });
  connected.push(tools);
  return vi.waitFor(() => {
    const stream = server.stream();
    if (stream === undefined) throw new Error("no stream yet");
    return stream;
  });
}

const event = (message: JsonValue) => `data: ${JSON.stringify(message)}\n\n`;
const CHANGED = event({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });

describe("a server that talks without being asked", () => {
  it("is cut off once one of its messages is larger than an answer may be", async () => {
    const stream = await streamOf(await hostile(), 1_000_000);
    let ended = false;
    stream.on("close", () => {
      ended = true;
    });
    // Lines of one event: none of them is long, and no blank line ends it.
    const line = `data: ${"a".repeat(1_000)}\r\n`.repeat(64);
    let sent = 0;
    while (!ended && sent < 64_000_000) {
      sent += line.length;
      if (!stream.write(line)) {
        await Promise.race([
          new Promise((resolve) => stream.once("drain", resolve)),
          new Promise((resolve) => stream.once("close", resolve)),
        ]);
      }
    }
    expect(sent).toBeLessThan(64_000_000);
  });

  it("may say as much as it likes in messages that are not", async () => {
    const server = await hostile();
    const stream = await streamOf(server, 10_000);
    const log = {
      jsonrpc: "2.0",
      method: "notifications/message",
      params: { data: "a".repeat(500) },
    };
    stream.write(event(log).repeat(100));
    stream.write(event({ jsonrpc: "2.0", id: 1, method: "ping" }));
    await vi.waitFor(() => expect(server.pongs).toBe(1));
  });

  it("is asked for its tools one time after the other, however often it says that they changed", async () => {
    const server = await hostile();
    const stream = await streamOf(server);
    expect(server.lists).toBe(1);
    server.holding = true;
    stream.write(CHANGED.repeat(50));
    stream.write(event({ jsonrpc: "2.0", id: 1, method: "ping" }));
    await vi.waitFor(() => {
      expect(server.pongs).toBe(1);
      expect(server.lists).toBeGreaterThan(1);
    });
    expect(server.lists).toBe(2);
    server.holding = false;
    server.answerHeld();
    await vi.waitFor(() => expect(server.lists).toBe(3));
  });
});
