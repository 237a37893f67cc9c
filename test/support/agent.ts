/** Agents over the hosts of `host.ts`, with scripted models. */
import { AgentRuntime, type AgentRuntimeOptions } from "../../src/app/agent-runtime.ts";
import type { HostSeams } from "../../src/app/create-host.ts";
import { auditBundle, sourceOf } from "../../src/audit/index.ts";
import type { JsonValue } from "../../src/base/json.ts";
import { type Host, partsOf } from "../../src/host/index.ts";
import { scriptedChat } from "../../src/llm/scripted-chat.ts";
import type { AgentLimits } from "../../src/model/agent.ts";
import type { EntryType } from "../../src/model/journal.ts";
import type { ChatModel, ChatRequest } from "../../src/ports/chat-model.ts";
import { type Bank, hostAt, OPEN, type Options } from "./gate.ts";
import { POLICY, trust } from "./host.ts";

export interface CountedModel extends ChatModel {
  readonly requests: ChatRequest[];
}

/** One reply a turn, as lines of a script. */
export function script(...lines: readonly JsonValue[]): CountedModel {
  const read = scriptedChat(lines.map((line) => JSON.stringify(line)).join("\n"), "test");
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  const requests: ChatRequest[] = [];
  return {
    requests,
    identity: read.value.identity,
    reply(request, signal) {
      requests.push(request);
      return read.value.reply(request, signal);
    },
  };
}

/** A turn that asks for one call. */
export function call(name: string, args: JsonValue): JsonValue {
  return { calls: [{ name, arguments: args }] };
}

export function calls(...asked: readonly (readonly [name: string, args: JsonValue])[]): JsonValue {
  return { calls: asked.map(([name, args]) => ({ name, arguments: args })) };
}

/** Asks the bank of `gate.ts` to pay. */
export function pay(amount: number): JsonValue {
  return call("bank.pay", { account: "7", amount: `${amount}`, currency: "EUR" });
}

/** A read of that bank's, for `calls`. */
export function balance(account: number): readonly [name: string, args: JsonValue] {
  return ["bank.balance", { account: `${account}` }];
}

export function say(text: string): JsonValue {
  return { say: text };
}

export const QUICK: Partial<AgentLimits> = { retry_delay_ms: 0 };

export function runtimeOf(
  host: Host,
  model: ChatModel,
  change: Partial<AgentRuntimeOptions> = {},
): AgentRuntime {
  const { defaults, ...rest } = change;
  const limits = { ...QUICK, ...defaults?.limits };
  return new AgentRuntime({ host, model, defaults: { ...defaults, limits }, ...rest });
}

/** The trust store of the tests of one process, the policy that asks before effects, and one that never asks. */
export const TRUST = trust();
export const ASKS = POLICY;
export const { policy: FREE } = OPEN;

type Findings = Awaited<ReturnType<typeof auditBundle>>["findings"];

export interface AgentHosts {
  /** At a directory, or in this process only; effects are free where `change` does not say otherwise. */
  made(
    tools: Pick<Bank, "tools">,
    change?: Options,
    seams?: HostSeams,
    directory?: string | null,
  ): Promise<Host>;
  /** Counted among those that were made. */
  add(host: Host): void;
  /** Audits and closes one, and it is counted no more. @returns what the auditor found */
  closed(host: Host): Promise<Findings>;
  /** The same for all that are left. */
  close(): Promise<Findings>;
}

/** Hosts for agents, whose records an auditor looks at when they are closed; `allowed` are codes that do not count. */
export function agentHosts(...allowed: readonly string[]): AgentHosts {
  const hosts = new Set<Host>();
  const closed = async (host: Host) => {
    hosts.delete(host);
    const { findings } = await auditBundle(sourceOf(partsOf(host).journal), { trust: TRUST });
    await host.close();
    return findings.filter(({ code }) => !allowed.includes(code));
  };
  return {
    async made(tools, change = {}, seams = {}, directory = null) {
      const options = { policy: FREE, trust: TRUST, ...change };
      const host = await hostAt(directory, tools, options, seams);
      hosts.add(host);
      return host;
    },
    add: (host) => void hosts.add(host),
    closed,
    async close() {
      const found: Findings[] = [];
      for (const host of hosts) found.push(await closed(host));
      return found.flat();
    },
  };
}

/** Types of a run's entries, in order. */
export function entryTypes(host: Host, run: string): readonly EntryType[] {
  return partsOf(host)
    .journal.read(run)
    .map(({ entry }) => entry.type);
}
