/** JSON Schemas of recipes and verifiers, from the zod models and the operator table. */
import * as z from "zod/mini";
import { ROUNDINGS } from "../../src/base/integer.ts";
import type { JsonValue } from "../../src/base/json.ts";
import { ID_PATTERN, NAME_PATTERN } from "../../src/model/names.ts";
import {
  MAX_SCALE,
  type MemberSpec,
  OPERATOR_NAMES,
  OPERATORS,
  ORDERS,
} from "../../src/model/operators.ts";
import { recipeSchema, verifierSchema } from "../../src/model/recipe.ts";
import { BUILTIN_TYPES } from "../../src/model/type.ts";

type Schema = { readonly [key: string]: JsonValue };

const POINTER = "^(/([^~/]|~[01])*)*$";
const SHORT_FORMS = ["input", "node", "item", "index"] as const;
const WEAKER =
  "Made from Rote's own models. It is weaker than `rote check`, which also judges names, graph and types.";

const ref = (name: string): Schema => ({ $ref: `#/$defs/${name}` });
const one = (of: Schema): Schema => ({ type: "array", items: of });
const map = (of: Schema): Schema => ({ type: "object", additionalProperties: of });
const closed = (properties: Schema, required: readonly string[]): Schema => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

export function outputs(): ReadonlyMap<string, string> {
  return new Map([
    ["schema/recipe.schema.json", text(documentSchema(recipeSchema, "Rote recipe"))],
    [
      "schema/verifier.schema.json",
      text(
        alsoBare(documentSchema(verifierSchema, "Rote verifier: a document or a bare expression")),
      ),
    ],
  ]);
}

function text(schema: Schema): string {
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function documentSchema(document: z.ZodMiniType, title: string): Schema {
  const made = z.toJSONSchema(document, { unrepresentable: "any" }) as unknown as Schema;
  const { $schema, $defs, ...rest } = made;
  return {
    $schema: $schema ?? "",
    title,
    description: WEAKER,
    ...rest,
    $defs: { ...($defs as Schema | undefined), type: typeSchema(), ...expressionSchemas() },
  };
}

function alsoBare(schema: Schema): Schema {
  const { $schema, title, description, $defs, ...document } = schema;
  return {
    $schema: $schema ?? "",
    title: title ?? "",
    description: description ?? "",
    anyOf: [document, ref("expression")],
    $defs: $defs ?? {},
  };
}

function typeSchema(): JsonValue {
  const form = (name: string, of: Schema, more: Schema = {}) =>
    closed({ [name]: of, ...more }, [name]);
  return {
    description: "Type of a value: a word, a name from `types`, or an object.",
    anyOf: [
      { enum: [...BUILTIN_TYPES] },
      { type: "string", pattern: NAME_PATTERN.source },
      form("list", ref("type")),
      form("dictionary", ref("type")),
      form("optional", ref("type")),
      form("record", map(ref("type")), { others: { enum: ["refuse", "ignore"] } }),
      form("enum", { type: "array", items: { type: "string" }, minItems: 1, uniqueItems: true }),
      form("decimal", { type: "integer", minimum: 0, maximum: MAX_SCALE }),
    ],
  };
}

function expressionSchemas(): Schema {
  const schemas: { [name: string]: JsonValue } = {
    expression: {
      description: "A literal, a list of expressions, a reference, or an operator.",
      anyOf: [
        { type: ["string", "boolean", "null"] },
        { type: "integer", minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
        one(ref("expression")),
        ref("reference"),
        ref("operator"),
      ],
    },
    reference: {
      description: "Short form: a name, then a JSON Pointer.",
      oneOf: SHORT_FORMS.map((form) => closed({ [form]: { type: "string" } }, [form])),
    },
    // Chosen by `op` alone: a validator that tried all operators would try them again in every operand.
    operator: {
      type: "object",
      required: ["op"],
      properties: { op: { enum: [...OPERATOR_NAMES] } },
      allOf: OPERATOR_NAMES.map((name) => ({
        if: { properties: { op: { const: name } } },
        then: ref(`operator_${name}`),
      })),
    },
  };
  for (const name of OPERATOR_NAMES) schemas[`operator_${name}`] = operatorSchema(name);
  return schemas;
}

function operatorSchema(name: (typeof OPERATOR_NAMES)[number]): Schema {
  const { members, result, notes } = OPERATORS[name];
  const properties: { [member: string]: JsonValue } = { op: { const: name } };
  const required = ["op"];
  for (const [member, spec] of Object.entries(members)) {
    properties[member] = { description: spec.of, ...memberSchema(name, spec), ...standard(spec) };
    if (spec.required) required.push(member);
  }
  const description = notes === "" ? `Gives ${result}.` : `Gives ${result}. ${notes}`;
  return { description, ...closed(properties, required) };
}

function standard({ default: value }: MemberSpec): Schema {
  return value === undefined || (typeof value === "object" && value !== null)
    ? {}
    : { default: value };
}

function memberSchema(operator: string, { kind }: MemberSpec): Schema {
  switch (kind) {
    case "expression":
    case "lazy":
    case "body":
      return ref("expression");
    case "expressions":
      return one(ref("expression"));
    case "fields":
      return map(ref("expression"));
    case "value":
      return {};
    case "type":
      return ref("type");
    case "name":
      return { type: "string", pattern: (operator === "node" ? ID_PATTERN : NAME_PATTERN).source };
    case "binding":
      return { type: "string", pattern: NAME_PATTERN.source };
    case "pointer":
      return { type: "string", pattern: POINTER };
    case "rounding":
      return { enum: [...ROUNDINGS] };
    case "order":
      return { enum: [...ORDERS] };
    case "flag":
      return { type: "boolean" };
    default:
      return { type: "integer", minimum: 0, maximum: MAX_SCALE };
  }
}
