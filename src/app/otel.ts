/**
 * Runs of agents as OpenTelemetry spans (`rote/otel`). The package `@opentelemetry/api` is optional; where the spans go is
 * decided by whoever sets up its SDK.
 */
import type { Context, HrTime, Span, Tracer } from "@opentelemetry/api";
import type { AgentSpan } from "../agent/index.ts";
import { RoteError } from "../base/error.ts";

export type { AgentSpan, SpanAttributes, SpanEvent } from "../agent/index.ts";

export interface SpanTarget {
  /** Default the tracer `rote` of the global provider. */
  readonly tracer?: Tracer;
  /** What the run belongs to. Default what is active. */
  readonly context?: Context;
}

/**
 * Hands the spans of a run (`AgentRuntime.spans`) to a tracer, with the times at which things happened. A run whose spans
 * are exported twice is there twice.
 *
 * @throws RoteError `package_missing`
 */
export async function exportSpans(
  spans: readonly AgentSpan[],
  { tracer, context }: SpanTarget = {},
): Promise<void> {
  const api = await loadApi();
  const target = tracer ?? api.trace.getTracer("rote");
  const outside = context ?? api.context.active();
  const kinds = { internal: api.SpanKind.INTERNAL, client: api.SpanKind.CLIENT };
  const begun: Span[] = [];
  for (const { name, kind, parent, startMs, attributes, error, events } of spans) {
    const around = parent === null ? undefined : begun[parent];
    const span = target.startSpan(
      name,
      { kind: kinds[kind], startTime: timeOf(startMs), attributes: attributesOf(attributes) },
      around === undefined ? outside : api.trace.setSpan(outside, around),
    );
    for (const event of events) {
      span.addEvent(event.name, attributesOf(event.attributes), timeOf(event.timeMs));
    }
    if (error !== null) span.setStatus({ code: api.SpanStatusCode.ERROR, message: error.message });
    begun.push(span);
  }
  // The one around the others ends last.
  const [around, ...inner] = begun.map((span, at) => () => {
    span.end(timeOf(spans[at]?.endMs ?? 0));
  });
  for (const end of inner) end();
  around?.();
}

/** A plain number that lies before the start of the process would be read as milliseconds since that start. */
function timeOf(ms: number): HrTime {
  return [Math.floor(ms / 1000), Math.round(ms % 1000) * 1_000_000];
}

function attributesOf(attributes: AgentSpan["attributes"]) {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      name,
      typeof value === "object" ? [...value] : value,
    ]),
  );
}

async function loadApi() {
  try {
    return await import("@opentelemetry/api");
  } catch (error) {
    throw new RoteError(
      "package_missing",
      "spans need the package @opentelemetry/api, which is not installed",
      { hint: "npm install @opentelemetry/api@1.9.1" },
      error,
    );
  }
}
