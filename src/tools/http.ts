/**
 * Requests to HTTP services that the host allows.
 *
 * - H1 Only what the host declared is reachable: origin, method and path; the definition shows all of it.
 * - H2 One operation is one request on the wire. Redirects are not followed and nothing is tried again.
 * - H3 Which statuses mean done, refused or not applied is declared. Every other answer, and none, leaves it open; so
 *   does a broken connection, unless nothing was sent.
 * - H4 Credentials are known by name; their values are in no argument, result or message.
 */
import type { IncomingMessage } from "node:http";
import { canonicalBytes } from "../base/canonical.ts";
import { RoteError } from "../base/error.ts";
import type { JsonValue } from "../base/json.ts";
import type { ProbeOutcome, Tool, ToolCall, ToolOutcome } from "../ports/tool.ts";
import { type Carried, carry, type Secrets } from "./credentials.ts";
import { defineTool, type ToolWords } from "./definition.ts";
import {
  type Allowance,
  type Allowed,
  allowedBy,
  checkAllowances,
  shownAllowances,
} from "./http-allow.ts";
import { meaningOf, resultOf, type StatusMeaning } from "./http-answer.ts";
import { NotSent } from "./http-connect.ts";
import { exchange } from "./http-exchange.ts";
import { faultOf, membersOf } from "./members.ts";
import { badArguments, bounded, broke, done, nothingDone, refused } from "./outcome.ts";

export interface HttpToolOptions extends ToolWords {
  readonly allow: readonly Allowance[];
  /** By status (`404`) or class (`2xx`), the status first. Default `{"2xx": "done"}`. */
  readonly statuses?: Readonly<Record<string, StatusMeaning>>;
  /** What a done answer may consist of: JSON (also `+json`) is read strictly, `text/...` as UTF-8. Default JSON. */
  readonly mediaTypes?: readonly string[];
  /** Values of the credentials that allowances name. */
  readonly secrets?: Secrets;
  /** Header that carries the operation's id, but in GET and HEAD. Default `idempotency-key`; null sends none. */
  readonly idempotencyHeader?: string | null;
  /** Milliseconds from the start of a request to the end of its answer. Default 30,000. */
  readonly timeoutMs?: number;
  /** Bytes of an answer at most. Default 1 MiB. */
  readonly maxResponseBytes?: number;
  /** Where the target tells what became of an operation; the URL is allowed for GET like any other. */
  readonly probe?: HttpProbe;
}

export interface HttpProbe {
  /** `{operation}` stands for the operation's id. */
  readonly url: string;
  /** Statuses that say so; every other says nothing. The body of `done` counts as the operation's answer. */
  readonly done: readonly number[];
  readonly absent: readonly number[];
}

interface Request extends Allowed {
  readonly method: string;
  readonly body: Uint8Array | null;
}

const DEFAULT_STATUSES: Readonly<Record<string, StatusMeaning>> = { "2xx": "done" };

/** @throws RoteError `bad_tool` */
export function httpTool({ secrets, ...declared }: HttpToolOptions): Tool {
  // What a reviewer signs is what was declared now.
  const options = { ...structuredClone(declared), ...(secrets === undefined ? {} : { secrets }) };
  checkAllowances(options.name, options.allow);
  checkStatuses(options);
  const settings = settingsOf(options);
  const { probe } = options;
  const definition = defineTool(options, {
    server: "http",
    input: inputSchema(options.allow),
    output: OUTPUT,
    annotations: {
      allow: shownAllowances(options.allow),
      statuses: { ...settings.statuses },
      media_types: settings.mediaTypes,
      idempotency_header: settings.idempotencyHeader,
      timeout_ms: settings.timeoutMs,
      max_response_bytes: settings.maxResponseBytes,
      probe: probe === undefined ? null : { ...probe },
    },
  });
  return {
    definition,
    fault: (args) => faultOf(requestOf(options.allow, args)),
    async call(call) {
      const request = requestOf(options.allow, call.arguments);
      return typeof request === "string" ? badArguments(request) : send(settings, request, call);
    },
    ...(probe === undefined ? {} : { probe: (call) => ask(settings, options.allow, probe, call) }),
  };
}

type Settings = ReturnType<typeof settingsOf>;

function settingsOf(options: HttpToolOptions) {
  const header = options.idempotencyHeader;
  return {
    statuses: options.statuses ?? DEFAULT_STATUSES,
    mediaTypes: options.mediaTypes ?? ["application/json"],
    secrets: options.secrets ?? (() => undefined),
    idempotencyHeader: header === undefined ? "idempotency-key" : header,
    timeoutMs: options.timeoutMs ?? 30_000,
    maxResponseBytes: options.maxResponseBytes ?? 1024 * 1024,
  };
}

async function send(settings: Settings, request: Request, call: ToolCall): Promise<ToolOutcome> {
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(settings.timeoutMs)]);
  let answer: IncomingMessage;
  let carried: Carried;
  try {
    carried = carry(request.credentials, settings.secrets);
    answer = await exchange(outgoing(settings, request, carried, call.operationId), signal);
  } catch (error) {
    if (error instanceof NotSent) return nothingDone(error.code, error.message);
    throw error;
  }
  const status = answer.statusCode ?? 0;
  const meaning = meaningOf(settings.statuses, status);
  if (meaning === "done") {
    return done(carried.hide(await resultOf(settings, request.method, answer, signal)));
  }
  answer.destroy();
  const message = `the target answered ${status}`;
  if (meaning === undefined) throw broke("http_status", message);
  return "refused" in meaning
    ? refused(meaning.refused, message)
    : nothingDone(meaning.not_applied, message);
}

async function ask(
  settings: Settings,
  allow: readonly Allowance[],
  probe: HttpProbe,
  call: ToolCall,
): Promise<ProbeOutcome> {
  const allowed = allowedBy(allow, "GET", probe.url.replaceAll("{operation}", call.operationId));
  if (typeof allowed === "string") return { kind: "unknown" };
  const request = { ...allowed, method: "GET", body: null };
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(settings.timeoutMs)]);
  const carried = carry(request.credentials, settings.secrets);
  const answer = await exchange(outgoing(settings, request, carried, call.operationId), signal);
  const status = answer.statusCode ?? 0;
  if (probe.done.includes(status)) {
    return { kind: "done", result: carried.hide(await resultOf(settings, "GET", answer, signal)) };
  }
  answer.destroy();
  return { kind: probe.absent.includes(status) ? "absent" : "unknown" };
}

function outgoing(settings: Settings, request: Request, carried: Carried, operationId: string) {
  const { target, method, body } = request;
  const { idempotencyHeader } = settings;
  const changes = method !== "GET" && method !== "HEAD";
  const headers: Record<string, string> = {
    accept: settings.mediaTypes.join(", "),
    // Packed bytes could unpack to more than anybody allowed.
    "accept-encoding": "identity",
    "user-agent": "rote",
    ...(body === null ? {} : { "content-type": "application/json" }),
    ...(changes && idempotencyHeader !== null ? { [idempotencyHeader]: operationId } : {}),
    ...carried.headers,
  };
  return { target, method, headers, body };
}

function requestOf(allow: readonly Allowance[], args: JsonValue): Request | string {
  const members = membersOf(args, ["method", "url", "body"]);
  if (typeof members === "string") return members;
  const { method, url, body } = members;
  if (typeof method !== "string") return "/method: a text";
  if (typeof url !== "string") return "/url: a text";
  if (body !== undefined && (method === "GET" || method === "HEAD")) {
    return `/body: ${method} has none`;
  }
  const allowed = allowedBy(allow, method, url);
  if (typeof allowed === "string") return allowed;
  return { ...allowed, method, body: body === undefined ? null : canonicalBytes(body) };
}

function checkStatuses({ name, statuses = {}, mediaTypes = [], probe, allow }: HttpToolOptions) {
  const bad = (what: string) => new RoteError("bad_tool", `${name}: ${bounded(what)}`, { name });
  for (const [status, meaning] of Object.entries(statuses)) {
    if (!/^[2-5](xx|[0-9]{2})$/.test(status)) throw bad(`${status} is no status and no class`);
    const code = typeof meaning === "string" ? "done" : Object.values(meaning).join();
    if (!/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/.test(code)) throw bad(`${status} has no good code`);
  }
  for (const type of mediaTypes) {
    if (/^(application\/([a-z0-9.-]+\+)?json|text\/[a-z0-9.+-]+)$/.test(type)) continue;
    throw bad(`${type} is neither JSON nor text`);
  }
  const url = probe?.url.replaceAll("{operation}", `sha256:${"0".repeat(64)}`);
  const allowed = url === undefined ? undefined : allowedBy(allow, "GET", url);
  if (typeof allowed === "string") throw bad(`its probe is not allowed: ${allowed}`);
}

function inputSchema(allow: readonly Allowance[]): JsonValue {
  return {
    type: "object",
    properties: {
      method: { enum: [...new Set(allow.flatMap(({ methods }) => methods))] },
      url: { type: "string", format: "uri" },
      body: { description: "sent as JSON; not with GET and HEAD" },
    },
    required: ["method", "url"],
    additionalProperties: false,
  };
}

const OUTPUT: JsonValue = {
  type: "object",
  properties: {
    status: { type: "integer" },
    media_type: { type: ["string", "null"] },
    body: { description: "JSON, or text of a text type; null when the answer was empty" },
  },
  required: ["status", "media_type", "body"],
  additionalProperties: false,
};
