import { describe, expect, it } from "vitest";
import { canonicalText } from "../../../src/base/canonical.ts";
import { type McpServer, placeOf } from "../../../src/tools/mcp-transport.ts";

const CREDENTIALS = [{ name: "ledger", variable: "TOKEN" }];
const PROCESSES: readonly McpServer[] = [
  { command: "ledger" },
  { command: "ledger2" },
  { command: "ledger", args: ["--book", "B"] },
  { command: "ledger", cwd: "/books/b" },
  { command: "ledger", env: { BOOK: "B" } },
  { command: "ledger", credentials: CREDENTIALS },
  { command: "ledger", credentials: [{ name: "ledger", variable: "KEY" }] },
];
const URL = "https://ledger.example/mcp";
const ENDPOINTS: readonly McpServer[] = [
  { url: URL },
  { url: `${URL}/b` },
  { url: URL, privateAddresses: true },
  { url: URL, ca: "a certificate" },
  { url: URL, credentials: [{ name: "ledger" }] },
  { url: URL, credentials: [{ name: "other" }] },
  { url: URL, credentials: [{ name: "ledger", header: "x-token" }] },
  { url: URL, credentials: [{ name: "ledger", scheme: "Basic" }] },
];

describe("what stands behind a server", () => {
  it("differs with everything that says which one is meant (B016, B070)", () => {
    const servers = [...PROCESSES, ...ENDPOINTS];
    const places = new Set(servers.map((server) => canonicalText(placeOf(server))));
    expect(places.size).toBe(servers.length);
  });

  it("is the same however the same is written", () => {
    expect(placeOf({ command: "ledger", args: [], env: {}, credentials: [] })).toEqual(
      placeOf({ command: "ledger" }),
    );
    expect(placeOf({ url: URL, privateAddresses: false, credentials: [] })).toEqual(
      placeOf({ url: URL }),
    );
  });
});
