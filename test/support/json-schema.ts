/** As much of JSON Schema 2020-12 as schema/ uses. An unknown word throws, so that nothing passes unread. */

type Schema = Readonly<Record<string, unknown>>;

/** Pointers of the values that do not fit, with the word of the schema that refuses them. */
export function misfits(root: Schema, value: unknown): readonly string[] {
  return check(root, value, "", root);
}

const ANNOTATIONS = new Set(["$schema", "$defs", "title", "description", "default", "id", "then"]);

function check(schema: Schema, value: unknown, at: string, root: Schema): readonly string[] {
  return Object.entries(schema).flatMap(([word, wanted]) => {
    if (ANNOTATIONS.has(word)) return [];
    const rule = RULES[word];
    if (rule === undefined) throw new Error(`unread word ${word} of a schema`);
    return rule({ wanted, value, at, root, schema });
  });
}

interface Case {
  readonly wanted: unknown;
  readonly value: unknown;
  readonly at: string;
  readonly root: Schema;
  readonly schema: Schema;
}

type Rule = (subject: Case) => readonly string[];

const RULES: Readonly<Record<string, Rule>> = {
  $ref: ({ wanted, value, at, root }) => {
    const name = String(wanted).replace("#/$defs/", "");
    return check((root["$defs"] as Record<string, Schema>)[name]!, value, at, root);
  },
  type: ({ wanted, value, at }) =>
    fail(![wanted].flat().some((type) => isOf(type, value)), at, "type"),
  const: ({ wanted, value, at }) => fail(value !== wanted, at, "const"),
  enum: ({ wanted, value, at }) => fail(!(wanted as unknown[]).includes(value), at, "enum"),
  pattern: ({ wanted, value, at }) =>
    fail(typeof value === "string" && !new RegExp(String(wanted), "u").test(value), at, "pattern"),
  maxLength: ({ wanted, value, at }) =>
    fail(typeof value === "string" && value.length > Number(wanted), at, "maxLength"),
  minimum: ({ wanted, value, at }) =>
    fail(typeof value === "number" && value < Number(wanted), at, "minimum"),
  maximum: ({ wanted, value, at }) =>
    fail(typeof value === "number" && value > Number(wanted), at, "maximum"),
  minItems: ({ wanted, value, at }) =>
    fail(Array.isArray(value) && value.length < Number(wanted), at, "minItems"),
  maxItems: ({ wanted, value, at }) =>
    fail(Array.isArray(value) && value.length > Number(wanted), at, "maxItems"),
  uniqueItems: ({ value, at }) =>
    fail(Array.isArray(value) && new Set(value).size < value.length, at, "uniqueItems"),
  required: ({ wanted, value, at }) =>
    fail(
      isObject(value) && !(wanted as string[]).every((key) => Object.hasOwn(value, key)),
      at,
      "required",
    ),
  propertyNames: ({ wanted, value, at, root }) =>
    members(value).flatMap(([key]) => check(wanted as Schema, key, `${at}/${key}`, root)),
  properties: ({ wanted, value, at, root }) =>
    members(value).flatMap(([key, one]) => {
      const property = (wanted as Record<string, Schema>)[key];
      return property === undefined ? [] : check(property, one, `${at}/${key}`, root);
    }),
  additionalProperties: ({ wanted, value, at, root, schema }) => {
    const known = Object.keys((schema["properties"] as object | undefined) ?? {});
    const others = members(value).filter(([key]) => !known.includes(key));
    if (wanted === false) return others.map(([key]) => `${at}/${key} additionalProperties`);
    return others.flatMap(([key, one]) => check(wanted as Schema, one, `${at}/${key}`, root));
  },
  items: ({ wanted, value, at, root }) =>
    Array.isArray(value)
      ? value.flatMap((one, index) => check(wanted as Schema, one, `${at}/${index}`, root))
      : [],
  allOf: ({ wanted, value, at, root }) =>
    (wanted as Schema[]).flatMap((one) => check(one, value, at, root)),
  anyOf: ({ wanted, value, at, root }) =>
    fail(
      !(wanted as Schema[]).some((one) => check(one, value, at, root).length === 0),
      at,
      "anyOf",
    ),
  oneOf: ({ wanted, value, at, root }) => {
    const fitting = (wanted as Schema[]).filter((one) => check(one, value, at, root).length === 0);
    return fail(fitting.length !== 1, at, "oneOf");
  },
  if: ({ wanted, value, at, root, schema }) =>
    check(wanted as Schema, value, at, root).length > 0
      ? []
      : check(schema["then"] as Schema, value, at, root),
};

function fail(failed: boolean, at: string, word: string): readonly string[] {
  return failed ? [`${at} ${word}`] : [];
}

function isOf(type: unknown, value: unknown): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "object":
      return isObject(value);
    default:
      return typeof value === type;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function members(value: unknown): readonly (readonly [string, unknown])[] {
  return isObject(value) ? Object.entries(value) : [];
}
