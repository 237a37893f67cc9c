import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { replayAgent, traceAgent, transcriptOf } from "../../src/agent/index.ts";
import type { JsonValue } from "../../src/base/json.ts";
import { partsOf } from "../../src/host/index.ts";
import type { ReceiptParts } from "../../src/host/receipt.ts";
import type { Appended } from "../../src/model/journal.ts";
import { call, calls, runtimeOf, say, script } from "../support/agent.ts";
import { bank, hostAt, OPEN, type Options } from "../support/gate.ts";
import { decision, KEYS, ORIGIN, POLICY, registration } from "../support/host.ts";

/**
 * One file per case: the record of an agent's run as an earlier version wrote it, and what every later one has to read in
 * it. The records stay as they are: `UPDATE=1` writes anew what is read, to be reviewed as a diff. `RECORD=name` makes the
 * record of one case, as a new version of the rules needs it beside those that there are.
 */
const FOLDER = fileURLToPath(new URL("agent/", import.meta.url));

interface Golden {
  readonly entries: readonly Appended[];
  readonly blobs: { readonly [sha256: string]: string };
  readonly expected?: JsonValue;
}

const READS = calls(["bank.balance", { account: "1" }], ["bank.balance", { account: "2" }]);
const pay = (n: number) => call("bank.pay", { account: "7", amount: `${n}`, currency: "EUR" });
const usage = { input_tokens: 40, output_tokens: 6, cached_input_tokens: 8 };

interface Scene {
  readonly lines: readonly JsonValue[];
  readonly options?: Options;
  readonly decides?: "approve" | "reject";
  /** The effect's tool breaks. */
  readonly breaks?: true;
}

const SCENES: { readonly [name: string]: Scene } = {
  completed: {
    lines: [
      { ...(READS as object), say: "I look.", usage },
      { ...(pay(1) as object), fail: [{ kind: "unavailable", message: "busy" }] },
      call("no.tool", {}),
      { ...(say("Paid.") as object), usage },
    ],
  },
  denied: {
    lines: [pay(1), say("Paid.")],
    options: { policy: { ...POLICY, deny: ["tool:effect:bank.pay"] } },
  },
  limit: { lines: [{ ...(pay(1) as object), repeat: true }] },
  uncertain: { lines: [READS, pay(1), say("Paid.")], breaks: true },
  approved: { lines: [pay(1), say("Paid.")], options: { policy: POLICY }, decides: "approve" },
  rejected: { lines: [pay(1), say("Paid.")], options: { policy: POLICY }, decides: "reject" },
  cancelled: { lines: [pay(1), say("Paid.")], options: { policy: POLICY } },
};

async function record({ lines, options = OPEN, decides, breaks }: Scene): Promise<Golden> {
  const of = bank();
  const broken = { ...of.pay.tool, call: () => Promise.reject(new Error("it broke")) };
  const tools =
    breaks === true
      ? [registration(of.balance, "read"), registration({ tool: broken }, "effect")]
      : of.tools;
  const host = await hostAt(null, { tools }, options);
  const runtime = runtimeOf(host, script(...lines));
  const { run, requests } = await runtime.run("Pay 50 from account 7.");
  const [request] = requests;
  if (request !== undefined && decides === undefined) await runtime.cancel(run);
  else if (request !== undefined) {
    const approval = decision(request, KEYS.alice, "alice", { decision: decides ?? "reject" });
    await runtime.resume(run, { approval });
  }
  const { journal } = partsOf(host);
  const entries = journal.read(run);
  const names = JSON.stringify(entries).match(/\b[0-9a-f]{64}\b/g) ?? [];
  const blobs = [...new Set(names)].sort().flatMap((name) => {
    const bytes = journal.blob(name);
    return bytes === undefined ? [] : [[name, Buffer.from(bytes).toString("base64")] as const];
  });
  await host.close();
  return { entries, blobs: Object.fromEntries(blobs) };
}

/** Enough to read a run, and nothing that could call, write or sign. */
function readerOf({ entries, blobs }: Golden): { readonly parts: ReceiptParts; run: string } {
  const journal = {
    origin: ORIGIN,
    read: () => entries,
    blob: (name: string) => {
      const text = blobs[name];
      return text === undefined ? undefined : Buffer.from(text, "base64");
    },
  };
  const trust = () => {
    throw new Error("its receipts are by the host's own key");
  };
  const parts = { journal, receiptKey: KEYS.receipt, trust } as unknown as ReceiptParts;
  return { parts, run: entries[0]?.entry.chain ?? "" };
}

function readIn(golden: Golden): JsonValue {
  const { parts, run } = readerOf(golden);
  const { state, replies, results, ended } = replayAgent(parts, run);
  const { report, calls: made, repeated, events } = traceAgent(parts, run);
  const { turns, mutations } = transcriptOf(parts, run);
  return JSON.parse(
    JSON.stringify({
      replayed: { conversation: state.conversation.digest, end: state.end, replies, results, ended },
      report,
      repeated,
      calls: made,
      events: events.map(({ event, state: led, what }) => `${event} -> ${led}: ${what}`),
      turns,
      mutations,
    }),
  ) as JsonValue;
}

const recorded = process.env["RECORD"];
const written = (name: string, golden: Golden) =>
  writeFileSync(`${FOLDER}${name}.json`, `${JSON.stringify(golden, null, 1)}\n`);

if (recorded !== undefined) {
  const scene = SCENES[recorded];
  if (scene === undefined) throw new Error(`no such scene: ${recorded}`);
  written(recorded, await record(scene));
}

describe("records of agents' runs", () => {
  const names = readdirSync(FOLDER).map((file) => file.replace(/\.json$/, ""));

  it("are there, one of each kind of end", () => {
    expect(names).toEqual(expect.arrayContaining(Object.keys(SCENES)));
  });

  it.each(names)("%s is replayed and read as it was (B111)", (name) => {
    const golden = JSON.parse(readFileSync(`${FOLDER}${name}.json`, "utf8")) as Golden;
    const expected = readIn(golden);
    if (process.env["UPDATE"] === "1") written(name, { ...golden, expected });
    else expect(expected).toEqual(golden.expected);
  });
});
