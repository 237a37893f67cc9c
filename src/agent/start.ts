/** Beginning an agent run at a host. */
import type { Digest } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import { parsePointer } from "../base/pointer.ts";
import {
  definitionOf,
  environmentFor,
  type Host,
  type HostParts,
  judgedNow,
  partsOf,
} from "../host/index.ts";
import {
  AGENT_VERSION,
  type AgentLimits,
  type AgentStart,
  type AgentTool,
  DEFAULT_STOPS,
  STOPPING,
  type Stopping,
} from "../model/agent.ts";
import type { ToolCategory } from "../model/trust.ts";
import type { ChatModel } from "../ports/chat-model.ts";
import { claimRun } from "../run/index.ts";
import { checkToolReview } from "../trust/index.ts";
import { startedBodyOf, startOf } from "./entries.ts";
import { apply } from "./fold.ts";
import { agentLimits } from "./limits.ts";
import { offeredTools } from "./offered.ts";
import type { ProgressMarker, Session } from "./session.ts";

export interface AgentOptions {
  /** Names of the host's tools that the model may ask for. Default: all that are reviewed; a child: its parent's. */
  readonly tools?: readonly string[];
  /** Tools of those that tell of something that changes; see `AgentTool`. Default none; a child: none but its parent's. */
  readonly polls?: readonly string[];
  /** JSON Pointers into the arguments of effects that make up their natural keys, by tool. Default none; a child keeps its parent's. */
  readonly keys?: { readonly [tool: string]: readonly string[] };
  readonly instructions?: string;
  readonly limits?: Partial<AgentLimits>;
  /** What of a tool call ends the run. Default: a refusal. */
  readonly stopOn?: readonly Stopping[];
  /** Reports how far the application is. Default: answers and effects alone tell. */
  readonly progress?: ProgressMarker;
  /** The run that this one belongs to: its limits hold for both together, and its tools are the most there are. */
  readonly parent?: string;
}

/**
 * A run, recorded as begun and held by this process.
 *
 * @throws RoteError `bad_goal` `bad_limit` `tool_missing` `unknown_run` `other_kind`: nothing was started
 */
export async function startAgent(
  host: Host,
  model: ChatModel,
  goal: string,
  options: AgentOptions,
  recalled: string | null,
): Promise<Session> {
  const parts = partsOf(host);
  if (typeof goal !== "string" || goal.trim() === "") {
    throw new RoteError("bad_goal", "An agent needs a goal that says something.");
  }
  const start = startFor(parts, model, goal, options, recalled);
  const run = `run-${Buffer.from(parts.random.bytes(16)).toString("hex")}`;
  const tools = offeredTools(parts.journal, start.tools);
  const lease = await claimRun(parts, run);
  const { body, blobs } = startedBodyOf(
    { start, identity: parts.identity.name },
    parts.intent?.digest ?? null,
  );
  const appended = await parts.journal.append({
    lease,
    entries: [{ chain: run, type: "agent_started", body }],
    take: [{ space: "run", key: run }],
    blobs,
  });
  if (!appended.ok) {
    await parts.journal.release(lease);
    throw new RoteError("journal_damaged", `The run ${run} is in the journal already.`, { run });
  }
  return {
    run,
    parts,
    lease,
    model,
    ...tools,
    marker: options.progress ?? null,
    state: apply(null, { type: "started", start }),
    requests: [],
    cancel: new AbortController(),
    enteredMs: null,
    countedMs: 0,
  };
}

function startFor(
  parts: HostParts,
  model: ChatModel,
  goal: string,
  options: AgentOptions,
  recalled: string | null,
): AgentStart {
  const { parent = null, instructions = null, stopOn = DEFAULT_STOPS, limits = {} } = options;
  const above = parent === null ? null : startOf(parts, parent);
  const unknown = stopOn.find((one) => !STOPPING.includes(one));
  if (unknown !== undefined) {
    throw new RoteError("bad_limit", `stopOn "${unknown}": expected ${STOPPING.join(", ")}`);
  }
  const tools = toolsFor(parts, options, above);
  return {
    version: AGENT_VERSION,
    goal,
    instructions,
    recalled,
    tools,
    limits: agentLimits(limits, above?.limits),
    // A child may be held to more than its parent, never to less.
    stop_on: STOPPING.filter((one) => stopOn.includes(one) || above?.stop_on.includes(one)),
    markers: options.progress !== undefined,
    model: { provider: model.identity.provider, name: model.identity.name },
    environment: environmentFor(
      parts,
      tools.map(({ name }) => name),
    ),
    parent,
    root:
      above === null || parent === null
        ? null
        : (above.root ?? { run: parent, limits: above.limits }),
  };
}

function toolsFor(
  parts: HostParts,
  { tools: named, polls = [], keys = {} }: AgentOptions,
  above: AgentStart | null,
): readonly AgentTool[] {
  const reviewed = reviewedTools(parts);
  const within = above === null ? null : new Set(above.tools.map(({ name }) => name));
  const names = named ?? [...reviewed.keys()].filter((name) => within?.has(name) !== false);
  const missing = [...names, ...polls, ...Object.keys(keys)].filter(
    (name) => !reviewed.has(name) || !names.includes(name) || within?.has(name) === false,
  );
  if (missing.length > 0) {
    throw new RoteError(
      "tool_missing",
      `Not among the reviewed tools that the run may have: ${[...new Set(missing)].join(", ")}. There are ${[...reviewed.keys()].sort().join(", ") || "none"}.`,
      {
        tools: [...new Set(missing)],
        hint: "Name tools that have a review, or have these reviewed.",
      },
    );
  }
  return [...new Set(names)].sort().map((name) => {
    const review = reviewed.get(name);
    const parents = above?.tools.find((tool) => tool.name === name);
    const inherited = parents?.key ?? [];
    const pointers = inherited.length > 0 ? inherited : (keys[name] ?? []);
    if (review === undefined) throw new TypeError("a tool that was not missing");
    if (pointers.some((text) => parsePointer(text) === undefined)) {
      throw new RoteError("bad_limit", `keys of ${name}: not a JSON Pointer`, { tool: name });
    }
    return {
      name,
      category: review.category,
      definition: review.definition,
      poll: polls.includes(name) && parents?.poll !== false,
      key: pointers,
    };
  });
}

interface Reviewed {
  readonly category: ToolCategory;
  readonly definition: Digest;
}

/** Tools that are what a reviewer has seen. */
function reviewedTools(parts: HostParts): ReadonlyMap<string, Reviewed> {
  const now = judgedNow(parts);
  const trust = parts.trust();
  const found = new Map<string, Reviewed>();
  for (const [name, registered] of parts.tools) {
    if (registered.review === null) continue;
    const checked = checkToolReview(registered.review, parts.journal.origin, trust, now);
    if (!checked.ok || checked.value.review.name !== name) continue;
    const definition = definitionOf(registered);
    const { category, definition: reviewed } = checked.value.review;
    if (definition === reviewed) found.set(name, { category, definition });
  }
  return found;
}
