import { afterAll, describe, expect, it } from "vitest";
import { namedChat } from "../../../src/llm/providers.ts";
import { ask, chatWire, clock, KEY } from "../../support/chat-wire.ts";
import {
  type Answering,
  brokenOff,
  completion,
  json,
  silent,
} from "../../support/provider-server.ts";

const { server, model, open, faultOf } = await chatWire();
afterAll(() => server.close());

describe("what is no reply", () => {
  it("is rate limited, with the time that the provider names", async () => {
    const limited = (headers: Record<string, string>) =>
      faultOf(json({ error: { message: "slow down" } }, { status: 429, headers }));
    expect(await limited({ "retry-after": "7" })).toEqual({
      retryAfterMs: 7000,
      kind: "rate_limited",
      retry: true,
      status: 429,
      retry_after_ms: 7000,
      message: "the provider answered 429: slow down",
    });
    const waits = async (headers: Record<string, string>) => (await limited(headers)).retryAfterMs;
    expect(await waits({ "retry-after-ms": "1200.5", "retry-after": "9" })).toBe(1201);
    expect(await waits({ "retry-after": "0.5" })).toBe(500);
    expect(
      await waits({
        date: "Mon, 30 Nov 2026 10:00:00 GMT",
        "retry-after": "Mon, 30 Nov 2026 10:00:09 GMT",
      }),
    ).toBe(9000);
    const date = "Thu, 01 Jan 2026 00:00:05 GMT";
    expect(await waits({ date: "unknown", "retry-after": date })).toBe(5000);
    expect(await waits({ date: "unknown", "retry-after": date.replace("2026", "2025") })).toBe(0);
    for (const nonsense of ["-5", "soon", "1e9", "NaN"]) {
      expect(await waits({ "retry-after": nonsense, date: "x" })).toBeNull();
    }
  });

  it("is refused when waiting does not help", async () => {
    const spent = { error: { message: "You exceeded your quota.", code: "insufficient_quota" } };
    expect(await faultOf(json(spent, { status: 429 }))).toMatchObject({
      kind: "refused",
      retry: false,
    });
    for (const status of [400, 401, 403, 404, 413, 422]) {
      expect(await faultOf(json({ error: "no" }, { status }))).toMatchObject({
        kind: "refused",
        retry: false,
        status,
        message: `the provider answered ${status}: no`,
      });
    }
  });

  it("is unavailable when the provider failed, or is not there", async () => {
    for (const status of [500, 502, 503, 529]) {
      expect(await faultOf(json("oops", { status }))).toMatchObject({
        kind: "unavailable",
        retry: true,
        status,
      });
    }
    const nowhere = namedChat(
      "openai:gpt-test",
      { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: "http://127.0.0.1:1/v1" },
      {},
      { clock, fetch },
    );
    expect(await faultOf(silent, nowhere)).toMatchObject({
      kind: "unavailable",
      retry: true,
      status: null,
    });
  });

  it("is malformed when it breaks off, is no JSON, is too large, or of another shape", async () => {
    const cases: readonly (readonly [Answering, string])[] = [
      [brokenOff, "broke off"],
      [json('{"id":"x","choices":[{"mess'), "no JSON object"],
      [json("[]"), "no JSON object"],
      [json({}), "no message"],
      [json({ choices: [] }), "no message"],
      [json({ choices: "none" }), "no list"],
      [json(completion({ tool_calls: [{ id: "a" }] })), "names no function"],
      [json(completion({ content: "\ud83d" })), "half a character"],
      [json({ error: { message: "upstream died" } }), "upstream died"],
    ];
    for (const [answering, told] of cases) {
      const fault = await faultOf(answering);
      expect(fault).toMatchObject({ kind: "malformed", retry: true });
      expect(fault.message).toContain(told);
    }
    const large = json(completion({ content: "x".repeat(5000) }));
    expect(await faultOf(large, open({ maxResponseBytes: 4000 }))).toMatchObject({
      kind: "malformed",
      message: "the answer is larger than 4000 bytes",
    });
  });

  it("is malformed under another content type, whatever it says", async () => {
    const page: Answering = (response) => {
      response.writeHead(200, { "content-type": "text/html" });
      response.end(JSON.stringify(completion({ content: "x" })));
    };
    expect(await faultOf(page)).toMatchObject({
      kind: "malformed",
      message: "the answer is text/html, expected JSON",
    });
    const untyped: Answering = (response) => response.writeHead(200).end("{}");
    expect((await faultOf(untyped)).message).toContain("of no stated type");
  });

  it("is refused when it sends one elsewhere: the key goes nowhere else", async () => {
    const moved: Answering = (response) =>
      response.writeHead(307, { location: `${server.url}/other` }).end();
    const fault = await faultOf(moved);
    expect(fault).toMatchObject({ kind: "refused", status: 307 });
    expect(fault.message).toContain("redirects are not followed");
    expect(server.received).toHaveLength(1);
  });

  it("is a timeout when there is no whole answer in time", async () => {
    const slowly: Answering = (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write("{");
    };
    for (const answering of [silent, slowly]) {
      // A server of its own: the request may arrive when nobody waits for it any more.
      const wire = await chatWire();
      const fault = await wire.faultOf(answering, wire.open({ timeoutMs: 50 }));
      expect(fault).toMatchObject({ kind: "timeout", retry: true });
      await wire.server.close();
    }
  });

  it("is a timeout when the machine's own patience ends first", async () => {
    for (const code of ["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]) {
      const cause = Object.assign(new Error("late"), { code });
      const fetch = () => Promise.reject(new TypeError("fetch failed", { cause }));
      expect(await faultOf(silent, open({ fetch }))).toMatchObject({
        kind: "timeout",
        message: `there was no whole answer in time (${code})`,
      });
    }
  });

  it("rejects with the caller's reason when the caller gives up, before and during the request", async () => {
    const gone = new AbortController();
    const reason = new Error("paused");
    server.answers((_response, _received) => gone.abort(reason));
    await expect(model.reply(ask(), gone.signal)).rejects.toBe(reason);
    server.answers(json(completion({ content: "x" })));
    await expect(model.reply(ask(), gone.signal)).rejects.toBe(reason);
    expect(server.received).toHaveLength(0);
  });

  it("is one request, whatever went wrong (B036)", async () => {
    for (const answering of [
      json({}, { status: 429, headers: { "retry-after": "0" } }),
      json({}, { status: 500 }),
      brokenOff,
      json("no json"),
    ]) {
      await faultOf(answering);
      expect(server.received).toHaveLength(1);
    }
  });
});
