/** What is there after a case has ended: the journal beside the target's own count. */
import { createHost } from "../../../src/app/create-host.ts";
import { sameBytes, toHex } from "../../../src/base/bytes.ts";
import { canonicalBytes } from "../../../src/base/canonical.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { append, EMPTY_FRONTIER, leafHash, rootOf } from "../../../src/base/merkle.ts";
import { openNote, parseTreeHead } from "../../../src/base/note.ts";
import { partsOf } from "../../../src/host/index.ts";
import type { Journal } from "../../../src/ports/journal.ts";
import { KEYS, ORIGIN } from "../host.ts";
import { agentFaults } from "./agent.ts";
import { pointsWith } from "./points.ts";
import { optionsFor, type Story } from "./story.ts";
import { type Applied, openTarget } from "./target.ts";

export interface Verdict {
  /** Effects at the target more than once, by operation or by what they do. */
  readonly repeated: number;
  /** Effects that nobody could know of: no outcome, or one that is not what the target has. */
  readonly lost: number;
  readonly state: string | null;
  readonly outcomes: readonly string[];
  readonly faults: readonly string[];
}

type Body = { readonly [member: string]: JsonValue };

export async function verdictOn(story: Story): Promise<Verdict> {
  const target = openTarget(story.target);
  const host = await createHost(optionsFor(story, target, pointsWith(null)));
  try {
    const { journal } = partsOf(host);
    const faults = story.shape === "agent" ? await agentFaults(host, story) : [];
    return judged(journal, target.rows(), faults);
  } finally {
    await host.close();
    target.close();
  }
}

function judged(journal: Journal, rows: readonly Applied[], known: readonly string[]): Verdict {
  const faults = [...known, ...recordFaults(journal)];
  const [run, ...others] = journal.runs(100);
  if (others.length > 0) faults.push(`${others.length} runs too many`);
  const entries = run === undefined ? [] : journal.read(run.run);
  const outcomes = new Map<string, string | null>();
  for (const { entry } of entries) {
    const body = entry.body as Body;
    if (entry.type === "admitted") {
      const { tool } = body["operation"] as { readonly tool: { readonly category: string } };
      if (tool.category === "effect") outcomes.set(String(body["digest"]), null);
    } else if (entry.type === "receipt" && outcomes.has(String(body["operation"]))) {
      const digest = String(body["operation"]);
      if (outcomes.get(digest) !== null) faults.push(`a second receipt of ${digest}`);
      outcomes.set(digest, String(body["outcome"]));
    }
  }
  const ends = entries.filter(({ entry }) => entry.type === "run_ended").length;
  if (ends !== 1) faults.push(`${ends} ends of the run`);
  if (entries.at(-1)?.entry.type !== "run_ended") faults.push("something behind the end");
  const lost = [
    ...[...outcomes].flatMap(([digest, outcome]) => {
      const count = rows.filter(({ operation }) => operation === digest).length;
      return agrees(outcome, count) ? [] : [`${digest} is ${outcome} and there ${count} times`];
    }),
    ...rows
      .filter(({ operation }) => !outcomes.has(operation))
      .map(({ operation }) => `${operation} is at the target and not in the journal`),
  ];
  const all = [...outcomes.values()];
  const state = run?.state ?? null;
  const whole = state === "verified" || state === "completed";
  if (whole !== (all.length > 1 && all.every((one) => one === "done"))) {
    faults.push(`the run is ${state} with ${all.join(" ")}`);
  }
  return {
    repeated: more(rows.map(({ operation }) => operation)) + more(rows.map(({ what }) => what)),
    lost: lost.length,
    state,
    outcomes: all.map(String),
    faults: [...faults, ...lost],
  };
}

function agrees(outcome: string | null, count: number): boolean {
  switch (outcome) {
    case "done":
      return count === 1;
    case "failed_before_effect":
    case "refused":
      return count === 0;
    case "uncertain":
      return count <= 1;
    default:
      return false;
  }
}

function more(values: readonly string[]): number {
  return values.length - new Set(values).size;
}

/** The log is dense, each chain is linked (reading it checks that), and every tree head is of it. */
function* recordFaults(journal: Journal): Generator<string> {
  let frontier = EMPTY_FRONTIER;
  const roots = new Map<bigint, string>();
  for (const { bytes, entry, index } of journal.scan(0, 100_000)) {
    if (BigInt(index) !== frontier.size) yield `entry ${frontier.size} is missing`;
    frontier = append(frontier, leafHash(bytes));
    roots.set(frontier.size, toHex(rootOf(frontier)));
    if (!sameBytes(canonicalBytes({ ...entry }), bytes)) yield `entry ${index} is not canonical`;
  }
  for (const note of journal.heads()) {
    const opened = openNote(note, [{ name: ORIGIN, key: KEYS.journal.publicKey }]);
    const head = opened.ok ? parseTreeHead(opened.value.text) : undefined;
    if (head === undefined || roots.get(head.size) !== toHex(head.root)) {
      yield "a tree head that is not of this log";
    }
  }
}
