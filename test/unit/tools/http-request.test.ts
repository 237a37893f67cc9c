import { afterEach, describe, expect, it } from "vitest";
import { type HttpToolOptions, httpTool } from "../../../src/tools/http.ts";
import type { StatusMeaning } from "../../../src/tools/http-answer.ts";
import { aborted, callOf, localTarget, OPERATION, reply, short } from "../../support/tool-calls.ts";
import { get, localTargets, ok, post, toolFor } from "./http-targets.ts";

const { target, closeTargets } = localTargets();
afterEach(closeTargets);

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
