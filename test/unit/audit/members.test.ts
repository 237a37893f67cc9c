/**
 * What stands on the journal's word alone: what somebody with the journal's and the receipt key can change, one member
 * at a time, without being found. Everything else is said twice, signed by somebody else, or computed.
 */
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/base/json.ts";
import { readPointer } from "../../../src/base/pointer.ts";
import { CHAT_STOPS, PROVIDER_FAULTS } from "../../../src/model/chat.ts";
import { balance, call, calls, pay, runtimeOf, say, script } from "../../support/agent.ts";
import { recorded } from "../../support/audit/agents.ts";
import { changedAt, entriesIn, forged, type Json, leavesOf } from "../../support/audit/forge.ts";
import { audit, codesOf, paidTwice, type Recorded } from "../../support/audit/record.ts";
import { KEYS } from "../../support/host.ts";

const FAULTS = Object.keys(PROVIDER_FAULTS);

/** Another value of the same form, so that only what it says is wrong. */
function another(value: JsonValue): JsonValue {
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  if (typeof value !== "string") return value === null ? "0" : [value];
  for (const known of [CHAT_STOPS, FAULTS] as readonly (readonly string[])[]) {
    if (known.includes(value)) return known[(known.indexOf(value) + 1) % known.length] ?? value;
  }
  const digit = value.search(/[0-9a-f](?=[^0-9a-f]*$)/u);
  if (digit < 0) return `${value}x`;
  const now = value[digit] === "0" ? "1" : "0";
  return value.slice(0, digit) + now + value.slice(digit + 1);
}

/** As `type/member`, each that can be another one without a finding. */
async function unseenIn(of: Recorded): Promise<{ unseen: ReadonlySet<string>; tried: number }> {
  const entries = entriesIn(of.files);
  const unseen = new Set<string>();
  let tried = 0;
  for (const [at, entry] of entries.entries()) {
    for (const pointer of leavesOf(entry.body)) {
      const value = readPointer(entry.body, pointer.slice(1).split("/"));
      if (value === undefined) continue;
      tried += 1;
      const body = changedAt(entry.body, pointer, another(value)) as Json;
      const changed = entries.map((one, index) => (index === at ? { ...one, body } : one));
      // An envelope that is another one is not signed anew.
      const keys = pointer.startsWith("/envelope") ? {} : { receipt: KEYS.receipt };
      const report = await audit({ ...of, files: forged(of.files, changed, keys) });
      if (codesOf(report).length === 0) unseen.add(`${entry.type}${pointer}`);
    }
  }
  return { unseen, tried };
}

/** docs/formats.md, section 12, lists the same. */
const ON_ITS_WORD: readonly RegExp[] = [
  /^run_started\/(identity|intent|inputs.*|limits.*|mode|models|qualification|recipe|semantics)$/u,
  /^run_resumed\/owner$/u,
  /^approval_requested\/(node|host_seq|replaces)$/u,
  /^admitted\/(ms|permissions\/\d+)$/u,
  /^run_ended\/(ms|result|stopped)$/u,
  /^trust\/before$/u,
  /^agent_started\/(identity|intent|limits\/.*|markers|model\/.*|tools\/\d+\/(poll|key.*))$/u,
  /^agent_(asked|replied|unanswered|marked|paused)\/ms$/u,
  /^agent_replied\/(stop|response\/.*|usage\/.*)$/u,
  /^agent_unanswered\/(kind|message|retry|retry_after_ms)$/u,
  /^agent_marked\/marker$/u,
];

function unlisted(unseen: ReadonlySet<string>): readonly string[] {
  return [...unseen].filter((name) => !ON_ITS_WORD.some((word) => word.test(name)));
}

const USED = { input_tokens: 30, output_tokens: 20 };
const turn = (line: JsonValue, more: object = {}) =>
  ({ ...(line as object), usage: USED, ...more }) as JsonValue;

describe("each member of each entry is found when it says something else, but for what is on the journal's word", () => {
  it("in a run of a recipe", async () => {
    const { unseen, tried } = await unseenIn(await paidTwice());
    expect(tried).toBeGreaterThan(150);
    expect(unlisted(unseen)).toEqual([]);
  });

  it("in a run of an agent: what its model was asked and said, and what came of its calls", async () => {
    const of = await recorded(
      [
        turn(calls(balance(1), balance(2))),
        turn(pay(1)),
        turn(call("bank.pay", "no json")),
        turn(call("bank.rob", {}), { fail: [{ kind: "rate_limited" }] }),
        turn(call("bank.balance", [])),
        turn(say("Done.")),
      ],
      {
        limits: { consecutive_errors: 9 },
        options: { instructions: "be brief", polls: ["bank.balance"] },
        after: async (host, parent) => {
          await runtimeOf(host, script(calls(balance(3)), say("Seen."))).run("help", { parent });
        },
      },
    );
    const { unseen, tried } = await unseenIn(of);
    expect(tried).toBeGreaterThan(250);
    expect(unlisted(unseen)).toEqual([]);
  });
});

describe("what an agent's model was asked with", () => {
  it("is made anew also from what is kept beside the record: goals, replies and results that are long", async () => {
    const long = "x".repeat(20_000);
    const of = await recorded(
      [turn(pay(1)), turn(calls(balance(1)), { say: long }), turn(say("Done."))],
      {
        pay: async () => ({ kind: "done", result: { long } }),
        options: { instructions: long },
      },
    );
    expect(codesOf(await audit(of))).toEqual([]);
    for (const step of [1, 2, 3]) {
      const changed = entriesIn(of.files).map((entry) =>
        entry.type === "agent_asked" && entry.body["step"] === step
          ? { ...entry, body: { ...entry.body, request: `sha256:${"0".repeat(64)}` } }
          : entry,
      );
      const files = forged(of.files, changed, { receipt: KEYS.receipt });
      expect(codesOf(await audit({ ...of, files }))).toEqual(["agent_request_differs"]);
    }
  });
});
