/** The model behind an agent's command: a script, or a provider's. */
import { basename } from "node:path";
import { scriptedAgent } from "../../app/agent-model.ts";
import { type AgentLimits, DEFAULT_AGENT_LIMITS } from "../../model/agent.ts";
import type { PriceTable } from "../../model/prices.ts";
import type { ChatModel } from "../../ports/chat-model.ts";
import { usageFault } from "../fault.ts";
import { MAX_DOCUMENT_BYTES, readDocument } from "../files.ts";
import { textOf, withFlag } from "../models.ts";
import { type Call, switchOption, textOption } from "../spec.ts";
import { agentLimitsOf } from "./limits.ts";

const MAX_SCRIPT_BYTES = 67_108_864;

/**
 * @throws RoteError `bad_usage` `bad_script` `bad_encoding` and, of a provider's model, `bad_model` `model_key_missing`
 *   `package_missing` `bad_prices` `cost_not_accepted`: nothing was sent
 */
export async function agentModel(call: Call): Promise<ChatModel> {
  const { options, terminal, command } = call;
  const file = textOption(options, "script");
  const name = textOption(options, "model");
  if (file !== undefined && name !== undefined) {
    throw usageFault("--script and --model both say who answers", "give one of them");
  }
  if (name !== undefined) return providersModel(call, name);
  if (file === undefined) {
    throw usageFault(
      `rote ${command} needs a model`,
      "name one with --model provider:model, or give its replies with --script FILE.jsonl",
    );
  }
  const bytes = await readDocument(file, "script", MAX_SCRIPT_BYTES, terminal);
  return scriptedAgent(textOf(bytes, file, `script ${file} is`), basename(file));
}

/** Loaded here only: what speaks to providers is not needed for scripts. */
async function providersModel(call: Call, name: string): Promise<ChatModel> {
  const { options, terminal } = call;
  const { isPaid, openChatModel, upperBound } = await import("../../app/llm.ts");
  const prices = await pricesOf(call);
  const bound = boundOf(call);
  const accepted = switchOption(options, "accept-cost");
  const model = await openChatModel(name, {
    variables: terminal.environment,
    acceptCost: accepted,
    ...(prices === undefined ? {} : { prices }),
    ...(bound === undefined ? {} : { bound }),
  }).catch((error: unknown) => {
    throw withFlag(error);
  });
  if (prices !== undefined && bound !== undefined && isPaid(model.identity, prices)) {
    const { amount, currency, label } = upperBound(prices, model.identity, bound);
    if (amount !== null) terminal.note(`at most ${amount} ${currency} (${label})\n`);
  }
  return model;
}

/** @throws RoteError `bad_prices` and what reading a file can throw */
export async function pricesOf({ options, terminal }: Call): Promise<PriceTable | undefined> {
  const file = textOption(options, "prices");
  if (file === undefined) return undefined;
  const { readPrices } = await import("../../app/llm.ts");
  return readPrices(await readDocument(file, "prices", MAX_DOCUMENT_BYTES, terminal));
}

/** Of the whole run, where the greatest size of a request and of a reply is stated. */
function boundOf({ options }: Call) {
  const context = textOption(options, "context-tokens");
  if (context === undefined) return undefined;
  if (!/^[1-9][0-9]{0,8}$/.test(context)) {
    throw usageFault(`--context-tokens ${context} is no number of tokens`);
  }
  const limits: AgentLimits = { ...DEFAULT_AGENT_LIMITS, ...agentLimitsOf(options) };
  if (limits.max_reply_tokens === null) {
    throw usageFault(
      "--context-tokens bounds requests only",
      "bound replies as well, with --limit max_reply_tokens=NUMBER",
    );
  }
  return {
    calls: limits.max_steps * limits.model_attempts,
    inputTokensPerCall: Number(context),
    outputTokensPerCall: limits.max_reply_tokens,
  };
}
