/** A server on this machine that speaks the wires of model providers, as a test tells it to. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Record<string, unknown>;
}

export type Answering = (response: ServerResponse, received: Received) => void;

export interface ProviderServer {
  readonly url: string;
  readonly received: Received[];
  /** What answers the next requests, in order; the last one answers all that follow. */
  answers(...answering: readonly Answering[]): void;
  close(): Promise<void>;
}

export async function providerServer(): Promise<ProviderServer> {
  const received: Received[] = [];
  let queue: readonly Answering[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const one: Received = {
        path: request.url ?? "",
        headers: request.headers,
        body: JSON.parse(Buffer.concat(chunks).toString() || "{}") as Record<string, unknown>,
      };
      received.push(one);
      const [next, ...rest] = queue;
      if (rest.length > 0) queue = rest;
      if (next === undefined) response.writeHead(404).end();
      else next(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    answers(...answering) {
      received.length = 0;
      queue = answering;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A JSON answer; a text is sent as it is. */
export function json(
  body: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Answering {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

/** Announces more than it sends, and breaks off. */
export const brokenOff: Answering = (response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "4000" });
  response.write('{"id":"x","choices":[{"mess', () => response.destroy());
};

/** Takes the request and never answers. */
export const silent: Answering = () => undefined;

/** The choice and all around it, as the chat completions wire has it. */
export function completion(
  message: Record<string, unknown>,
  more: { finish?: string | null; usage?: unknown } & Record<string, unknown> = {},
): Record<string, unknown> {
  const { finish = "stop", usage, ...others } = more;
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_760_000_000,
    model: "gpt-test-2026",
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish }],
    ...(usage === undefined ? {} : { usage }),
    ...others,
  };
}

/** A message of Anthropic's wire. */
export function anthropicMessage(
  content: readonly unknown[],
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-test-2026",
    content,
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5 },
    ...more,
  };
}
