/** Records of agents that begin others, written anew as in `agents.test.ts`, and of agents whose time or words are gone. */
import { beforeAll, describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { pointer } from "../../../src/base/pointer.ts";
import { balance, calls, pay, runtimeOf, say, script } from "../../support/agent.ts";
import { type Change, found, recorded } from "../../support/audit/agents.ts";
import { changedAt, entriesIn, type Json, withFile } from "../../support/audit/forge.ts";
import { audit, codesOf, type Recorded } from "../../support/audit/record.ts";

const reading = (account: number) => calls(balance(account));

describe("an agent's record that hides whose family it is of", () => {
  let family: Recorded;
  beforeAll(async () => {
    family = await recorded([reading(1), say("Done.")], {
      after: async (host, parent) => {
        const limits = { max_steps: 1 };
        await runtimeOf(host, script(reading(2), reading(3))).run("help", { parent, limits });
      },
    });
  });
  const ofChild =
    (at: string, value: JsonValue): Change =>
    (entry) =>
      entry.type === "agent_started" && entry.body["parent"] !== null
        ? { ...entry, body: changedAt(entry.body, at, value) as Json }
        : entry;

  it.each([
    ["no first run", pointer("root"), null],
    ["no parent", "/parent", null],
    ["another parent", "/parent", `run-${"0".repeat(32)}`],
    ["another first run", pointer("root", "run"), `run-${"0".repeat(32)}`],
    ["higher limits of the first run", pointer("root", "limits", "max_steps"), 1_000],
    ["more than its family has", "/limits/parallel_calls", 9],
  ])("is found: %s", async (_, at, value) => {
    expect(await found(family, ofChild("/markers", false))).toEqual([]);
    expect(await found(family, ofChild(at, value))).toEqual(["agent_family_differs"]);
  });

  it("is found where it gives a limit of tokens for its end, and none of them has one", async () => {
    const told: Change = (entry) => {
      if (entry.body["reason"] !== "max_steps") return entry;
      const reason = "token_budget_exceeded";
      const failure = { reason, node: null, message: "x" };
      return { ...entry, body: { ...entry.body, reason, failure } };
    };
    expect(await found(family, told)).toEqual(["agent_end_unsupported"]);
  });
});

describe("an agent's record whose time goes back", () => {
  it.each(["agent_asked", "agent_replied", "admitted", "run_ended"])(
    "is found at %s",
    async (type) => {
      const of = await recorded([pay(1), say("Paid.")]);
      const late =
        (from: number): Change =>
        (entry) =>
          typeof entry.body["ms"] === "number" && Number(entry.body["ms"]) < 9_000
            ? { ...entry, body: { ...entry.body, ms: Number(entry.body["ms"]) + from } }
            : entry;
      const last = entriesIn(of.files).findLastIndex((entry) => entry.type === type);
      expect(await found(of, late(10))).toEqual([]);
      const change: Change = (entry, at) => (at === last ? entry : late(1000)(entry, at));
      expect(await found(of, change)).toContain("agent_turn_differs");
    },
  );
});

describe("an agent's record of which something is missing", () => {
  it("is found by what is missing alone", async () => {
    const long = { ...(reading(1) as object), say: "x".repeat(100_000) } as JsonValue;
    const of = await recorded([long, calls(balance(2), balance(3)), reading(4)], {
      limits: { max_tool_calls: 3 },
    });
    expect(entriesIn(of.files).at(-1)?.body["reason"]).toBe("max_steps");
    const blob = entriesIn(of.files).find(({ body }) => body["said_blob"] !== undefined)?.body[
      "said_blob"
    ];
    const files = withFile(of.files, `blobs/sha256/${String(blob)}`, null);
    expect(codesOf(await audit({ ...of, files }))).toEqual(["blob_missing"]);
  });
});
