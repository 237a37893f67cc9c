/** Records of agents, written anew as in `agents.test.ts`, in which something was done that the model did not ask for. */
import { describe, expect, it } from "vitest";
import { frozen } from "../../../src/audit/operation.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import type { Operation } from "../../../src/model/operation.ts";
import { ASKS, balance, calls, pay, say } from "../../support/agent.ts";
import { type Change, found, inBody, recorded, reject } from "../../support/audit/agents.ts";
import {
  entriesIn,
  forged,
  type Json,
  type Loose,
  statementIn,
  withStatement,
} from "../../support/audit/forge.ts";
import { audit, codesOf } from "../../support/audit/record.ts";
import { KEYS } from "../../support/host.ts";

const reading = (account: number) => calls(balance(account));

describe("an operation of an agent's record that is not a call of its model", () => {
  /** What the model said first, in other words. */
  const saying =
    (from: string, to: string): Change =>
    (entry) => {
      if (entry.type !== "agent_replied" || entry.body["step"] !== 1) return entry;
      const text = JSON.stringify(entry.body["said"]).replace(from, to);
      return { ...entry, body: { ...entry.body, said: JSON.parse(text) as JsonValue } };
    };
  const otherAmount = saying('\\"amount\\":\\"1\\"', '\\"amount\\":\\"2\\"');

  it("is found: admitted, shown for approval, or refused with other arguments", async () => {
    const admitted = await recorded([pay(1), say("Paid.")]);
    const shown = await recorded([pay(1)], { policy: ASKS });
    const refused = await recorded([pay(1)], { policy: { deny: ["tool:effect:bank.pay"] } });
    const rejected = await recorded([pay(1)], { policy: ASKS, after: reject });
    for (const of of [admitted, shown, refused, rejected]) {
      expect(await found(of, saying("nothing", "else"))).toEqual([]);
      expect(await found(of, otherAmount)).toEqual(["call_unasked"]);
    }
  });

  it("is found: refused as another tool", async () => {
    const refused = await recorded([pay(1)], { policy: { deny: ["tool:effect:bank.pay"] } });
    expect(await found(refused, saying('"bank.pay"', '"bank.balance"'))).toEqual(["call_unasked"]);
  });

  it("is not found where only the spelling is another", async () => {
    const of = await recorded([pay(1), say("Paid.")]);
    expect(await found(of, saying('{\\"account\\"', '{ \\"account\\"'))).toEqual([]);
  });

  it("is found: made without a call that asks for it, and out of a reply that was cut off", async () => {
    const two = calls(balance(1), ["bank.pay", { account: "7", amount: "1", currency: "EUR" }]);
    const of = await recorded([two, say("Paid.")]);
    const dropped: Change = (entry) => {
      const said = entry.body["said"] as { readonly calls?: readonly JsonValue[] } | undefined;
      if (said?.calls?.length !== 2) return entry;
      return {
        ...entry,
        body: { ...entry.body, said: { ...said, calls: said.calls.slice(0, 1) } as Json },
      };
    };
    expect(await found(of, dropped)).toEqual(["call_unasked"]);
    const cut = inBody("agent_replied", "/stop", ({ stop }) =>
      stop === "calls" ? "length" : "end",
    );
    expect(await found(of, cut)).toContain("call_unasked");
  });

  it.each([
    ["read", [reading(1), say("Done.")]],
    ["effect", [pay(1), say("Paid.")]],
  ] as const)("is found: a %s that was made twice for one call", async (_, lines) => {
    const of = await recorded(lines);
    const seqs = entriesIn(of.files);
    const admission = seqs.find(({ type }) => type === "admitted");
    if (admission === undefined) throw new Error("nothing was admitted");
    const operation = { ...(admission.body["operation"] as Json & Operation), attempt: 2 };
    const { digest } = frozen(operation as Json & Operation);
    const twice: Change = (entry) => {
      if (entry.type !== "receipt") return entry;
      const admitted = {
        ...admission,
        time: entry.time,
        body: { ...admission.body, operation: operation as Json, digest },
      };
      const statement = statementIn(entry.body);
      const [about, ...rest] = statement["subject"] as readonly Json[];
      const predicate = statement["predicate"] as Json;
      const seq = Number((predicate["admission"] as Json)["seq"]) + 2;
      const second = withStatement({ ...entry.body, operation: digest, admission: seq }, {
        ...statement,
        subject: [{ ...about, digest: { sha256: digest.slice("sha256:".length) } }, ...rest],
        predicate: {
          ...predicate,
          attempt: 2,
          admission: { ...(predicate["admission"] as Json), seq },
        },
      } as JsonValue);
      return [entry, admitted, { ...entry, body: second }];
    };
    expect(await found(of, twice)).toEqual(["call_repeated"]);
  });

  it("is found: a turn that did not wait for a call of the turn before, or went on without it", async () => {
    const of = await recorded([reading(1), say("Done.")]);
    const never: Change = (entry) => (["admitted", "receipt"].includes(entry.type) ? [] : entry);
    // What only the call had named is named by nothing.
    expect(await found(of, never)).toEqual(["agent_turn_differs", "file_unknown"]);
    const entries = entriesIn(of.files);
    const at = entries.findIndex(({ type }) => type === "receipt");
    const receipt = entries[at];
    if (receipt === undefined) throw new Error("nothing was done");
    const late: Change = (entry, place) =>
      place === at ? [] : place === at + 1 ? [entry, { ...receipt, time: entry.time }] : entry;
    expect(await found(of, late)).toEqual(["agent_turn_differs"]);
  });

  it("is found: calls that did not wait for those in front of them", async () => {
    const two = calls(balance(1), ["bank.pay", { account: "7", amount: "1", currency: "EUR" }]);
    const of = await recorded([two, say("Paid.")]);
    const entries = entriesIn(of.files);
    const at = entries.findIndex(({ type }) => type === "admitted");
    const [first, second] = [entries.slice(at, at + 2), entries.slice(at + 2, at + 4)];
    const [before = 0, behind = 0] = [first, second].map(([admission]) => admission?.seq ?? 0);
    const swapped = [...second.map(naming(before)), ...first.map(naming(behind))];
    const loose: readonly Loose[] = entries;
    const time = entries.at(-1)?.time ?? 0;
    const late = loose.slice(at + 4).map((entry) => ({ ...entry, time }));
    const moved = swapped.map((entry) => ({ ...entry, time }));
    const files = forged(of.files, [...loose.slice(0, at), ...moved, ...late], {
      receipt: KEYS.receipt,
    });
    expect(codesOf(await audit({ ...of, files }))).toEqual(["agent_turn_differs"]);
  });
});

/** A receipt that names the admission at another place. */
const naming =
  (seq: number) =>
  (entry: Loose): Loose => {
    if (entry.type !== "receipt") return entry;
    const statement = statementIn(entry.body);
    const predicate = statement["predicate"] as Json;
    const admission = { ...(predicate["admission"] as Json), seq };
    const about = { ...statement, predicate: { ...predicate, admission } };
    return { ...entry, body: withStatement({ ...entry.body, admission: seq }, about) };
  };
