import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, createServer as createPlainServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type HttpToolOptions, httpTool } from "../../../src/tools/http.ts";
import type { StatusMeaning } from "../../../src/tools/http-answer.ts";
import {
  aborted,
  callOf,
  type LocalTarget,
  localTarget,
  OPERATION,
  outcome,
  type Received,
  reply,
  short,
} from "../../support/tool-calls.ts";

const SECRET = "s3cret/+value==";
const targets: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const target of targets.splice(0)) await target.close();
});

async function target(
  answer: Parameters<typeof localTarget>[0],
  host?: string,
): Promise<LocalTarget> {
  const made = await localTarget(answer, host);
  targets.push(made);
  return made;
}

function toolFor(origin: string, change: Partial<HttpToolOptions> = {}) {
  return httpTool({
    name: "pay",
    description: "Pays",
    allow: [{ origin, methods: ["GET", "HEAD", "POST"], paths: ["/"], privateAddresses: true }],
    ...change,
  });
}

const post = (origin: string) => ({ method: "POST", url: `${origin}/pay`, body: { z: 1, a: "é" } });
const get = (origin: string) => ({ method: "GET", url: `${origin}/pay` });

const ok = (_: Received, response: ServerResponse) => reply(response, 200, { paid: true });

describe("an HTTP request", () => {
  it("is one request with canonical JSON and the operation's id as idempotency key", async () => {
    const { origin, received } = await target((_, response) => reply(response, 201, { n: 1.5 }));
    expect(await short(toolFor(origin), post(origin))).toEqual({
      status: 201,
      media_type: "application/json",
      body: { n: 1.5 },
    });
    expect(received).toEqual([
      {
        method: "POST",
        url: "/pay",
        body: '{"a":"é","z":1}',
        headers: {
          host: origin.slice("http://".length),
          accept: "application/json",
          "accept-encoding": "identity",
          "user-agent": "rote",
          "content-type": "application/json",
          "content-length": "16",
          "idempotency-key": OPERATION,
          connection: "close",
        },
      },
    ]);
  });

  it("goes where its tool was declared to go, whatever becomes of the declaration (B016)", async () => {
    const { origin, received } = await target((_, response) => reply(response, 409, {}));
    const paths = ["/pay"];
    const statuses: Record<string, StatusMeaning> = { "409": { refused: "closed" } };
    const allow = [{ origin, methods: ["POST" as const], paths, privateAddresses: true }];
    const tool = httpTool({ name: "pay", description: "Pays", allow, statuses });
    paths.push("/admin");
    statuses["409"] = "done";
    allow.push({ origin, methods: ["POST"], paths: ["/"], privateAddresses: true });
    expect(await short(tool, { method: "POST", url: `${origin}/admin` })).toBe(
      "not_applied tool_arguments_invalid",
    );
    expect(received).toEqual([]);
    expect(await short(tool, { method: "POST", url: `${origin}/pay` })).toBe("refused closed");
  });

  it("carries no idempotency key where it changes nothing, or under another name, or none", async () => {
    const { origin, received } = await target(ok);
    await short(toolFor(origin), get(origin));
    await short(toolFor(origin, { idempotencyHeader: "x-request-id" }), post(origin));
    await short(toolFor(origin, { idempotencyHeader: null }), post(origin));
    expect(received[0]?.headers["idempotency-key"]).toBeUndefined();
    expect(received[1]?.headers["x-request-id"]).toBe(OPERATION);
    expect(JSON.stringify(received[2]?.headers)).not.toContain(OPERATION);
  });

  it("is not made for arguments that the host does not allow", async () => {
    const { origin, received } = await target(ok);
    const tool = httpTool({
      name: "pay",
      description: "Pays",
      allow: [{ origin, methods: ["POST"], paths: ["/pay"], privateAddresses: true }],
    });
    const refused = [
      get(origin),
      { method: "POST", url: `${origin}/other` },
      { method: "POST", url: `${origin}/pay`, headers: { host: "x" } },
      { method: "POST" },
      { url: `${origin}/pay` },
      "POST",
    ];
    for (const args of refused) {
      expect(tool.fault?.(callOf(args).arguments)).toEqual(expect.any(String));
      expect(await short(tool, args)).toBe("not_applied tool_arguments_invalid");
    }
    const withBody = { method: "GET", url: `${origin}/pay`, body: 1 };
    expect(toolFor(origin).fault?.(callOf(withBody).arguments)).toBe("/body: GET has none");
    expect(received).toEqual([]);
  });

  it("is not made once the call is cancelled", async () => {
    const { origin, received } = await target(ok);
    const signal = aborted();
    expect(await short(toolFor(origin), post(origin), { signal })).toBe("not_applied cancelled");
    expect(received).toEqual([]);
  });
});

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

  it("is open when none comes in time", async () => {
    const { origin, received } = await target(() => {});
    const tool = toolFor(origin, { timeoutMs: 300 });
    expect(await short(tool, post(origin))).toBe("threw no_answer");
    expect(received).toHaveLength(1);
  });

  it("is open when its body does not end in time", async () => {
    const { origin } = await target((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write("{");
    });
    expect(await short(toolFor(origin, { timeoutMs: 300 }), post(origin))).toBe("threw no_answer");
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

describe("before anything is sent", () => {
  it("a refused connection says that nothing happened", async () => {
    const { origin, close } = await localTarget(ok);
    await close();
    expect(await short(toolFor(origin), post(origin))).toBe("not_applied connection_refused");
  });

  it("a name that is none says that nothing happened", async () => {
    const origin = "http://nothing.invalid";
    expect(await short(toolFor(origin), post(origin))).toBe("not_applied name_not_resolved");
  });

  it.each([
    ["127.0.0.1", "127.0.0.1"],
    ["localhost", "127.0.0.1"],
    ["[::ffff:127.0.0.1]", "127.0.0.1"],
  ])("%s is not reached unless the host allows private addresses", async (name, bound) => {
    const { origin, received } = await target(ok, bound);
    const named = new URL(origin.replace(bound, name)).origin;
    const allow = [{ origin: named, methods: ["POST"], paths: ["/"] }] as const;
    expect(await short(toolFor(named, { allow }), post(named))).toBe(
      "not_applied address_not_allowed",
    );
    expect(received).toEqual([]);
    expect(await short(toolFor(named), post(named))).toMatchObject({ status: 200 });
    expect(received).toHaveLength(1);
  });
});

describe("credentials", () => {
  const withKey = (origin: string, secrets: HttpToolOptions["secrets"], header = "authorization") =>
    toolFor(origin, {
      allow: [
        {
          origin,
          methods: ["POST"],
          paths: ["/"],
          privateAddresses: true,
          credentials: [{ name: "bank", header }],
        },
      ],
      ...(secrets === undefined ? {} : { secrets }),
    });

  it("go into their header, and are taken out of whatever comes back", async () => {
    const { origin, received } = await target(({ headers }, response) =>
      reply(response, 200, {
        seen: headers.authorization,
        [String(headers.authorization)]: 1,
        forms: [
          Buffer.from(SECRET).toString("base64"),
          Buffer.from(SECRET).toString("base64url"),
          encodeURIComponent(SECRET),
          `x${SECRET}y`,
        ],
      }),
    );
    const tool = withKey(origin, (name) => (name === "bank" ? SECRET : undefined));
    const got = await short(tool, post(origin));
    expect(received[0]?.headers.authorization).toBe(`Bearer ${SECRET}`);
    expect(got).toMatchObject({
      body: {
        seen: "Bearer [credential bank]",
        "Bearer [credential bank]": 1,
        forms: [
          "[credential bank]",
          "[credential bank]",
          "[credential bank]",
          "x[credential bank]y",
        ],
      },
    });
    expect(JSON.stringify(tool.definition)).not.toContain(SECRET);
  });

  it("may go into a header of their own, without a word before them", async () => {
    const { origin, received } = await target(ok);
    await short(
      withKey(origin, () => SECRET, "x-api-key"),
      post(origin),
    );
    expect(received[0]?.headers["x-api-key"]).toBe(SECRET);
    expect(received[0]?.headers.authorization).toBeUndefined();
  });

  it.each([
    ["missing", () => undefined],
    ["too short to be told from data", () => "1234567"],
    ["no header value", () => `${SECRET}\r\nx: y`],
    [
      "not to be had",
      () => {
        throw new Error(SECRET);
      },
    ],
  ])("that are %s are not sent, and nothing is", async (_, secrets) => {
    const { origin, received } = await target(ok);
    const got = await outcome(withKey(origin, secrets), post(origin));
    expect(got).toMatchObject({ kind: "not_applied", code: "credential_missing" });
    expect(JSON.stringify(got)).not.toContain(SECRET);
    expect(received).toEqual([]);
  });

  it("go to the origin that they were declared for and to no other", async () => {
    const one = await target(ok);
    const two = await target(ok);
    const allow = [
      { origin: one.origin, credentials: [{ name: "bank" }] },
      { origin: two.origin },
    ].map(
      (more) => ({ methods: ["POST"], paths: ["/"], privateAddresses: true, ...more }) as const,
    );
    const tool = toolFor(one.origin, { allow: allow as never, secrets: () => SECRET });
    await short(tool, post(one.origin));
    await short(tool, post(two.origin));
    expect(one.received[0]?.headers.authorization).toBe(`Bearer ${SECRET}`);
    expect(two.received[0]?.headers.authorization).toBeUndefined();
  });
});

describe("the probe of an HTTP tool", () => {
  const probing = (origin: string) =>
    toolFor(origin, {
      probe: { url: `${origin}/operations/{operation}`, done: [200], absent: [404] },
    });
  const call = (origin: string) => callOf(post(origin));

  it("asks for the operation's id and says what the host declared", async () => {
    let status = 200;
    const { origin, received } = await target((_, response) => reply(response, status, { n: 1 }));
    const tool = probing(origin);
    expect(await tool.probe?.(call(origin))).toEqual({
      kind: "done",
      result: { status: 200, media_type: "application/json", body: { n: 1 } },
    });
    expect(received[0]).toMatchObject({ method: "GET", url: `/operations/${OPERATION}` });
    status = 404;
    expect(await tool.probe?.(call(origin))).toEqual({ kind: "absent" });
    status = 500;
    expect(await tool.probe?.(call(origin))).toEqual({ kind: "unknown" });
  });

  it("says nothing when the target cannot be asked", async () => {
    const { origin, close } = await localTarget(ok);
    await close();
    await expect(probing(origin).probe?.(call(origin))).rejects.toThrow(/no connection/);
  });

  it("cannot be declared outside of what is allowed", () => {
    const probe = { url: "https://other.example/{operation}", done: [200], absent: [404] };
    expect(() => toolFor("https://api.example.com", { probe })).toThrow(/probe is not allowed/);
  });
});

describe("the definition of an HTTP tool", () => {
  const options: HttpToolOptions = {
    name: "pay",
    description: "Pays",
    allow: [{ origin: "https://a.example", methods: ["POST"], paths: ["/pay"] }],
  };
  const [first] = options.allow;
  const changes: readonly [string, Partial<HttpToolOptions>][] = [
    ["another path", { allow: [{ ...first!, paths: ["/"] }] }],
    ["another method", { allow: [{ ...first!, methods: ["POST", "PUT"] }] }],
    ["one more origin", { allow: [first!, { ...first!, origin: "https://b.example" }] }],
    ["private addresses", { allow: [{ ...first!, privateAddresses: true }] }],
    ["other authorities", { allow: [{ ...first!, ca: "PEM" }] }],
    ["a credential", { allow: [{ ...first!, credentials: [{ name: "k" }] }] }],
    ["another meaning", { statuses: { "2xx": "done", "500": { not_applied: "x" } } }],
    ["another media type", { mediaTypes: ["text/plain"] }],
    ["no idempotency key", { idempotencyHeader: null }],
    ["more time", { timeoutMs: 1 }],
    ["more bytes", { maxResponseBytes: 1 }],
  ];
  it.each(changes)("is another one with %s", (_, change) => {
    const before = httpTool(options).definition;
    expect(httpTool(options).definition).toEqual(before);
    expect(httpTool({ ...options, ...change }).definition).not.toEqual(before);
  });

  it.each([
    ["a status that is none", { statuses: { "99": "done" } }],
    ["a code that is none", { statuses: { "404": { refused: "not found" } } }],
    ["a type that nobody reads", { mediaTypes: ["image/png"] }],
  ] as const)("is refused with %s", (_, change) => {
    expect(() => httpTool({ ...options, ...change })).toThrow(
      expect.objectContaining({ code: "bad_tool" }),
    );
  });
});

const OPENSSL = spawnSync("openssl", ["version"]).status === 0;

describe.skipIf(!OPENSSL)("over TLS (where openssl can make certificates)", () => {
  async function secure() {
    const directory = mkdtempSync(join(tmpdir(), "rote-tls-"));
    const [key, cert] = [join(directory, "key.pem"), join(directory, "cert.pem")];
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    execFileSync(
      "openssl",
      ["req", "-x509", ...kind, ...subject, "-days", "2", "-keyout", key, "-out", cert],
      { stdio: "ignore" },
    );
    const ca = readFileSync(cert, "utf8");
    let count = 0;
    const server = createSecureServer({ key: readFileSync(key), cert: ca }, (_, response) => {
      count += 1;
      reply(response, 200, { secure: true });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    targets.push({
      close: () =>
        new Promise((resolve) => {
          rmSync(directory, { recursive: true, force: true });
          server.close(() => resolve());
          server.closeAllConnections();
        }),
    });
    const { port } = server.address() as AddressInfo;
    return { ca, port, count: () => count };
  }
  const allowing = (origin: string, ca?: string) =>
    toolFor(origin, {
      allow: [
        {
          origin,
          methods: ["POST"],
          paths: ["/"],
          privateAddresses: true,
          ...(ca === undefined ? {} : { ca }),
        },
      ],
    });

  it("a request goes to the server whose certificate the host trusts", async () => {
    const { ca, port, count } = await secure();
    const origin = `https://localhost:${port}`;
    expect(await short(allowing(origin, ca), post(origin))).toMatchObject({
      body: { secure: true },
    });
    expect(count()).toBe(1);
  });

  it("nothing is sent to a server with another certificate or another name", async () => {
    const { ca, port, count } = await secure();
    const origin = `https://localhost:${port}`;
    expect(await short(allowing(origin), post(origin))).toBe("not_applied connection_failed");
    const numbered = `https://127.0.0.1:${port}`;
    expect(await short(allowing(numbered, ca), post(numbered))).toBe(
      "not_applied connection_failed",
    );
    expect(count()).toBe(0);
  });

  it("nothing is sent to it either where the environment switches certificates off", async () => {
    const { port, count } = await secure();
    const origin = `https://localhost:${port}`;
    const before = process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    try {
      expect(await short(allowing(origin), post(origin))).toBe("not_applied connection_failed");
    } finally {
      if (before === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
      else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = before;
    }
    expect(count()).toBe(0);
  });
});

describe("a server that does not speak", () => {
  it("TLS gets nothing", async () => {
    const server = createPlainServer((socket) => {
      socket.on("error", () => {});
      socket.resume().end("HTTP/1.1 200 OK\r\n\r\n");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    targets.push({ close: () => new Promise((resolve) => server.close(() => resolve())) });
    const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await short(toolFor(origin), post(origin))).toBe("not_applied connection_failed");
  });

  it("HTTP at all leaves open what happened", async () => {
    const server = createPlainServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.end("hello\r\n\r\n"));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    targets.push({ close: () => new Promise((resolve) => server.close(() => resolve())) });
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
