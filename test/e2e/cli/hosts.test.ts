import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HostFolder } from "./host-folder.ts";

let folder: HostFolder;
beforeEach(() => {
  folder = new HostFolder();
});
afterEach(() => folder.remove());

const list = (file: string) => folder.json("runs", "list", "--host", file);

describe("the module of a host", () => {
  it.each([
    ["none.mjs", null, "file_not_found", /does not exist/],
    ["throws.mjs", "throw new Error('no database');", "host_not_loaded", /no database/],
    ["syntax.mjs", "export const host = {", "host_not_loaded", /cannot be loaded/],
    ["imports.mjs", "import 'not-there';", "host_not_loaded", /not-there/],
    ["empty.mjs", "export const other = 1;", "host_not_loaded", /neither `host` nor a default/],
    ["wrong.mjs", "export default { directory: 1 };", "host_not_loaded", /has not the members/],
    [
      "rejects.mjs",
      "export default async () => { throw new Error('vault is sealed'); };",
      "host_not_loaded",
      /vault is sealed/,
    ],
  ])("%s is told for what it is", async (file, text, code, message) => {
    if (text !== null) folder.write(file, text);
    const document = await list(file);
    expect(document).toMatchObject({ exit_code: 1, error: { code } });
    expect(document.error.message).toMatch(message);
  });

  it("may be anything that gives the options: a value, a function, a promise, by name or by default", async () => {
    const host = folder.read("host.mjs");
    folder.write(
      "value.mjs",
      `${host.replace("export const host", "const made")}\nexport const host = made();`,
    );
    folder.write("default.mjs", host.replace("export const host =", "export default"));
    folder.write("async.mjs", host.replace("= () =>", "= async () =>"));
    for (const file of ["value.mjs", "default.mjs", "async.mjs"]) {
      expect(await list(file)).toMatchObject({ exit_code: 0, runs: [] });
    }
  });

  it("is asked to close what it opened, whatever came of the command", async () => {
    const closing = `\nimport { writeFileSync } from "node:fs";\nexport const close = () => writeFileSync(join(folder, "closed"), "");`;
    folder.write("closing.mjs", folder.read("host.mjs") + closing);
    const unknown = await folder.json("runs", "show", "run-0", "--host", "closing.mjs");
    expect(unknown).toMatchObject({ exit_code: 1, error: { code: "unknown_run" } });
    expect(folder.read("closed")).toBe("");
  });

  it("whose options are not valid says which", async () => {
    const host = folder.read("host.mjs");
    folder.write("policy.mjs", host.replace('"profile":"standard"', '"profile":"king"'));
    const policy = await list("policy.mjs");
    expect(policy).toMatchObject({ exit_code: 1, error: { code: "host_invalid" } });
    expect(policy.error.message).toContain("policy");
    folder.write("trust.json", { payload: "", payloadType: "", signatures: [] });
    expect(await list("host.mjs")).toMatchObject({
      exit_code: 4,
      error: { code: "trust_refused" },
    });
  });

  it("with a journal in its own process only says that nobody else can answer", async () => {
    const host = folder.read("host.mjs").replace('join(folder, "store")', "null");
    folder.write("memory.mjs", host);
    const words = ["run", "recipe.json", "--host", "memory.mjs", "--input", "account=7"];
    const { code, stdout } = await folder.rote(...words);
    expect(code).toBe(8);
    expect(stdout).toContain("nobody else can answer");
    const listed = await folder.json("approvals", "list", "--host", "memory.mjs");
    expect(listed).toMatchObject({ exit_code: 1, error: { code: "store_missing" } });
  });
});

describe("options that cannot be meant together are refused before anything starts", () => {
  it.each([
    ["run recipe.json --host host.mjs --memory m --input account=7"],
    ["run recipe.json --host host.mjs --environment e.json --input account=7"],
    ["run recipe.json --wait --input account=7"],
    ["run recipe.json --once x --input account=7"],
    ["run recipe.json --host host.mjs --once x --inputs days.jsonl"],
    ["run recipe.json --host host.mjs --wait --inputs days.jsonl"],
    ["runs list"],
    ["runs list --host host.mjs --limit many"],
    ["runs reconcile run-0 --host host.mjs --found done"],
    ["memory observe run-0 --host host.mjs"],
    ["memory status ./store recipe.json --host host.mjs"],
    ["memory qualify"],
    ["approvals approve x --store store --trust trust.json --as alice"],
    ["approvals list --store store --trust trust.json --host host.mjs"],
    ["keys enrol trust.json --origin x --root root.key"],
    ["keys rotate trust.json --old x --root root.key"],
    ["keys revoke trust.json --key x --root root.key"],
  ])("%s", async (line) => {
    folder.write("days.jsonl", '{"account":"1"}\n');
    folder.write("e.json", {});
    const document = await folder.json(...line.split(" "));
    expect(document).toMatchObject({ exit_code: 2, error: { code: "bad_usage" } });
  });
});
