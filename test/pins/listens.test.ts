import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const SOURCE = fileURLToPath(new URL("../../src", import.meta.url));

it("nothing here waits for connections, so that no web page can drive it (B117)", () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((file) =>
    /\.m?[jt]s$/u.test(file),
  );
  expect(files.length).toBeGreaterThan(200);
  const listening = files.filter((file) =>
    /\bcreateServer\b|\.listen\(|\bnew (?:WebSocket)?Server\b/u.test(
      readFileSync(join(SOURCE, file), "utf8"),
    ),
  );
  expect(listening).toEqual([]);
});
