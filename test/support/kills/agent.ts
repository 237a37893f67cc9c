/**
 * The story of an agent: reads that run together, then effects of one turn behind one signature with a read between them,
 * then an answer. The model is a file, which says the same in every process.
 */
import { AgentRuntime } from "../../../src/app/agent-runtime.ts";
import { auditBundle, sourceOf } from "../../../src/audit/index.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { type Host, partsOf } from "../../../src/host/index.ts";
import { scriptedChat } from "../../../src/llm/scripted-chat.ts";
import { BALANCE, POST, type Story } from "./story.ts";

const read = (account: string) => ({ name: BALANCE, arguments: { account } });
const post = (what: string) => ({
  name: POST,
  arguments: { account: "7", amount: "50", what },
});

const SCRIPT: readonly JsonValue[] = [
  { calls: [read("7"), read("8")] },
  { calls: [post("first"), read("7"), post("second")] },
  { say: "Posted." },
];

/** Takes the one run of a case as far as it goes without anybody else; begins it when there is none. */
export async function driveAgent(host: Host, { callMs }: Story): Promise<string> {
  const runtime = runtimeAt(host);
  const [known] = host.runs(1);
  const { state } = await (known === undefined
    ? runtime.run("Post what is due on account 7.", {
        keys: { [POST]: ["/account", "/what"] },
        // What was not done for certain ends the run, so that completed means done.
        stopOn: ["refused", "tool_error"],
        // As many as may be killed while they ask; and nobody may take the run over sooner.
        limits: { model_attempts: 100, retry_delay_ms: 0, model_timeout_ms: callMs },
      })
    : runtime.resume(known.run));
  return state === "approval_pending" ? "awaiting_approval" : state;
}

function runtimeAt(host: Host): AgentRuntime {
  const model = scriptedChat(SCRIPT.map((line) => JSON.stringify(line)).join("\n"), "posts");
  if (!model.ok) throw new Error(JSON.stringify(model.error));
  return new AgentRuntime({ host, model: model.value });
}

/** What an auditor and a replay have to say against the record of an agent that has ended. */
export async function agentFaults(host: Host, { trust }: Story): Promise<readonly string[]> {
  const { findings } = await auditBundle(sourceOf(partsOf(host).journal), { trust });
  const found = findings.flatMap(({ code, message }) =>
    code === "tail_uncovered" ? [] : [`${code}: ${message}`],
  );
  const [run] = host.runs(1);
  if (run === undefined) return ["no run"];
  try {
    const { ended } = runtimeAt(host).replay(run.run);
    return ended ? found : [...found, "the replay does not come to its end"];
  } catch (error) {
    return [...found, String(error)];
  }
}
