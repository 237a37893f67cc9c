/** A run's inputs from outside: read by their types, all problems told at once. */
import { RoteError } from "../base/error.ts";
import { admitJson, type JsonValue } from "../base/json.ts";
import { nearest } from "../base/text.ts";
import { readValue, typeName, writeValue } from "../expression/index.ts";
import type { PlanInput } from "../model/plan.ts";
import type { Program } from "./program.ts";

export type InputValues = { readonly [name: string]: JsonValue };

interface InputProblem {
  /** Null when the inputs as a whole are at fault. */
  readonly input: string | null;
  /** Into the value of that input. */
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
}

/** Problems told at once. Whoever sends inputs may send any number of names that nobody knows. */
const MOST_PROBLEMS = 100;

/**
 * Inputs in the JSON form of their value types: however an input was written (12 or "12", 12.50 at a scale of 2),
 * the same value comes out as the same JSON.
 *
 * @throws RoteError `bad_input`; `data.problems` lists `{input, pointer, code, message}`.
 */
export function readInputs({ plan, graph }: Program, given: unknown): InputValues {
  if (!isPlain(given)) {
    throw badInput([
      { input: null, pointer: "", code: "bad_shape", message: "inputs must be a plain object" },
    ]);
  }
  const problems: InputProblem[] = [];
  const names = graph.inputNames;
  for (const name of Reflect.ownKeys(given)) {
    if (typeof name === "string" && names.has(name)) continue;
    if (problems.length === MOST_PROBLEMS) {
      const message = "there are more; correct the first ones";
      throw badInput([
        ...problems,
        { input: null, pointer: "", code: "too_many_problems", message },
      ]);
    }
    problems.push(unknownInput(String(name), names));
  }
  const values: { [name: string]: JsonValue } = Object.create(null);
  for (const input of plan.inputs) {
    const value = readInput(input, given, problems);
    if (value !== undefined) values[input.name] = value;
  }
  if (problems.length > 0) throw badInput(problems);
  return Object.freeze(values);
}

function readInput(
  input: PlanInput,
  given: object,
  problems: InputProblem[],
): JsonValue | undefined {
  const { name, reading, type } = input;
  const member = Object.getOwnPropertyDescriptor(given, name);
  if (member === undefined) {
    if (type.kind === "optional" || type.kind === "null") return null;
    const message = `missing; expected ${typeName(reading)}`;
    problems.push({ input: name, pointer: "", code: "missing", message });
    return undefined;
  }
  if (!("value" in member)) {
    const message = "a getter is not a value";
    problems.push({ input: name, pointer: "", code: "bad_json", message });
    return undefined;
  }
  const admitted = admitJson(member.value, { numbers: "finite" });
  if (!admitted.ok) {
    const { pointer: at, code, message } = admitted.error;
    problems.push({ input: name, pointer: at, code, message });
    return undefined;
  }
  const read = readValue(reading, admitted.value);
  if (!read.ok) {
    const { pointer: at, code, message } = read.error;
    problems.push({ input: name, pointer: at, code, message });
    return undefined;
  }
  return writeValue(type, read.value);
}

const MOST_NAMED = 20;

function unknownInput(name: string, names: ReadonlySet<string>): InputProblem {
  const close = nearest(name, names);
  const listed = [...names].slice(0, MOST_NAMED).join(", ");
  const rest = names.size > MOST_NAMED ? ", .." : "";
  const known = names.size === 0 ? "the recipe has no inputs" : `expected ${listed}${rest}`;
  const message = close === undefined ? `unknown; ${known}` : `unknown; did you mean "${close}"?`;
  return { input: name, pointer: "", code: "unknown_input", message };
}

function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function badInput(problems: readonly InputProblem[]): RoteError {
  const lines = problems.map(({ input, pointer: at, message }) => {
    const place = input === null ? "" : `"${input}"${at === "" ? "" : ` at ${at}`}: `;
    return `${place}${message}`;
  });
  return new RoteError("bad_input", `the inputs were refused: ${lines.join("; ")}`, {
    problems: problems.map((problem) => ({ ...problem })),
  });
}
