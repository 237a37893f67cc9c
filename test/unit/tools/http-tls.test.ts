import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { reply, short } from "../../support/tool-calls.ts";
import { localTargets, post, toolFor } from "./http-targets.ts";

const { closing, closeTargets } = localTargets();
afterEach(closeTargets);

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
    closing(
      () =>
        new Promise((resolve) => {
          rmSync(directory, { recursive: true, force: true });
          server.close(() => resolve());
          server.closeAllConnections();
        }),
    );
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
