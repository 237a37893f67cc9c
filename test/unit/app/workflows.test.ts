import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadHostModule } from "../../../src/app/host-module.ts";
import { loadKey } from "../../../src/app/key-file.ts";
import { publicKeyText, readTrust } from "../../../src/app/keys.ts";
import { Procedure } from "../../../src/app/procedure.ts";
import { shippedDocuments } from "../../../src/app/workflows/folder.ts";
import { prepareWorkflows } from "../../../src/app/workflows/prepare-workflows.ts";
import { readJson } from "../../../src/base/json.ts";
import { EMPTY_ENVIRONMENT } from "../../../src/compile/index.ts";
import { WORKFLOWS } from "../../../src/model/workflows.ts";
import { directories } from "../../support/directories.ts";
import { refusal } from "../../support/gate.ts";
import { KEYS } from "../../support/host.ts";
import { readRecipe, readVerifier } from "../../support/recipes.ts";
import { hostIn, PREPARING } from "../../support/workflows.ts";

const made = directories();
afterAll(made.remove);

describe("a prepared folder", () => {
  let folder: string;
  beforeAll(() => {
    folder = made.fresh();
    prepareWorkflows(folder, PREPARING);
  });

  it("is its owner's alone, with all that is in it", () => {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    expect(entries.length).toBeGreaterThan(30);
    for (const place of [
      folder,
      ...entries.map(({ parentPath, name }) => join(parentPath, name)),
    ]) {
      const { mode } = statSync(place);
      expect([place, mode & 0o077]).toEqual([place, 0]);
    }
  });

  it("has the shipped documents of all workflows, each registered with its digest", () => {
    const count = WORKFLOWS.flatMap(shippedDocuments).length;
    const { engagements, evidence } = JSON.parse(
      readFileSync(join(folder, "sources.json"), "utf8"),
    ) as { readonly [kind: string]: readonly { readonly sha256?: string }[] };
    const listed = [...(engagements ?? []), ...(evidence ?? [])];
    expect(listed).toHaveLength(count);
    expect(listed.every(({ sha256 }) => /^[0-9a-f]{64}$/.test(sha256 ?? ""))).toBe(true);
  });

  it("has keys of its own, and of those who approve only the public ones", () => {
    const other = made.fresh();
    prepareWorkflows(other, PREPARING);
    const keysOf = (place: string) => {
      const read = readJson(readFileSync(join(place, "trust.json")));
      if (!read.ok) throw new Error(read.error.message);
      return readTrust(read.value).document.keys;
    };
    const alice = publicKeyText(KEYS.alice);
    for (const { public: text, role } of keysOf(folder)) {
      const shared = keysOf(other).some((one) => one.public === text);
      expect([role, shared]).toEqual([role, text === alice]);
    }
    expect(readdirSync(join(folder, "keys")).toSorted()).toEqual([
      "host-passphrase",
      "journal.key",
      "receipt.key",
      "root.key",
      "tool-reviewer.key",
    ]);
    expect(() => loadKey(join(folder, "keys", "root.key"), "another passphrase")).toThrow();
    expect(loadKey(join(folder, "keys", "root.key"), PREPARING.passphrase)).toBeDefined();
  });

  it.each(WORKFLOWS)("opens as a host that %s can be bound to", async (workflow) => {
    const at = await hostIn(folder);
    const { plan } = new Procedure(readRecipe(workflow), { verifier: readVerifier(workflow) });
    expect(at.host.environment(plan).evidence).toMatch(/^[0-9a-f]{64}$/);
    await at.close();
  });
});

describe("evidence of the host", () => {
  it("is part of the environment as registered, unless the application leaves it out", async () => {
    const folder = made.fresh();
    prepareWorkflows(folder, { ...PREPARING, documents: ["recalculation"] });
    const { plan } = new Procedure(readRecipe("recalculation"), {
      verifier: readVerifier("recalculation"),
    });
    const evidenceAt = async (change?: Parameters<typeof hostIn>[1]) => {
      const at = await hostIn(folder, change);
      const { evidence } = at.host.environment(plan);
      await at.close();
      return evidence;
    };
    const leftOut: Parameters<typeof hostIn>[1] = ({ evidence: _, ...others }) => others;
    const [pinned, open] = [await evidenceAt(), await evidenceAt(leftOut)];
    const file = join(folder, "sources.json");
    const sources = JSON.parse(readFileSync(file, "utf8")) as { engagements: unknown[] };
    sources.engagements.pop();
    writeFileSync(file, JSON.stringify(sources));
    expect(await evidenceAt()).not.toBe(pinned);
    expect(await evidenceAt(leftOut)).toBe(open);
    expect(open).toBe(EMPTY_ENVIRONMENT.evidence);
  });
});

describe("preparing a folder", () => {
  it("touches nothing that is there already", async () => {
    const folder = made.fresh();
    mkdirSync(folder);
    writeFileSync(join(folder, "mine.txt"), "mine");
    expect(await refusal((async () => prepareWorkflows(folder, PREPARING))())).toBe("file_exists");
    expect(readdirSync(folder)).toEqual(["mine.txt"]);
  });

  it("wants a passphrase that is not guessed at once, and public keys that are some", async () => {
    const folder = made.fresh();
    const preparing = async (change: object) =>
      prepareWorkflows(folder, { ...PREPARING, ...change });
    expect(await refusal(preparing({ passphrase: "short" }))).toBe("bad_passphrase");
    const approvers = [{ name: "alice", public: "AAAA" }];
    expect(await refusal(preparing({ approvers }))).toBe("bad_key");
    expect(existsSync(folder)).toBe(false);
  });
});

describe("the module of a folder", () => {
  const opened = (folder: string) => loadHostModule(join(folder, "host.mjs"));
  const prepared = () => {
    const folder = made.fresh();
    prepareWorkflows(folder, { ...PREPARING, documents: [] });
    return folder;
  };

  it.each([
    ["policy.json", "not json"],
    ["sources.json", "{"],
    ["reviews.json", "["],
    ["trust.json", "["],
  ])("names the file that is no JSON: %s with %s", async (name, text) => {
    const folder = prepared();
    writeFileSync(join(folder, name), text);
    await expect(opened(folder)).rejects.toMatchObject({
      code: "host_not_loaded",
      message: expect.stringContaining(`${name} is no JSON`),
    });
  });

  it("names the policy that is none, and the source whose file is not there", async () => {
    const folder = prepared();
    writeFileSync(join(folder, "policy.json"), "{}");
    await expect(hostIn(folder)).rejects.toMatchObject({
      code: "host_invalid",
      message: expect.stringContaining("policy"),
    });
    const other = prepared();
    const evidence = [{ source: "ledger", file: "documents/ledger.jsonl", id: "id" }];
    writeFileSync(join(other, "sources.json"), JSON.stringify({ engagements: [], evidence }));
    await expect(opened(other)).rejects.toMatchObject({
      code: "bad_source",
      message: `the source "ledger" has no file: ${join(other, "documents/ledger.jsonl")} is not there`,
    });
  });

  it("takes a document by its name as it is written, whatever signs are in it", async () => {
    const folder = prepared();
    writeFileSync(join(folder, "documents", "invoice"), '{"id": "another"}');
    writeFileSync(join(folder, "documents", "invoice#1, 50%25.json"), '{"id": "meant"}');
    const meant = { source: "meant", file: "documents/invoice#1, 50%25.json" };
    const sources = { engagements: [meant], evidence: [] };
    writeFileSync(join(folder, "sources.json"), JSON.stringify(sources));
    const { options, close } = await opened(folder);
    const { tool } = options.tools[0] ?? {};
    const args = { source: "meant", record: "" };
    const signal = new AbortController().signal;
    expect(await tool?.call({ arguments: args, signal, operationId: "one" })).toMatchObject({
      kind: "done",
      result: { json: { id: "meant" } },
    });
    await close();
  });

  it("leaves a tool that nobody reviewed without a review, and does not open without the host's keys", async () => {
    const folder = prepared();
    writeFileSync(join(folder, "reviews.json"), "[]");
    const { options, close } = await opened(folder);
    expect(options.tools.map(({ review }) => review)).toEqual([null, null, null, null]);
    await close();
    rmSync(join(folder, "keys", "journal.key"));
    await expect(opened(folder)).rejects.toMatchObject({ code: "file_not_found" });
  });

  it("says in the open what is in force: who acts, for what, with which tools and budget", async () => {
    const folder = prepared();
    const text = readFileSync(join(folder, "host.mjs"), "utf8");
    const { options, close } = await opened(folder);
    expect(text).toContain(`origin: "${PREPARING.origin}"`);
    expect(options).toMatchObject({
      directory: join(folder, "store"),
      origin: PREPARING.origin,
      identity: { name: "workflow-runner" },
      warrant: null,
      policy: { profile: "standard", approvable: ["evidence:read:engagement"] },
      budget: { run: { effects: 100, operations: 500 } },
    });
    expect(options.tools.map(({ tool }) => tool.definition.name)).toEqual([
      "engagement.read",
      "evidence.read",
      "workpaper.read",
      "workpaper.append",
    ]);
    expect(text.split("\n").every((line) => line.length <= 130)).toBe(true);
    await close();
  });
});
