/**
 * One request and its answer, over one connection of its own. Nothing is sent twice: no pool, no retry, no redirect.
 */
import { type IncomingMessage, request } from "node:http";
import { cancelled, connect, NotSent, type Target } from "./http-connect.ts";
import { broke, nameOf } from "./outcome.ts";

export interface Outgoing {
  readonly target: Target;
  readonly method: string;
  /** Lower-case names; `host`, `connection` and `content-length` are added. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
}

/**
 * The answer as soon as its head is there.
 *
 * @throws NotSent when nothing left this process; any other error leaves it open
 */
export async function exchange(outgoing: Outgoing, signal: AbortSignal): Promise<IncomingMessage> {
  const { target, method, headers, body } = outgoing;
  if (signal.aborted) throw cancelled();
  const socket = await connect(target, signal);
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      socket.destroy();
      throw cancelled();
    }
    const { url } = target;
    const length = body === null ? {} : { "content-length": String(body.byteLength) };
    let sending: ReturnType<typeof request>;
    try {
      sending = request({
        createConnection: () => socket,
        method,
        path: url.pathname + url.search,
        headers: { host: url.host, ...headers, ...length, connection: "close" },
        setHost: false,
        signal,
      });
    } catch (error) {
      // A header that cannot be written; the name of the fault says which kind, its text could repeat the value.
      socket.destroy();
      reject(new NotSent("request_unwritable", `no request can be made (${nameOf(error)})`));
      return;
    }
    // Stays: after the answer's head the reader of the body is told by the body.
    sending.on("error", (error) => reject(lost(error, signal)));
    sending.once("response", resolve);
    // A switch of protocols ends the exchange without answer and without error.
    sending.once("close", () => reject(lost(new Error("closed"), signal)));
    sending.end(body ?? undefined);
  });
}

/** The whole body. @throws ToolBroke when it is larger, breaks off or does not come in time */
export async function readBody(
  answer: IncomingMessage,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const stop = () => answer.destroy();
  signal.addEventListener("abort", stop, { once: true });
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.byteLength;
      if (size > maxBytes) throw tooLarge(maxBytes);
      chunks.push(chunk);
    }
  } catch (error) {
    answer.destroy();
    throw size > maxBytes ? tooLarge(maxBytes) : lost(error, signal);
  } finally {
    signal.removeEventListener("abort", stop);
  }
  if (signal.aborted || !answer.complete) throw lost(new Error("incomplete"), signal);
  return Buffer.concat(chunks);
}

function tooLarge(maxBytes: number): Error {
  return broke("response_too_large", `the answer is larger than ${maxBytes} bytes`);
}

function lost(error: unknown, signal: AbortSignal): Error {
  if (signal.aborted) return broke("no_answer", "no whole answer in the time there was", error);
  return broke("connection_lost", `the connection broke (${nameOf(error)})`, error);
}
