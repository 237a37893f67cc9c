/** Records of agents, and what an auditor finds when somebody with all keys has written them anew. */
import type { AgentOptions } from "../../../src/app/agent-runtime.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import type { Host } from "../../../src/host/index.ts";
import type { AgentLimits } from "../../../src/model/agent.ts";
import { FREE, pay, runtimeOf, script } from "../agent.ts";
import { bank, type Options } from "../gate.ts";
import { decision, KEYS } from "../host.ts";
import { changedAt, entriesIn, forged, type Json, type Loose } from "./forge.ts";
import { audit, codesOf, type Recorded, record } from "./record.ts";

export interface Played {
  readonly limits?: Partial<AgentLimits>;
  readonly options?: AgentOptions;
  readonly policy?: object;
  readonly host?: Options;
  readonly pay?: () => Promise<object>;
  readonly after?: (host: Host, run: string) => Promise<void>;
}

/** The record of one agent. */
export async function recorded(
  lines: readonly JsonValue[],
  played: Played = {},
): Promise<Recorded> {
  const of = bank();
  if (played.pay !== undefined) Object.assign(of.pay.tool, { call: played.pay });
  const policy = { ...FREE, ...played.policy };
  return record(
    { policy, ...played.host },
    async (host) => {
      const runtime = runtimeOf(host, script(...lines), {
        defaults: { limits: played.limits ?? {} },
      });
      const { run } = await runtime.run("see to account 7", played.options);
      await played.after?.(host, run);
    },
    of,
  );
}

export type Change = (entry: Loose, at: number) => Loose | readonly Loose[];

/**
 * The codes of what is found when its entries are others, linked and signed as if they had been so from the beginning.
 * Digests of what was asked stay as they were; whoever lies with these keys makes them fit, so they do not count.
 */
export async function found(of: Recorded, change: Change): Promise<readonly string[]> {
  const entries = entriesIn(of.files).flatMap((entry, at) => change(entry, at));
  const files = forged(of.files, entries, { receipt: KEYS.receipt });
  return codesOf(await audit({ ...of, files })).filter((code) => code !== "agent_request_differs");
}

export const inBody =
  (type: string, pointer: string, value: (before: Json) => JsonValue): Change =>
  (entry) =>
    entry.type === type
      ? { ...entry, body: changedAt(entry.body, pointer, value(entry.body)) as Json }
      : entry;

export const withLimit = (name: string, value: number) =>
  inBody("agent_started", `/limits/${name}`, () => value);

/** Every account of the time that a record gives, `ms` later. */
export const later =
  (ms: number): Change =>
  (entry) =>
    typeof entry.body["ms"] === "number"
      ? { ...entry, body: { ...entry.body, ms: entry.body["ms"] + ms } }
      : entry;

export const both =
  (first: Change, second: Change): Change =>
  (entry, at) =>
    [first(entry, at)].flat().flatMap((one) => second(one as Loose, at));

export async function reject(host: Host, run: string): Promise<void> {
  const runtime = runtimeOf(host, script(pay(1)));
  const [request] = runtime.result(run).requests;
  if (request === undefined) throw new Error("nothing was asked");
  const approval = decision(request, KEYS.alice, "alice", { decision: "reject" });
  await runtime.resume(run, { approval });
}
