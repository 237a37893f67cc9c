/** What an answer that is no reply means: by its status first, then by what the provider says about it. */
import type { RoteError } from "../base/error.ts";
import type { ProviderFault } from "../model/chat.ts";
import { providerError } from "../ports/chat-model.ts";
import type { Clock } from "../ports/clock.ts";
import type { Answer } from "./exchange.ts";
import type { Shown } from "./shown.ts";
import { isObject, member, objectIn, parseWire, textIn } from "./wire-json.ts";

/** The fault of an answer whose status is no success, or whose content is said not to be JSON; else undefined. */
export function failureOf(answer: Answer, shown: Shown, clock: Clock): RoteError | undefined {
  const { status, headers } = answer;
  if (status >= 200 && status < 300) return wrongContent(answer, shown);
  const said = wordsIn(answer.text);
  const retryAfterMs = retryAfter(headers, clock);
  return providerError(faultOf(status, said.code), shown(messageOf(status, said.message)), {
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function wrongContent({ status, headers }: Answer, shown: Shown): RoteError | undefined {
  const type = headers.get("content-type") ?? "";
  const [essence = ""] = type.split(";");
  if (/^\s*application\/([a-z0-9.-]+\+)?json\s*$/i.test(essence)) return undefined;
  const what = essence.trim() === "" ? "of no stated type" : essence.trim();
  return providerError("malformed", shown(`the answer is ${what}, expected JSON`), { status });
}

/** Codes that come with the status of too many requests, and that waiting does not help. */
const SPENT = ["insufficient_quota", "billing_hard_limit_reached", "billing_not_active"];

function faultOf(status: number, code: string | undefined): ProviderFault {
  if (status === 429)
    return code !== undefined && SPENT.includes(code) ? "refused" : "rate_limited";
  if (status === 408) return "timeout";
  if (status === 409 || status === 425 || status >= 500) return "unavailable";
  return "refused";
}

function messageOf(status: number, said: string): string {
  const moved = status >= 300 && status < 400 ? "; redirects are not followed" : "";
  return `the provider answered ${status}${said === "" ? "" : `: ${said}`}${moved}`;
}

/** What the provider says is wrong, in any of the forms in use. */
export function wordsIn(text: string): {
  readonly message: string;
  readonly code: string | undefined;
} {
  const body = parseWire(text);
  if (!isObject(body)) return { message: "", code: undefined };
  const error = objectIn(body, "error");
  const flat = textIn(body, "error") ?? textIn(body, "message") ?? textIn(body, "detail");
  if (error === undefined) return { message: flat ?? "", code: undefined };
  const code = member(error, "code") ?? member(error, "type");
  return {
    message: textIn(error, "message") ?? "",
    code: typeof code === "string" ? code : textIn(error, "type"),
  };
}

/** Milliseconds, rounded up: `retry-after-ms`, else `retry-after` in seconds or as a date by the answer's own clock. */
function retryAfter(headers: Headers, clock: Clock): number | undefined {
  const exact = numberOf(headers.get("retry-after-ms"));
  if (exact !== undefined) return Math.ceil(exact);
  const given = headers.get("retry-after");
  const seconds = numberOf(given);
  if (seconds !== undefined) return Math.ceil(seconds * 1000);
  const until = dateIn(given);
  if (until === undefined) return undefined;
  return Math.min(Math.max(0, until - (dateIn(headers.get("date")) ?? clock.wallMs())), MOST);
}

/** As HTTP writes dates; much else would be read as one as well. */
function dateIn(text: string | null): number | undefined {
  if (text === null || !/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT$/.test(text)) {
    return undefined;
  }
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

/** Longer than a year is no wait that anybody means. */
const MOST = 365 * 24 * 3_600_000;

function numberOf(text: string | null): number | undefined {
  if (text === null || !/^\s*\d{1,15}(\.\d{1,9})?\s*$/.test(text)) return undefined;
  return Math.min(Number(text), MOST);
}
