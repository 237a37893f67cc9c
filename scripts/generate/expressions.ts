import {
  EVALUATION_LIMITS,
  EXPRESSION_LIMITS,
  MADE_TYPES,
  TYPE_LIMITS,
} from "../../src/expression/limits.ts";
import { EXPRESSION_CODES } from "../../src/model/diagnostic.ts";
import {
  EVALUATION_CODES,
  type EvaluationCode,
  type MemberSpec,
  OPERATOR_FAMILIES,
  OPERATOR_NAMES,
  OPERATORS,
  type OperatorFamily,
  type OperatorName,
  type OperatorSpec,
} from "../../src/model/operators.ts";
import { code, markdownTable, replacePart, withGeneratedPart } from "../markdown.ts";

const PATH = "docs/expressions.md";

const TITLES: { readonly [family in OperatorFamily]: string } = {
  references: "Values and names",
  arithmetic: "Integers",
  comparison: "Comparison",
  logic: "Logic and choice",
  text: "Text",
  conversion: "Conversion",
  dates: "Dates and times",
  structure: "Records, dictionaries, parts",
  lists: "Lists",
};

/** What each evaluation error means. */
const EVALUATION: { readonly [name in EvaluationCode]: string } = {
  missing: "A pointer, key or optional has nothing there.",
  decode_failed: "A value cannot be read as the type; the message names the place in it.",
  unknown_field: "A value has a member that its closed record type does not have.",
  ambiguous: "`lookup` found more than one element.",
  division_by_zero: "The divisor is 0.",
  inexact: "An exact result was asked for and there is none.",
  out_of_range:
    "A negative count, position or exponent, an empty separator, a date outside the calendar.",
  length_mismatch: "`zip` got lists of different lengths.",
  too_large: "An integer, text, list, dictionary or whole value is over its limit.",
  out_of_fuel: "The evaluation takes more than it may.",
};

/** The tables of docs/expressions.md; its prose is written by hand. */
export function outputs(): ReadonlyMap<string, string> {
  const parts = {
    "compile-codes": [...EXPRESSION_CODES].map(code).join(" "),
    "evaluation-codes": markdownTable(
      ["code", "meaning"],
      EVALUATION_CODES.map((name) => [code(name), EVALUATION[name]]),
    ),
    limits: limits(),
  };
  let text = withGeneratedPart(PATH, "operators", operators());
  for (const [name, part] of Object.entries(parts)) text = replacePart(text, PATH, name, part);
  return new Map([[PATH, text]]);
}

function operators(): string {
  return OPERATOR_FAMILIES.map((family) => {
    const names = OPERATOR_NAMES.filter((name) => OPERATORS[name].family === family);
    return [`### ${TITLES[family]}`, "", families(names)].join("\n");
  }).join("\n\n");
}

/** Operators that differ in their name only share a row. */
function families(names: readonly OperatorName[]): string {
  const rows = new Map<string, { names: OperatorName[]; spec: OperatorSpec }>();
  for (const name of names) {
    const spec: OperatorSpec = OPERATORS[name];
    const key = JSON.stringify([spec.members, spec.result, spec.notes]);
    const row = rows.get(key);
    if (row === undefined) rows.set(key, { names: [name], spec });
    else row.names.push(name);
  }
  return markdownTable(
    ["op", "members", "gives", "notes"],
    [...rows.values()].map(({ names: same, spec }) => [
      same.map(code).join(" "),
      Object.entries(spec.members).map(member).join(", "),
      spec.result,
      spec.notes,
    ]),
  );
}

function member([name, spec]: readonly [string, MemberSpec]): string {
  const standard = spec.default;
  if (standard === undefined) return `${code(spec.required ? name : `${name}?`)}: ${kind(spec)}`;
  const meaning =
    typeof standard === "object" && standard !== null ? "the element" : JSON.stringify(standard);
  return `${code(`${name}?`)}: ${kind(spec)} = ${meaning}`;
}

function kind({ kind: what, of }: MemberSpec): string {
  switch (what) {
    case "expressions":
      return `[${of}, ..]`;
    case "fields":
      return `{name: ${of}, ..}`;
    case "rounding":
      return "a word";
    case "order":
      return "`ascending` or `descending`";
    case "body":
      return `${of}, per element`;
    case "expression":
    case "lazy":
    case "value":
    case "type":
    case "name":
    case "binding":
    case "pointer":
    case "flag":
    case "scale":
      return of;
  }
}

function limits(): string {
  const { integerBits, textUnits, elements, nodes, units, fuel } = EVALUATION_LIMITS;
  const many = (count: number) => count.toLocaleString("en-US");
  const table = markdownTable(
    ["limit (a host may lower it)", "default"],
    [
      [
        "one expression",
        `${many(EXPRESSION_LIMITS.operators)} operators, ${EXPRESSION_LIMITS.depth} JSON levels in long form`,
      ],
      [
        "a type, names resolved",
        `${TYPE_LIMITS.depth} levels, ${many(TYPE_LIMITS.parts)} parts; all that an expression makes, ${many(MADE_TYPES)} parts`,
      ],
      ["an integer", `${many(integerBits)} bits`],
      ["a text", `${many(textUnits)} UTF-16 units`],
      ["a list or dictionary", `${many(elements)} elements`],
      [
        "a whole value",
        `${many(nodes)} scalars and containers, ${many(units)} units of text and keys`,
      ],
      ["fuel of one evaluation", many(fuel)],
    ],
  );
  return table;
}
