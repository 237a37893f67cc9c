/** What every tool of ours says of itself: complete, plain JSON, and the same object for as long as the tool lives. */
import { digestOf } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import { deepFreeze } from "../base/freeze.ts";
import { admitJson, type JsonValue } from "../base/json.ts";
import { TAGS } from "../base/tags.ts";
import { TOOL_PATTERN } from "../model/names.ts";
import type { ToolDefinition } from "../ports/tool.ts";

/** What an application says of a tool besides its schemas. */
export interface ToolWords {
  /** Letters, digits and `. _ : / -`, at most 128. */
  readonly name: string;
  readonly title?: string;
  /** What the tool does, for reviewers and for models. */
  readonly description: string;
}

/** What the application calls a tool, and else what we call it. */
export function wordsOf(
  { name, title, description }: Partial<ToolWords>,
  ours: { readonly name: string; readonly description: string },
): ToolWords {
  return {
    name: name ?? ours.name,
    ...(title === undefined ? {} : { title }),
    description: description ?? ours.description,
  };
}

interface Definition {
  readonly server: string;
  readonly input: JsonValue;
  readonly output: JsonValue;
  readonly annotations?: JsonValue;
  readonly implementation?: string | null;
}

/** @throws RoteError `bad_tool` */
export function defineTool(words: ToolWords, definition: Definition): ToolDefinition {
  const { name, title, description } = words;
  if (!TOOL_PATTERN.test(name)) {
    throw new RoteError("bad_tool", `${JSON.stringify(name)} is no name of a tool`, { name });
  }
  const given = {
    server: definition.server,
    name,
    title: title ?? null,
    description,
    input_schema: definition.input,
    output_schema: definition.output,
    annotations: definition.annotations ?? {},
    implementation: definition.implementation ?? null,
  };
  const copy = admitJson(given, { numbers: "finite" });
  if (!copy.ok) {
    const message = `the definition of ${name} is not JSON at ${copy.error.pointer}: ${copy.error.message}`;
    throw new RoteError("bad_tool", message, { name, pointer: copy.error.pointer });
  }
  deepFreeze(copy.value);
  return Object.freeze({ ...given, ...pick(copy.value) });
}

/** Digest of plain JSON that stands behind a local tool, for `implementation`. */
export function implementationDigest(parts: JsonValue): string {
  return digestOf(TAGS.toolImplementation, parts);
}

function pick(
  copy: JsonValue,
): Pick<ToolDefinition, "input_schema" | "output_schema" | "annotations"> {
  const members = copy as { readonly [key: string]: JsonValue };
  return {
    input_schema: members["input_schema"] ?? null,
    output_schema: members["output_schema"] ?? null,
    annotations: members["annotations"] ?? null,
  };
}
