/**
 * One request to a provider and what came back, as text.
 *
 * - X1 One exchange is one request on the wire: a second one is refused here, whoever makes it. Redirects are not followed.
 * - X2 The body is read whole, up to a limit, and handed on as the text that it is.
 */
import { RoteError } from "../base/error.ts";
import { providerError } from "../ports/chat-model.ts";
import type { Shown } from "./shown.ts";

export type Fetch = typeof globalThis.fetch;

export interface Wire {
  readonly fetch: Fetch;
  /** Milliseconds from the start of the request to the end of its answer. */
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly shown: Shown;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** What `fetch` rejects with once the answer is taken: whoever called it has nothing left to read. */
export class Taken extends Error {
  override readonly name = "Taken";
}

export interface Exchange {
  readonly fetch: Fetch;
  /**
   * The answer, once there is one; undefined when no request was made.
   *
   * @throws RoteError `provider_error`, or the reason of the caller's signal
   */
  taken(this: void): Answer | undefined;
}

/** `signal` is the caller's. */
export function exchange(wire: Wire, signal: AbortSignal | undefined): Exchange {
  let made = false;
  let answer: Answer | undefined;
  let failure: Error | undefined;
  return {
    async fetch(input, init) {
      if (made) throw new Taken("a second request in one call");
      made = true;
      const timeout = AbortSignal.timeout(wire.timeoutMs);
      const signals = signal === undefined ? [timeout] : [timeout, signal];
      try {
        answer = await ask(wire, input, { ...init, signal: AbortSignal.any(signals) });
      } catch (error) {
        failure =
          signal?.aborted === true ? givenUp(signal) : faultOf(error, wire, timeout.aborted);
      }
      throw new Taken("the answer is taken");
    },
    taken() {
      if (failure !== undefined) throw failure;
      return answer;
    },
  };
}

async function ask(
  wire: Wire,
  input: Parameters<Fetch>[0],
  init: NonNullable<Parameters<Fetch>[1]>,
): Promise<Answer> {
  const response = await wire.fetch(input, { ...init, redirect: "manual" });
  const { status, headers } = response;
  return { status, headers, text: await bodyOf(response, wire.maxResponseBytes) };
}

async function bodyOf(response: Response, maxBytes: number): Promise<string> {
  const body: ReadableStream<Uint8Array> | null = response.body;
  if (body === null) return "";
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = body.getReader();
  for (;;) {
    const chunk = await reader.read().catch((error: unknown) => {
      throw new Broken(`the answer broke off (${nameOf(error)})`, error);
    });
    if (chunk.done) break;
    size += chunk.value.byteLength;
    if (size > maxBytes) {
      await reader.cancel().catch(() => undefined);
      throw new Broken(`the answer is larger than ${maxBytes} bytes`);
    }
    chunks.push(chunk.value);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new Broken("the answer is not UTF-8");
  }
}

/** Why the caller gave up, as an error. */
export function givenUp({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error("given up", { cause: reason });
}

/** The answer began and is of no use. */
class Broken extends Error {
  override readonly name = "Broken";

  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

function faultOf(error: unknown, { timeoutMs, shown }: Wire, timedOut: boolean): Error {
  if (error instanceof RoteError && error.code === "provider_error") return error;
  if (timedOut) return providerError("timeout", `there was no whole answer in ${timeoutMs} ms`);
  const name = nameOf(error);
  // Node's own patience, which may be shorter than ours.
  if (/^UND_ERR_(HEADERS|BODY)_TIMEOUT$/.test(name)) {
    return providerError("timeout", shown(`there was no whole answer in time (${name})`));
  }
  if (error instanceof Broken) return providerError("malformed", error.message);
  return providerError("unavailable", shown(`the provider was not reached (${name})`));
}

/** The kind of an error and its code where that is one word: enough to search for, and never its text. */
function nameOf(error: unknown): string {
  let cause = error;
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
  if (!(cause instanceof Error)) return "something that is not an Error";
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
  return /^[A-Za-z0-9_]{1,64}$/.test(code) ? code : cause.name;
}
