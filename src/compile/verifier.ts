/**
 * Verifiers: the rule that the application supplies, checked against the recipe it is paired with.
 *
 * It reads one input, `context`, whose type follows from the plan; its digest depends on the rule alone. Types that the
 * recipe names are not known here, so a recipe cannot bend what its verifier says.
 */
import { invariant } from "../base/assert.ts";
import { byteSink, bytesOf, putAscii, putQuoted } from "../base/canonical-bytes.ts";
import { digestBytes } from "../base/digest.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts";
import { err, ok, type Result } from "../base/result.ts";
import { TAGS } from "../base/tags.ts";
import {
  BOOLEAN,
  checkExpression,
  compileExpression,
  fits,
  normalJson,
  parseExpression,
  putNormal,
  type TypedExpression,
  typeName,
} from "../expression/index.ts";
import type { Diagnostic, Report } from "../model/diagnostic.ts";
import type { Plan, Verifier } from "../model/plan.ts";
import { verifierSchema } from "../model/recipe.ts";
import type { Type } from "../model/type.ts";
import { readTypes, withoutLong } from "./1-parse.ts";
import { contextTypes } from "./context.ts";
import { member } from "./json-object.ts";
import type { CompileOptions } from "./recipe.ts";
import { readMembers } from "./shape.ts";
import { readSource } from "./source.ts";

const VERIFIER_TAG = TAGS.verifier;

/** Every expression of a verifier finds the context in this slot of `Sources.inputs`. */
const CONTEXT_SLOT = 0;

/**
 * Compiles a verifier: a document, or a bare expression, which is a document's `result`. Both expressions are boolean
 * and read `contextTypes(plan)` from the first input slot. Problems are reported as for recipes.
 */
export function compileVerifier(
  source: unknown,
  plan: Plan,
  options: CompileOptions = {},
): Result<Verifier, readonly Diagnostic[]> {
  const read = readSource(source, options);
  if (!read.ok) return read;
  const { document, report, problems } = read.value;

  const parsed = parseVerifier(document, report);
  const types = contextTypes(plan);
  const result = parsed.result && checkRule(parsed.result, parsed.names, types.result, report);
  const before =
    parsed.before && checkRule(parsed.before, parsed.names, types.beforeEffect, report);
  const effect = plan.nodes.find(({ step }) => step.kind === "effect");
  if (effect !== undefined && parsed.before === undefined) {
    report({
      code: "verifier_without_before_effect",
      pointer: "",
      message: `the recipe has effects ("${effect.id}"), and the verifier has no before_effect`,
      hint: "before_effect judges each proposed operation before it is admitted",
    });
  }

  const found = problems();
  if (found !== null) return err(found);
  invariant(result !== undefined, "what could not be checked was reported");
  const compile = (typed: TypedExpression) => compileExpression(typed, LAYOUT, options.evaluation);
  const bytes = normalVerifier(parsed.id, before, result);
  return ok(
    Object.freeze({
      id: parsed.id,
      digest: digestBytes(VERIFIER_TAG, bytes),
      normal: normalJson(bytes),
      beforeEffect: before === undefined ? null : compile(before),
      result: compile(result),
    }),
  );
}

const LAYOUT = {
  input: () => CONTEXT_SLOT,
  node: (id: string): number => {
    throw new TypeError(`invariant broken: a verifier reads no node, "${id}" was let through`);
  },
};

interface Rule {
  readonly at: string;
  readonly source: JsonValue;
}

interface ParsedVerifier {
  readonly id: string | null;
  readonly names: ReadonlyMap<string, Type>;
  readonly before: Rule | undefined;
  readonly result: Rule | undefined;
}

function parseVerifier(document: JsonValue, report: Report): ParsedVerifier {
  if (!isDocument(document)) {
    return { id: null, names: new Map(), before: undefined, result: { at: "", source: document } };
  }
  const source = withoutLong(document, report);
  const read = readMembers(verifierSchema, source, "", report);
  const rule = (at: string, source: JsonValue | undefined) =>
    source === undefined ? undefined : { at, source };
  return {
    id: read.id ?? null,
    names: readTypes(source, report),
    before: rule("/before_effect", read.before_effect),
    result: rule("/result", read.result),
  };
}

/** Every expression that is an object has `op`, or is a short form of one member that no document has. */
function isDocument(document: JsonValue): document is JsonObject {
  if (!isJsonObject(document) || member(document, "op") !== undefined) return false;
  return DOCUMENT_MEMBERS.some((name) => member(document, name) !== undefined);
}

const DOCUMENT_MEMBERS = Object.keys(verifierSchema.shape).filter((name) => name !== "id");

function checkRule(
  { at, source }: Rule,
  names: ReadonlyMap<string, Type>,
  context: Type,
  report: Report,
): TypedExpression | undefined {
  const parsed = parseExpression(source, at, names, report);
  const typed =
    parsed &&
    checkExpression(
      parsed,
      {
        input: (name) => (name === "context" ? context : undefined),
        inputNames: ["context"],
        node: () => "unknown_node",
        nodeNames: [],
      },
      report,
    );
  if (typed === undefined || fits(typed.type, BOOLEAN)) return typed;
  report({
    code: "type_mismatch",
    pointer: at,
    message: `a verifier's rule is boolean, this is ${typeName(typed.type)}`,
  });
  return undefined;
}

function normalVerifier(
  id: string | null,
  before: TypedExpression | undefined,
  result: TypedExpression,
): Uint8Array {
  const sink = byteSink();
  putAscii(sink, "{");
  if (before !== undefined) {
    putAscii(sink, '"before_effect":');
    putNormal(sink, before.parsed.tree);
    putAscii(sink, ",");
  }
  if (id !== null) {
    putAscii(sink, '"id":');
    putQuoted(sink, id);
    putAscii(sink, ",");
  }
  putAscii(sink, '"result":');
  putNormal(sink, result.parsed.tree);
  putAscii(sink, ',"version":1}');
  return bytesOf(sink);
}
