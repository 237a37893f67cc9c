/** What must not be in a record, nor in anything that a run says: credentials, in whatever form they come back. */
import { afterEach, describe, expect, it } from "vitest";
import { auditBundle } from "../../../src/audit/index.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { freezeOperation } from "../../../src/host/operation.ts";
import type { Operation } from "../../../src/model/operation.ts";
import { httpTool } from "../../../src/tools/http.ts";
import { type Files, memorySource } from "../../support/audit/bundle.ts";
import { entriesIn } from "../../support/audit/forge.ts";
import { exported } from "../../support/audit/record.ts";
import { begin, hostAt, INPUTS, recipeOf } from "../../support/gate.ts";
import { madeTool, POLICY, registration, trust } from "../../support/host.ts";
import { localTarget, reply } from "../../support/tool-calls.ts";

const SECRET = "zq-58f0c2/very+secret";
const FORMS = [
  SECRET,
  Buffer.from(SECRET).toString("base64"),
  Buffer.from(SECRET).toString("base64url"),
  encodeURIComponent(SECRET),
];

let closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  closing = [];
});

const own = trust();
const OPEN = { policy: { ...POLICY, grants: ["tool:read:*", "tool:effect:*"] }, trust: own };

/** Every byte that is kept or said, with what stands in envelopes and blobs decoded too. */
function everything(files: Files, said: unknown): string {
  const texts = [...files.values()].map((bytes) => Buffer.from(bytes).toString("utf8"));
  const payloads = texts.join("\n").matchAll(/"payload":"([^"]+)"/gu);
  const decoded = [...payloads].map(([, text = ""]) =>
    Buffer.from(text, "base64").toString("utf8"),
  );
  return [...texts, ...decoded, JSON.stringify(said)].join("\n");
}

function step(kind: "read" | "effect", tool: string, args: JsonValue) {
  const effect = kind === "effect" ? { key: "invoice-7" } : {};
  const value = { op: "literal", value: args, type: "json" };
  return recipeOf([
    { id: "known", step: { kind: "verify", condition: true, value: true } },
    {
      id: "call",
      after: ["known"],
      output: "json",
      step: { kind, tool, arguments: value, ...effect },
    },
  ]);
}

describe("a credential that a target gives back (B119)", () => {
  async function played(kind: "read" | "effect", answer: Parameters<typeof localTarget>[0]) {
    const target = await localTarget(answer);
    closing.push(target.close);
    const tool = httpTool({
      name: "search.find",
      description: "Finds",
      allow: [
        {
          origin: target.origin,
          methods: ["POST"],
          paths: ["/"],
          privateAddresses: true,
          credentials: [{ name: "search" }],
        },
      ],
      secrets: () => SECRET,
    });
    const host = await hostAt(null, { tools: [registration({ tool }, kind)] }, OPEN);
    closing.push(() => host.close());
    const args = { method: "POST", url: `${target.origin}/`, body: { q: "x" } };
    const { run } = await begin(host, step(kind, "search.find", args), INPUTS);
    return { run, files: await exported(host), received: target.received };
  }

  it("is replaced by its name in journal, receipts, blobs and report, in every form, and digests hold", async () => {
    const { run, files, received } = await played("read", ({ headers }, response) =>
      reply(response, 200, {
        echo: headers.authorization,
        quoted: `bad key '${SECRET}'`,
        forms: FORMS,
        [SECRET]: "as a name",
        long: `${"x".repeat(70_000)}${SECRET}`,
      }),
    );
    expect(received[0]?.headers.authorization).toBe(`Bearer ${SECRET}`);
    expect(run.state).toBe("verified");
    const all = everything(files, [run.report, run.result, run.receipts]);
    for (const form of FORMS) expect(all).not.toContain(form);
    expect(all).toContain("[credential search]");
    const report = await auditBundle(memorySource(files), { trust: own });
    expect(report.findings).toEqual([]);
    const admitted = entriesIn(files).find(({ type }) => type === "admitted");
    const { operation, digest } = (admitted?.body ?? {}) as unknown as {
      operation: Operation;
      digest: string;
    };
    expect(freezeOperation(operation).digest).toBe(digest);
  });

  it.each<[string, "read" | "effect", number]>([
    ["a refusal", "effect", 403],
    ["a fault of the target", "effect", 500],
    ["a read that fails", "read", 500],
  ])("is not in %s", async (_, kind, status) => {
    const { run, files, received } = await played(kind, ({ headers }, response) =>
      reply(response, status, { error: `key ${SECRET} of ${headers.authorization}`, forms: FORMS }),
    );
    expect(received.length).toBeGreaterThan(0);
    expect(run.state).not.toBe("verified");
    const all = everything(files, [run.report, run.result ?? null]);
    for (const form of FORMS) expect(all).not.toContain(form);
  });
});

describe("what an application's own tool throws (B120)", () => {
  class RequestError extends Error {
    readonly config = {
      url: `https://api.example/find?key=${SECRET}`,
      headers: { Authorization: `Bearer ${SECRET}` },
    };
    readonly response = { data: { apiKey: SECRET } };
  }

  it.each<["read" | "effect", string]>([
    ["read", "failed"],
    ["effect", "uncertain"],
  ])(
    "by a %s is told by code and short message: no headers, no address, no cause",
    async (kind, state) => {
      const cause = new Error(`connect with ${SECRET}`);
      const made = madeTool("search.find", () => {
        throw new RequestError("Request failed with status code 401", { cause });
      });
      const host = await hostAt(null, { tools: [registration(made, kind)] }, OPEN);
      closing.push(() => host.close());
      const { run } = await begin(host, step(kind, "search.find", {}), INPUTS);
      expect(run.state).toBe(state);
      expect(made.calls.length).toBeGreaterThan(0);
      const all = everything(await exported(host), [run.report, run.result ?? null]);
      for (const form of FORMS) expect(all).not.toContain(form);
      expect(all).not.toContain("api.example");
      expect(all).toContain("status code 401");
    },
  );

  it("is cut to a bounded length, and shows nothing of a stack", async () => {
    const made = madeTool("search.find", () => {
      throw new Error(`${"long ".repeat(10_000)}end`);
    });
    const host = await hostAt(null, { tools: [registration(made, "read")] }, OPEN);
    closing.push(() => host.close());
    const { run } = await begin(host, step("read", "search.find", {}), INPUTS);
    expect((run.report.failure?.message ?? "").length).toBeLessThanOrEqual(500);
    const all = everything(await exported(host), run.report);
    expect(all).not.toContain("long end");
    expect(all).not.toMatch(/\bat .*\.ts:\d+/u);
  });
});
