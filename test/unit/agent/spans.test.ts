import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentSpan } from "../../../src/agent/index.ts";
import { exportSpans } from "../../../src/app/otel.ts";
import type { JsonValue } from "../../../src/base/json.ts";
import { type Host, partsOf } from "../../../src/host/index.ts";
import { call, FREE, runtimeOf, say, script } from "../../support/agent.ts";
import { type Bank, bank, hostAt } from "../../support/gate.ts";

const READ = call("bank.balance", { account: "7" });
const DENY = { ...FREE, deny: ["tool:effect:bank.pay"] };
const USAGE = {
  input_tokens: 50,
  output_tokens: 4,
  cached_input_tokens: 20,
  cache_write_tokens: 5,
};

let host: Host;
let tools: Bank;
let exporter: InMemorySpanExporter;
let provider: BasicTracerProvider;

beforeEach(async () => {
  tools = bank();
  host = await hostAt(null, tools, { policy: FREE });
  exporter = new InMemorySpanExporter();
  provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
});

afterEach(async () => {
  await provider.shutdown();
  await host.close();
});

async function spansOf(...lines: readonly JsonValue[]): Promise<readonly AgentSpan[]> {
  const runtime = runtimeOf(host, script(...lines));
  const { run } = await runtime.run("see to account 7");
  return runtime.spans(run);
}

async function exported(spans: readonly AgentSpan[]): Promise<readonly ReadableSpan[]> {
  await exportSpans(spans, { tracer: provider.getTracer("test") });
  return exporter.getFinishedSpans();
}

const named = (spans: readonly ReadableSpan[], name: string) =>
  spans.filter((span) => span.name === name);
const msOf = ([seconds, nanos]: ReadableSpan["startTime"]) => seconds * 1000 + nanos / 1e6;

describe("an agent run as spans", () => {
  it("is one invoke_agent around its chats and executed tools, with the conventions' attributes", async () => {
    const answer = { ...(say("It has 10.") as object), usage: USAGE };
    const spans = await exported(await spansOf({ ...(READ as object), usage: USAGE }, answer));
    expect(spans.map(({ name }) => name).sort()).toEqual([
      "chat test",
      "chat test",
      "execute_tool bank.balance",
      "invoke_agent",
    ]);
    const [root] = named(spans, "invoke_agent");
    const [first, second] = named(spans, "chat test");
    const [tool] = named(spans, "execute_tool bank.balance");
    expect(root?.kind).toBe(SpanKind.INTERNAL);
    expect(root?.parentSpanContext).toBeUndefined();
    expect(root?.attributes).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": "scripted",
      "gen_ai.request.model": "test",
      "gen_ai.usage.input_tokens": 100,
      "gen_ai.usage.output_tokens": 8,
      "gen_ai.usage.cache_read.input_tokens": 40,
      "rote.state": "completed",
      "rote.stop_reason": "completed",
    });
    expect(root?.status.code).toBe(SpanStatusCode.UNSET);
    for (const span of [first, second, tool]) {
      expect(span?.parentSpanContext?.spanId).toBe(root?.spanContext().spanId);
      expect(span?.spanContext().traceId).toBe(root?.spanContext().traceId);
    }
    expect(first?.kind).toBe(SpanKind.CLIENT);
    expect(first?.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.response.finish_reasons": ["tool_call"],
      "gen_ai.usage.input_tokens": 50,
      "gen_ai.usage.cache_read.input_tokens": 20,
      "gen_ai.usage.cache_creation.input_tokens": 5,
      "rote.step": 1,
      "rote.attempt": 1,
    });
    expect(second?.attributes["gen_ai.response.finish_reasons"]).toEqual(["stop"]);
    expect(tool?.attributes).toMatchObject({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "bank.balance",
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": "call-1-1",
      "rote.outcome": "done",
    });
  });

  it("has the times of the record, however long ago that was", async () => {
    const runtime = runtimeOf(host, script(READ, say("Fine.")));
    const { run } = await runtime.run("see to account 7");
    const times = partsOf(host)
      .journal.read(run)
      .map(({ entry }) => entry.time);
    const past = runtime.spans(run).map((span) => ({
      ...span,
      startMs: span.startMs - 10 * 365 * 86_400_000,
      endMs: span.endMs - 10 * 365 * 86_400_000,
    }));
    const [root] = named(await exported(past), "invoke_agent");
    if (root === undefined) throw new Error("no span");
    expect(msOf(root.startTime)).toBe((times[0] ?? 0) - 10 * 365 * 86_400_000);
    expect(msOf(root.endTime)).toBe((times.at(-1) ?? 0) - 10 * 365 * 86_400_000);
    for (const { startMs, endMs } of runtime.spans(run)) {
      expect(times).toContain(startMs);
      expect(times).toContain(endMs);
    }
  });

  it("is one chat an attempt, those that failed as errors without tokens", async () => {
    const faults = [{ kind: "rate_limited", message: "slow down" }, { kind: "timeout" }];
    const spans = await exported(
      await spansOf({ say: "Done.", fail: faults, usage: { input_tokens: 9, output_tokens: 1 } }),
    );
    const chats = named(spans, "chat test");
    expect(chats.map(({ attributes }) => attributes["error.type"])).toEqual([
      "rate_limited",
      "timeout",
      undefined,
    ]);
    expect(chats.map(({ attributes }) => attributes["rote.attempt"])).toEqual([1, 2, 3]);
    expect(chats[0]?.status).toEqual({ code: SpanStatusCode.ERROR, message: "slow down" });
    expect(chats[0]?.attributes["gen_ai.usage.input_tokens"]).toBeUndefined();
    const [root] = named(spans, "invoke_agent");
    expect(root?.attributes["gen_ai.usage.input_tokens"]).toBeUndefined();
  });

  it("says why it stopped, as the error of the whole", async () => {
    const spans = await exported(await spansOf({ ...(READ as object), repeat: true }));
    const [root] = named(spans, "invoke_agent");
    expect(root?.attributes["error.type"]).toBe("repeated_action");
    expect(root?.status.code).toBe(SpanStatusCode.ERROR);
    expect(named(spans, "execute_tool bank.balance")).toHaveLength(2);
  });

  it("tells of a refused call, which was not executed, as an event", async () => {
    await host.close();
    host = await hostAt(null, tools, { policy: DENY });
    const pay = call("bank.pay", { account: "7", amount: "50", currency: "EUR" });
    const spans = await exported(await spansOf(pay));
    expect(named(spans, "execute_tool bank.pay")).toEqual([]);
    expect(named(spans, "invoke_agent")[0]?.events).toMatchObject([
      {
        name: "rote.call_refused",
        attributes: { "gen_ai.tool.name": "bank.pay", "rote.call": 0 },
      },
    ]);
  });

  it("has nothing of what was said, asked for or answered", async () => {
    const secret = "zq-58f0c2";
    const spans = await spansOf(call("bank.balance", { account: secret }), say(`It is ${secret}.`));
    expect(JSON.stringify(spans)).not.toContain(secret);
    expect(JSON.stringify(spans)).not.toContain("see to account");
  });

  it("belongs to the span that it is put under", async () => {
    const tracer = provider.getTracer("test");
    const outer = tracer.startSpan("request");
    await exportSpans(await spansOf(say("Fine.")), {
      tracer,
      context: trace.setSpan(ROOT_CONTEXT, outer),
    });
    const [root] = named(exporter.getFinishedSpans(), "invoke_agent");
    expect(root?.parentSpanContext?.spanId).toBe(outer.spanContext().spanId);
    outer.end();
  });

  it("goes nowhere, and harms nothing, where no SDK is set up", async () => {
    await exportSpans(await spansOf(say("Fine.")));
    expect(exporter.getFinishedSpans()).toEqual([]);
  });
});
