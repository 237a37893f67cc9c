/** Ways to an MCP server: a process of its own, or Streamable HTTP over the same guarded connections as `http.ts`. */
import { Readable } from "node:stream";
import type { Transport } from "@modelcontextprotocol/client";
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import { type Credential, carry, hiding, type Secrets, secretOf } from "./credentials.ts";
import { type Allowance, checkAllowances, shownAllowances } from "./http-allow.ts";
import { NotSent } from "./http-connect.ts";
import { exchange, readBody } from "./http-exchange.ts";
import { broke } from "./outcome.ts";

export interface McpProcess {
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  /** Added to the few variables that the client hands on by itself (PATH, HOME and the like). */
  readonly env?: Readonly<Record<string, string>>;
  /** Credentials by name, each into one variable of the process. */
  readonly credentials?: readonly { readonly name: string; readonly variable: string }[];
}

export interface McpEndpoint {
  readonly url: string;
  readonly credentials?: readonly Credential[];
  readonly privateAddresses?: boolean;
  readonly ca?: string;
  /** Bytes of one answer at most. Default 4 MiB. */
  readonly maxResponseBytes?: number;
}

export type McpServer = McpProcess | McpEndpoint;

export interface Way {
  /** What stands behind the server in the host's own words. */
  readonly place: JsonValue;
  /** A new connection, not yet started. @throws NotSent `credential_missing` */
  transport(this: void): Transport;
  /** What takes the credentials out of an answer; to be had before a call. @throws NotSent `credential_missing` */
  hiding(this: void): (value: JsonValue) => JsonValue;
}

export async function loadClient() {
  try {
    const [client, stdio, validators] = await Promise.all([
      import("@modelcontextprotocol/client"),
      import("@modelcontextprotocol/client/stdio"),
      import("@modelcontextprotocol/client/validators/ajv"),
    ]);
    return { client, stdio, validators };
  } catch (error) {
    throw new RoteError(
      "package_missing",
      "tools of MCP servers need the package @modelcontextprotocol/client, which is not installed",
      { hint: "npm install @modelcontextprotocol/client@2.4.0" },
      error,
    );
  }
}
export type Packages = Awaited<ReturnType<typeof loadClient>>;

/**
 * All that says which server is meant, for the definitions of its tools: one command with another environment may be
 * another ledger. Values of credentials are not in it, nor can they be in the environment.
 */
export function placeOf(server: McpServer): JsonValue {
  if ("command" in server) {
    const { command, args = [], cwd = null, env = {}, credentials = [] } = server;
    const variables = credentials.map(({ name, variable }) => ({ name, variable }));
    return { kind: "stdio", command, args, cwd, env, credentials: variables };
  }
  const [allowed] = shownAllowances([allowanceOf(server)]);
  return { kind: "http", url: server.url, ...allowed };
}

/** @throws RoteError `bad_tool` */
export function wayTo(packages: Packages, id: string, server: McpServer, secrets: Secrets): Way {
  if ("command" in server) return wayToProcess(packages, server, secrets);
  checkEndpoint(id, server);
  return wayToEndpoint(packages, server, secrets);
}

function wayToProcess({ stdio }: Packages, server: McpProcess, secrets: Secrets): Way {
  const { command, args = [], cwd, env, credentials = [] } = server;
  return {
    place: placeOf(server),
    transport() {
      const given: Record<string, string> = { ...stdio.getDefaultEnvironment(), ...env };
      for (const { name, variable } of credentials) given[variable] = secretOf(name, secrets);
      return new stdio.StdioClientTransport({
        command,
        args: [...args],
        env: given,
        ...(cwd === undefined ? {} : { cwd }),
        // What a server prints may hold anything; its own log is the place for it.
        stderr: "ignore",
      });
    },
    hiding: () => hiding(credentials, secrets),
  };
}

function checkEndpoint(id: string, server: McpEndpoint): void {
  const { url: text } = server;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.href !== text || url.username !== "" || url.password !== "") {
    throw new RoteError("bad_tool", `${id}: its URL is not in normal form`, { server: id });
  }
  checkAllowances(id, [allowanceOf(server)]);
}

function allowanceOf({ url: text, credentials, privateAddresses, ca }: McpEndpoint): Allowance {
  const url = new URL(text);
  return {
    origin: url.origin,
    methods: ["POST"],
    paths: [url.pathname],
    privateAddresses: privateAddresses ?? false,
    credentials: credentials ?? [],
    ...(ca === undefined ? {} : { ca }),
  };
}

function wayToEndpoint({ client }: Packages, server: McpEndpoint, secrets: Secrets): Way {
  const { credentials = [] } = server;
  const url = new URL(server.url);
  return {
    place: placeOf(server),
    transport: () =>
      new client.StreamableHTTPClientTransport(url, {
        fetch: (input, init) => guardedFetch(server, url, secrets, new URL(input), init),
      }),
    hiding: () => hiding(credentials, secrets),
  };
}

const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

/** `fetch` for one origin: over a connection to a judged address, with the host's credentials, without redirects. */
async function guardedFetch(
  server: McpEndpoint,
  home: URL,
  secrets: Secrets,
  url: URL,
  init: RequestInit = {},
): Promise<Response> {
  if (url.origin !== home.origin) throw new NotSent("origin_not_allowed", "another origin");
  const { headers } = carry(server.credentials ?? [], secrets);
  const method = init.method ?? "GET";
  const signal = init.signal ?? new AbortController().signal;
  const answer = await exchange(
    {
      target: { url, privateAddresses: server.privateAddresses ?? false, ca: server.ca },
      method,
      headers: {
        ...Object.fromEntries(new Headers(init.headers)),
        "accept-encoding": "identity",
        ...headers,
      },
      body: typeof init.body === "string" ? Buffer.from(init.body) : null,
    },
    signal,
  );
  const status = answer.statusCode ?? 0;
  if (status >= 300 && status < 400) {
    answer.destroy();
    throw broke("http_status", `the server answered ${status}; redirects are not followed`);
  }
  const type = answer.headers["content-type"] ?? "";
  const received = { status, headers: { ...only(answer.headers) } };
  if (status === 204 || status === 205) return new Response(null, received);
  const limit = server.maxResponseBytes ?? MAX_RESPONSE_BYTES;
  if (!type.startsWith("text/event-stream")) {
    return new Response(Buffer.from(await readBody(answer, limit, signal)), received);
  }
  // The stream of a request ends with its answer; the one that a GET opens stays open for notifications.
  const body = method === "GET" ? limitedEvents(answer, limit) : limited(answer, limit);
  return new Response(Readable.toWeb(Readable.from(body)) as ReadableStream<Uint8Array>, received);
}

async function* limited(answer: AsyncIterable<Buffer>, limit: number): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of answer) {
    size += chunk.byteLength;
    if (size > limit) throw tooLarge("answer", limit);
    yield chunk;
  }
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** As much as it likes, but of one event, which whoever reads keeps until a blank line ends it, no more than an answer. */
async function* limitedEvents(
  answer: AsyncIterable<Buffer>,
  limit: number,
): AsyncGenerator<Buffer> {
  let size = 0;
  let lineEnded = false;
  for await (const chunk of answer) {
    for (const byte of chunk) {
      size += 1;
      if (byte === LINE_FEED && lineEnded) size = 0;
      if (byte !== CARRIAGE_RETURN) lineEnded = byte === LINE_FEED;
      if (size > limit) throw tooLarge("message", limit);
    }
    yield chunk;
  }
}

function tooLarge(what: string, limit: number): Error {
  return broke("response_too_large", `the ${what} is larger than ${limit} bytes`);
}

/** The headers that the client looks at. */
const LOOKED_AT = ["content-type", "mcp-session-id", "www-authenticate"];

function only(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of LOOKED_AT) {
    const value = headers[name];
    if (typeof value === "string") found[name] = value;
  }
  return found;
}
