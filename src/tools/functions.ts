/**
 * Functions of the application as tools.
 *
 * - N1 The function gets exactly the arguments that were shown and signed: a schema that would change them refuses them.
 * - N2 It gets a copy, and what it returns is copied: nothing is shared in either direction.
 * - N3 Only `notApplied` and `refusal` say that nothing happened. An exception and a result that does not fit the schema
 *   leave it open.
 * - N4 The text of an exception is not recorded: it may hold a password out of a connection string.
 */
import type { z } from "zod";
import { toJSONSchema } from "zod/mini";
import { canonicalText } from "../base/canonical.ts";
import { RoteError } from "../base/error.ts";
import { admitJson, type JsonValue } from "../base/json.ts";
import { pointer } from "../base/pointer.ts";
import type { ProbeOutcome, Tool, ToolCall, ToolOutcome } from "../ports/tool.ts";
import { defineTool, type ToolWords } from "./definition.ts";
import { badArguments, bounded, broke, CANCELLED, Declared, nameOf } from "./outcome.ts";

export interface FunctionContext {
  readonly signal: AbortSignal;
  /** Digest of the operation: give it to a target that takes an idempotency key. */
  readonly operationId: string;
}

/** What a target says of an operation id, in the terms of the tool's own result. */
export type FunctionProbe<O extends z.ZodType> =
  | { readonly kind: "done"; readonly result: z.input<O> }
  | { readonly kind: "absent" }
  | { readonly kind: "unknown" };

export interface FunctionTool<I extends z.ZodType, O extends z.ZodType> extends ToolWords {
  /** Of plain JSON, without defaults, coercion or transforms. */
  readonly input: I;
  readonly output: O;
  run(
    this: void,
    args: z.output<I>,
    context: FunctionContext,
  ): z.input<O> | Declared | Promise<z.input<O> | Declared>;
  /** Asks the target what became of `operationId`; leave it out where the target cannot tell. */
  probe?(
    this: void,
    args: z.output<I>,
    context: FunctionContext,
  ): FunctionProbe<O> | Promise<FunctionProbe<O>>;
  /**
   * Any word that changes when the function does, such as a version or a digest of its source; a reviewer's signature
   * then covers it. Default none: a function cannot tell by itself.
   */
  readonly implementation?: string;
  /** Gets what the function threw, for the application's own log. */
  onError?(this: void, error: unknown, context: { readonly operationId: string }): void;
}

/** @throws RoteError `bad_tool`, also for a schema that JSON Schema cannot express */
export function functionTool<I extends z.ZodType, O extends z.ZodType>(
  given: FunctionTool<I, O>,
): Tool {
  const options = { ...given };
  const definition = defineTool(options, {
    server: "function",
    input: jsonSchema(options, options.input),
    output: jsonSchema(options, options.output),
    implementation: options.implementation ?? null,
  });
  const { probe } = options;
  return {
    definition,
    fault: (args) => {
      const read = argumentsOf(options.input, args);
      return read.ok ? null : read.fault;
    },
    async call(call) {
      const read = argumentsOf(options.input, call.arguments);
      if (!read.ok) return badArguments(read.fault);
      if (call.signal.aborted) return CANCELLED;
      return outcomeOf(options, await run(options, read.args, call));
    },
    ...(probe === undefined
      ? {}
      : {
          async probe(call): Promise<ProbeOutcome> {
            const read = argumentsOf(options.input, call.arguments);
            if (!read.ok) return { kind: "unknown" };
            const found = await probe(read.args, contextOf(call));
            return found.kind === "done"
              ? { kind: "done", result: resultOf(options, found.result) }
              : found;
          },
        }),
  };
}

async function run<I extends z.ZodType, O extends z.ZodType>(
  options: FunctionTool<I, O>,
  args: z.output<I>,
  call: ToolCall,
): Promise<z.input<O> | Declared> {
  try {
    return await options.run(args, contextOf(call));
  } catch (error) {
    if (error instanceof Declared) return error;
    tell(options, error, call.operationId);
    throw broke("function_threw", `${options.name} threw ${nameOf(error)}`, error);
  }
}

function tell<I extends z.ZodType, O extends z.ZodType>(
  { onError }: FunctionTool<I, O>,
  error: unknown,
  operationId: string,
): void {
  try {
    onError?.(error, { operationId });
  } catch {
    // A log that fails says nothing about the operation.
  }
}

function outcomeOf<I extends z.ZodType, O extends z.ZodType>(
  options: FunctionTool<I, O>,
  answer: unknown,
): ToolOutcome {
  if (answer instanceof Declared) return answer.outcome;
  return { kind: "done", result: resultOf(options, answer) };
}

function contextOf({ signal, operationId }: ToolCall): FunctionContext {
  return { signal, operationId };
}

type Read<T> =
  | { readonly ok: true; readonly args: T }
  | { readonly ok: false; readonly fault: string };

function argumentsOf<I extends z.ZodType>(schema: I, given: JsonValue): Read<z.output<I>> {
  const copy = admitJson(given, { numbers: "finite" });
  if (!copy.ok) return { ok: false, fault: `the arguments are not JSON: ${copy.error.message}` };
  const parsed = parse(schema, copy.value);
  if (parsed === undefined) return { ok: false, fault: "the schema cannot be checked at once" };
  if (!parsed.success) return { ok: false, fault: issueOf(parsed.error) };
  const kept = admitJson(parsed.data, { numbers: "finite" });
  if (!kept.ok || canonicalText(kept.value) !== canonicalText(given)) {
    const fault = "the schema would change the arguments: a member it does not know, or a default";
    return { ok: false, fault };
  }
  return { ok: true, args: parsed.data };
}

/** Undefined for a schema that throws, as one with an asynchronous check does. */
function parse<I extends z.ZodType>(schema: I, value: JsonValue) {
  try {
    return schema.safeParse(value);
  } catch {
    return undefined;
  }
}

function resultOf<I extends z.ZodType, O extends z.ZodType>(
  { name, output }: FunctionTool<I, O>,
  answer: unknown,
): JsonValue {
  const parsed = output.safeParse(answer);
  if (!parsed.success) {
    throw broke("result_malformed", `the result of ${name}: ${issueOf(parsed.error)}`);
  }
  const admitted = admitJson(withoutUndefined(parsed.data), { numbers: "finite" });
  if (admitted.ok) return admitted.value;
  const { pointer: at, message } = admitted.error;
  throw broke("result_malformed", `the result of ${name} is not JSON at "${at}": ${message}`);
}

/** TypeScript writes an optional member that is not there as `undefined`; JSON leaves it out. */
function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (typeof value !== "object" || value === null) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([key, member]) => [key, withoutUndefined(member)]));
}

/** The first problem with its place; zod names types and options there, never the value that it saw. */
function issueOf(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return "it does not fit the schema";
  const place = pointer(...issue.path.map(String));
  return bounded(`${place === "" ? "the whole" : place}: ${issue.message}`);
}

function jsonSchema(words: ToolWords, schema: z.ZodType): JsonValue {
  try {
    const made = admitJson(JSON.parse(JSON.stringify(toJSONSchema(schema))), { numbers: "finite" });
    if (made.ok) return made.value;
    throw new TypeError(made.error.message);
  } catch (error) {
    const why = error instanceof Error ? error.message : "unknown";
    const message = `a schema of ${words.name} cannot be written as JSON Schema: ${bounded(why)}`;
    throw new RoteError("bad_tool", message, { name: words.name }, error);
  }
}
