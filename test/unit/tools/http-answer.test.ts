import type { ServerResponse } from "node:http";
import { type AddressInfo, createServer as createPlainServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { outcome, type Received, reply, short } from "../../support/tool-calls.ts";
import { get, localTargets, ok, post, toolFor } from "./http-targets.ts";

const { target, closing, closeTargets } = localTargets();
afterEach(closeTargets);

describe("what an answer means", () => {
  const statuses = {
    "2xx": "done",
    "202": { not_applied: "queued" },
    "404": { refused: "not_found" },
    "4xx": { refused: "rejected" },
    "429": { not_applied: "rate_limited" },
  } as const;

  it.each([
    [200, { status: 200, media_type: "application/json", body: { said: "no" } }],
    [202, "not_applied queued"],
    [404, "refused not_found"],
    [422, "refused rejected"],
    [429, "not_applied rate_limited"],
    [301, "threw http_status"],
    [500, "threw http_status"],
    [503, "threw http_status"],
  ])("%i is what the host declared, or open", async (status, meaning) => {
    const { origin } = await target((_, response) => reply(response, status, { said: "no" }));
    expect(await short(toolFor(origin, { statuses }), post(origin))).toEqual(meaning);
  });

  it.each([
    [200, { status: 200, media_type: "application/json", body: {} }],
    [404, "threw http_status"],
    [429, "threw http_status"],
  ])("%i without a declaration means only what every status says", async (status, meaning) => {
    const { origin } = await target((_, response) => reply(response, status, {}));
    expect(await short(toolFor(origin), post(origin))).toEqual(meaning);
  });

  it("repeats nothing of the body of a refusal", async () => {
    const { origin } = await target((_, response) => reply(response, 404, { why: "secret" }));
    expect(await outcome(toolFor(origin, { statuses }), post(origin))).toEqual({
      kind: "refused",
      code: "not_found",
      message: "the target answered 404",
    });
  });

  it("is open after a 500, though the target applied the change; there is no second request", async () => {
    const { origin, received } = await target((_, response) => reply(response, 500, {}));
    expect(await short(toolFor(origin), post(origin))).toBe("threw http_status");
    expect(received).toHaveLength(1);
  });

  it.each(["POST", "GET"])(
    "is open when the connection is reset after a %s arrived; there is no second request (B008)",
    async (method) => {
      const { origin, received } = await target((_, __, socket) => socket.resetAndDestroy());
      const args = method === "GET" ? get(origin) : post(origin);
      expect(await short(toolFor(origin), args)).toBe("threw connection_lost");
      expect(received).toHaveLength(1);
    },
  );

  it.each([
    ["closed without an answer", (_: Received, response: ServerResponse) => response.destroy()],
    [
      "broken off within the body",
      (_: Received, response: ServerResponse) => {
        response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
        response.write('{"paid":', () => response.destroy());
      },
    ],
    [
      "broken off within a chunk",
      (_: Received, response: ServerResponse) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.write('{"paid":true}', () => response.destroy());
      },
    ],
  ])("is open when it is %s", async (_, answer) => {
    const { origin, received } = await target(answer);
    expect(await short(toolFor(origin), post(origin))).toBe("threw connection_lost");
    expect(received).toHaveLength(1);
  });

  it.each([
    ["none comes", () => undefined],
    [
      "its body does not end",
      (_: Received, response: ServerResponse) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.write("{");
      },
    ],
  ])("is open when %s in time", async (_, answer) => {
    const { origin, received } = await target(answer);
    const told = await short(toolFor(origin, { timeoutMs: 300 }), post(origin));
    // Where the machine stood still meanwhile, the time may be over before anything was sent.
    const sent = received.length === 1;
    expect(told).toMatch(sent ? /^threw no_answer$/ : /^(threw no_answer|not_applied cancelled)$/);
  });

  it("is open when the call is cancelled after the request arrived", async () => {
    const controller = new AbortController();
    const { origin, received } = await target(() => controller.abort());
    const { signal } = controller;
    expect(await short(toolFor(origin), post(origin), { signal })).toBe("threw no_answer");
    expect(received).toHaveLength(1);
  });

  it("is no redirect: neither another origin nor the same one is asked", async () => {
    const elsewhere = await target(ok);
    for (const status of [301, 302, 303, 307, 308]) {
      const { origin, received } = await target((_, response) => {
        const location = status === 307 ? "/again" : `${elsewhere.origin}/pay`;
        response.writeHead(status, { location });
        response.end();
      });
      expect(await short(toolFor(origin), post(origin))).toBe("threw http_status");
      expect(received).toHaveLength(1);
    }
    expect(elsewhere.received).toEqual([]);
  });
});

describe("the body of an answer", () => {
  const answering = (type: string, body: string | Uint8Array, headers = {}) =>
    target((_, response) => {
      response.writeHead(200, { ...(type === "" ? {} : { "content-type": type }), ...headers });
      response.end(body);
    });
  const mediaTypes = ["application/json", "application/problem+json", "text/plain"];

  it.each([
    ["application/json; charset=UTF-8", '{"a":0.1}', "application/json", { a: 0.1 }],
    ["application/problem+json", "[]", "application/problem+json", []],
    ["text/plain", "naïve", "text/plain", "naïve"],
    ['text/plain;charset="utf-8"', "x", "text/plain", "x"],
    ["application/json", "", null, null],
  ])("of type %s is read: %s", async (type, text, media_type, body) => {
    const { origin } = await answering(type, text);
    expect(await short(toolFor(origin, { mediaTypes }), post(origin))).toEqual({
      status: 200,
      media_type,
      body,
    });
  });

  const malformed: readonly [string, string, string | Uint8Array, object?][] = [
    ["twice the same member", "application/json", '{"a":1,"a":2}'],
    ["a number that would be rounded", "application/json", "9007199254740993"],
    ["half a document", "application/json", '{"a":'],
    ["bytes that are not UTF-8", "text/plain", new Uint8Array([0xff])],
    ["another character set", "text/plain; charset=latin1", "x"],
    ["a type that was not declared", "text/html", "<p>"],
    ["no type", "", "{}"],
    ["a packed body", "application/json", "{}", { "content-encoding": "gzip" }],
  ];
  it.each(malformed)("with %s leaves open what happened", async (_, type, body, headers) => {
    const { origin, received } = await answering(type, body, headers ?? {});
    expect(await short(toolFor(origin, { mediaTypes }), post(origin))).toBe(
      "threw response_malformed",
    );
    expect(received).toHaveLength(1);
  });

  it("over the limit leaves open what happened", async () => {
    const { origin } = await answering("application/json", JSON.stringify("x".repeat(98)));
    const limit = (maxResponseBytes: number) => toolFor(origin, { maxResponseBytes });
    expect(await short(limit(99), post(origin))).toBe("threw response_too_large");
    expect(await short(limit(100), post(origin))).toMatchObject({ status: 200 });
  });

  it("of HEAD and of 204 is null", async () => {
    const { origin } = await target(({ method }, response) => {
      response.writeHead(method === "HEAD" ? 200 : 204, { "content-type": "application/json" });
      response.end();
    });
    const head = { method: "HEAD", url: `${origin}/` };
    expect(await short(toolFor(origin), head)).toEqual({
      status: 200,
      media_type: null,
      body: null,
    });
    expect(await short(toolFor(origin), post(origin))).toMatchObject({ status: 204, body: null });
  });
});

describe("a server that does not speak", () => {
  it("TLS gets nothing", async () => {
    const server = createPlainServer((socket) => {
      socket.on("error", () => {});
      socket.resume().end("HTTP/1.1 200 OK\r\n\r\n");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closing(() => new Promise((resolve) => server.close(() => resolve())));
    const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await short(toolFor(origin), post(origin))).toBe("not_applied connection_failed");
  });

  it("HTTP at all leaves open what happened", async () => {
    const server = createPlainServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.end("hello\r\n\r\n"));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closing(() => new Promise((resolve) => server.close(() => resolve())));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await short(toolFor(origin), post(origin))).toBe("threw connection_lost");
  });

  it("HTTP any more leaves open what happened", async () => {
    const { origin } = await target((_, __, socket) => {
      socket.end("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n");
    });
    expect(await short(toolFor(origin), post(origin))).toBe("threw connection_lost");
  });
});
