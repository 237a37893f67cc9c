import { afterEach, describe, expect, it } from "vitest";
import type { HttpToolOptions } from "../../../src/tools/http.ts";
import { outcome, reply, short } from "../../support/tool-calls.ts";
import { localTargets, ok, post, toolFor } from "./http-targets.ts";

const SECRET = "s3cret/+value==";
const { target, closeTargets } = localTargets();
afterEach(closeTargets);

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
