/**
 * A conversation model that is a file: it reads its replies off and never calls anything. It says so in its identity
 * (provider `scripted`), so that nothing measured with it can pass for the work of a model.
 *
 * The file has one JSON object a line, blank lines aside; the n-th line is the n-th turn of the conversation, in whatever
 * process it is asked for:
 *
 *     {"calls": [{"name": "add", "arguments": {"left": 2, "right": 3}}]}
 *     {"say": "The sum is 5.", "usage": {"input_tokens": 40, "output_tokens": 6}}
 *
 * `arguments` that are a text are passed on as they are, however broken. Optional: `id` of a call, `stop` of the reply,
 * `fail` (faults of the first attempts: `[{"kind": "timeout"}]`), `repeat: true` on the last line (it answers all later
 * turns too). Usage left out is unknown, not zero.
 */
import { canonicalText } from "../base/canonical.ts";
import { isJsonObject, type JsonValue, readJson } from "../base/json.ts";
import { err, ok, type Result } from "../base/result.ts";
import {
  CHAT_STOPS,
  type ChatCall,
  type ChatReply,
  type ChatUsage,
  PROVIDER_FAULTS,
  type ProviderFault,
  UNKNOWN_CHAT_USAGE,
} from "../model/chat.ts";
import { type ChatModel, providerError } from "../ports/chat-model.ts";
import { isCount, type ScriptProblem } from "./scripted.ts";

const MEMBERS = ["say", "calls", "stop", "usage", "fail", "repeat"];
const CALL_MEMBERS = ["id", "name", "arguments"];
const MAX_LINE_BYTES = 4 * 1024 * 1024;

interface Line {
  readonly reply: ChatReply;
  readonly faults: readonly ScriptedFault[];
  readonly repeat: boolean;
}

interface ScriptedFault {
  readonly kind: ProviderFault;
  readonly message: string;
  readonly retryAfterMs: number | undefined;
}

/** Reads a script. @returns the model, or every bad line. */
export function scriptedChat(
  script: string,
  name: string,
): Result<ChatModel, readonly ScriptProblem[]> {
  const problems: ScriptProblem[] = [];
  const lines: Line[] = [];
  script.split("\n").forEach((text, at) => {
    if (text.trim() === "") return;
    const read = readLine(text, lines.length + 1);
    if (read.ok) lines.push(read.value);
    else problems.push({ line: at + 1, message: read.error });
  });
  if (problems.length > 0) return err(problems);
  return ok(modelOf(name, lines));
}

function modelOf(name: string, lines: readonly Line[]): ChatModel {
  const failed = new Map<number, number>();
  return {
    identity: { provider: "scripted", name },
    async reply({ messages }, signal) {
      signal?.throwIfAborted();
      const turn = messages.reduce((count, { role }) => count + (role === "assistant" ? 1 : 0), 0);
      const last = lines.at(-1);
      const line = lines[turn] ?? (last?.repeat === true ? last : undefined);
      if (line === undefined) {
        throw providerError("refused", `the script ${name} has no reply for turn ${turn + 1}`);
      }
      const attempts = failed.get(turn) ?? 0;
      const fault = line.faults[attempts];
      if (fault === undefined) return line.reply;
      failed.set(turn, attempts + 1);
      const { kind, message, retryAfterMs } = fault;
      throw providerError(kind, message, retryAfterMs === undefined ? {} : { retryAfterMs });
    },
  };
}

function readLine(text: string, number: number): Result<Line, string> {
  const read = readJson(text, { numbers: "finite", maxBytes: MAX_LINE_BYTES });
  if (!read.ok) return err(`column ${read.error.column}: ${read.error.message}`);
  const line = read.value;
  if (!isJsonObject(line)) return err("expected an object");
  const unknown = Object.keys(line).find((member) => !MEMBERS.includes(member));
  if (unknown !== undefined) {
    return err(`unknown member "${unknown}"; expected ${MEMBERS.join(", ")}`);
  }
  const { say = "", calls: asked = [], repeat = false } = line;
  if (typeof say !== "string") return err('"say" must be a text');
  if (typeof repeat !== "boolean") return err('"repeat" must be true or false');
  if (!Array.isArray(asked)) return err('"calls" must be a list');
  const calls = asked.map((call, at) => callFrom(call, `call-${number}-${at + 1}`));
  const bad = calls.indexOf(undefined);
  if (bad >= 0) return err(`"calls/${bad}" must be {"name": text, "arguments": .., "id"?: text}`);
  const stop = stopFrom(line["stop"], calls.length > 0);
  if (stop === undefined) return err(`"stop" must be one of ${CHAT_STOPS.join(", ")}`);
  const usage = usageFrom(line["usage"] ?? null);
  if (usage === undefined) {
    return err(`"usage" has counts or null: ${Object.keys(UNKNOWN_CHAT_USAGE).join(", ")}`);
  }
  const faults = faultsFrom(line["fail"] ?? []);
  if (faults === undefined) {
    return err(`"fail" is a list of {"kind": one of ${Object.keys(PROVIDER_FAULTS).join(", ")}}`);
  }
  const whole = calls.filter((call) => call !== undefined);
  const response = { id: null, model: null };
  return ok({ reply: { content: say, calls: whole, stop, usage, response }, faults, repeat });
}

function callFrom(call: JsonValue, byDefault: string): ChatCall | undefined {
  if (!isJsonObject(call) || Object.keys(call).some((member) => !CALL_MEMBERS.includes(member))) {
    return undefined;
  }
  const { id = byDefault, name, arguments: args } = call;
  if (typeof id !== "string" || typeof name !== "string" || args === undefined) return undefined;
  return { id, name, arguments: typeof args === "string" ? args : canonicalText(args) };
}

function stopFrom(given: JsonValue | undefined, calls: boolean): ChatReply["stop"] | undefined {
  if (given === undefined) return calls ? "calls" : "end";
  return CHAT_STOPS.find((stop) => stop === given);
}

function usageFrom(given: JsonValue): ChatUsage | undefined {
  if (given === null) return UNKNOWN_CHAT_USAGE;
  if (!isJsonObject(given)) return undefined;
  const known = Object.keys(UNKNOWN_CHAT_USAGE);
  const fits = Object.entries(given).every(
    ([member, value]) => known.includes(member) && (value === null || isCount(value)),
  );
  return fits ? { ...UNKNOWN_CHAT_USAGE, ...(given as Partial<ChatUsage>) } : undefined;
}

function faultsFrom(given: JsonValue): readonly ScriptedFault[] | undefined {
  if (!Array.isArray(given)) return undefined;
  const faults = (given as readonly JsonValue[]).map((one): ScriptedFault | undefined => {
    if (!isJsonObject(one)) return undefined;
    const { kind, message = "as scripted", retry_after_ms: after } = one;
    const known = (Object.keys(PROVIDER_FAULTS) as ProviderFault[]).find((name) => name === kind);
    if (known === undefined || typeof message !== "string") return undefined;
    return { kind: known, message, retryAfterMs: typeof after === "number" ? after : undefined };
  });
  return faults.some((fault) => fault === undefined)
    ? undefined
    : faults.filter((fault) => fault !== undefined);
}
