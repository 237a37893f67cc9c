/**
 * Random well-typed programs: an expression of a wanted type over fixed typed inputs with random values. Most run to a
 * value, some fail on the way, as real ones do.
 */
import type { GeneratorValue } from "fast-check";
import fc from "fast-check";

/** Types the generator knows, as they are written. Kept small so that operands of one type are easy to come by. */
export type ProgramType =
  | "integer"
  | "text"
  | "boolean"
  | "date"
  | "timestamp"
  | "json"
  | { readonly list: ProgramType }
  | { readonly optional: ProgramType }
  | { readonly dictionary: ProgramType }
  | { readonly record: Readonly<Record<string, ProgramType>> };

interface Variable {
  readonly reference: unknown;
  readonly type: ProgramType;
  /** Inputs have just this type; what an expression named may have a narrower one. */
  readonly exact: boolean;
}

interface Scope {
  readonly variables: readonly Variable[];
  readonly depth: number;
}

const KEY = { record: { a: "integer", b: "text" } } as const;
const ROW = {
  record: { id: "integer", k: "text", o: { optional: "integer" }, tags: { list: "text" } },
} as const;

/** Inputs of every program. */
export const PROGRAM_INPUTS: Readonly<Record<string, ProgramType>> = {
  n: "integer",
  m: "integer",
  s: "text",
  flag: "boolean",
  day: "date",
  now: "timestamp",
  doc: "json",
  maybe: { optional: "integer" },
  key: KEY,
  rows: { list: ROW },
  numbers: { list: "integer" },
  words: { list: "text" },
  table: { dictionary: "integer" },
};

const same = (left: ProgramType, right: ProgramType): boolean =>
  JSON.stringify(left) === JSON.stringify(right);
const listOf = (list: ProgramType): ProgramType => ({ list });
const isList = (type: ProgramType): type is { readonly list: ProgramType } =>
  typeof type === "object" && "list" in type;
const isOptional = (type: ProgramType): type is { readonly optional: ProgramType } =>
  typeof type === "object" && "optional" in type;

/** A random program: an expression, its type, and inputs as JSON. */
export interface Program {
  readonly expression: unknown;
  readonly type: ProgramType;
  readonly inputs: Readonly<Record<string, unknown>>;
}

export const programs: fc.Arbitrary<Program> = fc.gen().map((g) => {
  const random = new Random(g);
  const inputs = Object.fromEntries(
    Object.entries(PROGRAM_INPUTS).map(([name, type]) => [name, random.value(type)]),
  );
  const variables: Variable[] = [];
  for (const [name, type] of Object.entries(PROGRAM_INPUTS)) {
    variables.push(...parts({ input: name }, name, "input", type));
  }
  const type = random.type(2);
  const expression = random.expression(type, { variables, depth: 5 });
  return { expression, type, inputs };
});

/** A variable and, for records, its fields. */
function parts(reference: unknown, name: string, form: string, type: ProgramType): Variable[] {
  const exact = form === "input";
  const found: Variable[] = [{ reference, type, exact }];
  if (typeof type === "object" && "record" in type) {
    for (const [field, of] of Object.entries(type.record)) {
      found.push({ reference: { [form]: `${name}/${field}` }, type: of, exact });
    }
  }
  return found;
}

class Random {
  readonly #g: GeneratorValue;
  #names = 0;

  constructor(g: GeneratorValue) {
    this.#g = g;
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[this.#g(fc.nat, { max: choices.length - 1 })]!;
  }

  #chance(one: number): boolean {
    return this.#g(fc.nat, { max: one - 1 }) === 0;
  }

  #name(): string {
    this.#names += 1;
    return `v${this.#names}`;
  }

  type(depth: number): ProgramType {
    const scalars = ["integer", "text", "boolean", "date", "timestamp"] as const;
    if (depth === 0) return this.#pick(scalars);
    const of = (): ProgramType => this.type(depth - 1);
    const optional = (): ProgramType => {
      const inner = of();
      return isOptional(inner) || inner === "json" ? "integer" : { optional: inner };
    };
    return this.#pick<() => ProgramType>([
      ...scalars.map((scalar) => () => scalar),
      () => "json",
      () => ({ list: of() }),
      optional,
      () => ({ dictionary: of() }),
      () => ({ record: { a: of(), b: of() } }),
      () => KEY,
      () => ({ list: ROW }),
    ])();
  }

  /** A JSON value of a type. */
  value(type: ProgramType): unknown {
    switch (type) {
      case "integer":
        return this.#integer();
      case "text":
        return this.#pick([
          "",
          "a",
          "b",
          "ab",
          "A b",
          " x ",
          "12",
          "-3",
          "2024-02-29",
          "\u{1F600}",
          "x\u{1F600}y\u{1F601}",
          "é,ß",
          "a,b,c",
        ]);
      case "boolean":
        return this.#pick([true, false]);
      case "date":
        return this.#pick(["2024-02-29", "2026-01-31", "1999-12-31", "0001-01-01", "9999-12-31"]);
      case "timestamp":
        return this.#pick([
          "2026-01-01T00:00:00Z",
          "2026-01-01T00:30:00.5+01:00",
          "1969-12-31T23:59:59.999Z",
        ]);
      case "json":
        return this.#json(2);
      default:
        break;
    }
    if ("optional" in type) return this.#chance(3) ? null : this.value(type.optional);
    if ("list" in type) return this.#few(() => this.value(type.list));
    if ("dictionary" in type) {
      const keys = this.#few(() => this.#pick(["a", "b", "", "__proto__", "ab", "constructor"]));
      return nullObject(keys.map((key) => [key, this.value(type.dictionary)]));
    }
    const fields = Object.entries(type.record).filter(
      ([, of]) => !isOptional(of) || !this.#chance(3),
    );
    return nullObject(fields.map(([name, of]) => [name, this.value(of)]));
  }

  #integer(): unknown {
    const small = this.#g(fc.integer, { min: -4, max: 12 });
    return this.#pick([
      small,
      small,
      small,
      "9007199254740993",
      "-123456789012345678901234567890",
      String(small),
    ]);
  }

  #json(depth: number): unknown {
    const scalar = (): unknown =>
      this.#pick([null, true, 0, 1.5, -3, 1e21, "x", "12", "2024-02-29", ""]);
    if (depth === 0) return scalar();
    return this.#pick([
      scalar,
      () => this.#few(() => this.#json(depth - 1)),
      () =>
        nullObject(
          this.#few(() => [
            this.#pick(["a", "b", "a/b", "0", "__proto__"]),
            this.#json(depth - 1),
          ]) as never,
        ),
    ])();
  }

  #few<T>(make: () => T): T[] {
    return Array.from({ length: this.#g(fc.nat, { max: 4 }) }, make);
  }

  expression(type: ProgramType, scope: Scope): unknown {
    const known = scope.variables.filter((variable) => same(variable.type, type));
    if (scope.depth === 0 || this.#chance(6)) {
      return known.length > 0 && !this.#chance(3)
        ? this.#pick(known).reference
        : this.#literal(type);
    }
    const inner: Scope = { ...scope, depth: scope.depth - 1 };
    const choices = [
      ...this.#anyType(type, inner),
      ...this.#ofType(type, inner),
      ...this.#ofType(type, inner),
    ];
    return this.#pick(choices)();
  }

  #literal(type: ProgramType): unknown {
    const value = this.value(type);
    if (type === "boolean") return value;
    if (type === "integer" && typeof value === "number")
      return this.#chance(2) ? value : { op: "literal", value };
    return { op: "literal", value, type };
  }

  #within(scope: Scope, name: string, type: ProgramType, position: boolean): Scope {
    const added = parts({ item: name }, name, "item", type);
    if (position) added.push({ reference: { index: name }, type: "integer", exact: true });
    return { ...scope, variables: [...scope.variables, ...added, ...added] };
  }

  /** Ways to an expression that exist for every type. */
  #anyType(type: ProgramType, scope: Scope): (() => unknown)[] {
    const make = (of: ProgramType): unknown => this.expression(of, scope);
    const ways: (() => unknown)[] = [
      () => ({ op: "if", condition: make("boolean"), then: make(type), else: make(type) }),
      () => {
        const name = this.#name();
        const bound = this.type(1);
        const inside = this.#within(scope, name, bound, false);
        return { op: "let", name, value: make(bound), in: this.expression(type, inside) };
      },
      () => ({ op: "get", value: make({ record: { a: type, b: "integer" } }), pointer: "/a" }),
    ];
    if (!isOptional(type) && type !== "json") {
      ways.push(
        () => ({ op: "default", value: this.#absentable(type, scope), else: make(type) }),
        () => ({ op: "get", value: this.#absentable(type, scope) }),
        () => ({ op: "get", value: this.#absentable(type, scope), else: make(type) }),
        () => ({ op: "get", value: make(listOf(type)), key: make("integer"), else: make(type) }),
        () => ({
          op: "get",
          value: make({ dictionary: type }),
          key: make("text"),
          else: make(type),
        }),
        () => ({ op: "decode", value: make("json"), type, else: make(type) }),
      );
    }
    return ways;
  }

  #ofType(type: ProgramType, scope: Scope): (() => unknown)[] {
    switch (type) {
      case "integer":
        return this.#integers(scope);
      case "boolean":
        return this.#booleans(scope);
      case "text":
        return this.#texts(scope);
      case "date":
        return [
          () => ({
            op: "date_add",
            value: this.expression("date", scope),
            months: this.expression("integer", scope),
          }),
          () => ({
            op: "date_add",
            value: this.expression("date", scope),
            days: this.expression("integer", scope),
          }),
          () => ({ op: "month_end", value: this.expression("date", scope) }),
          () => ({
            op: "decode",
            value: this.expression("text", scope),
            type: "date",
            else: this.expression("date", scope),
          }),
          () => ({
            op: "maximum",
            left: this.expression("date", scope),
            right: this.expression("date", scope),
          }),
        ];
      case "timestamp":
        return [
          () => ({
            op: "minimum",
            left: this.expression("timestamp", scope),
            right: this.expression("timestamp", scope),
          }),
          () => this.#literal("timestamp"),
        ];
      case "json":
        return [
          () => ({ op: "to_json", value: this.expression(this.type(1), scope) }),
          () => ({
            op: "to_json",
            value: this.expression("integer", scope),
            number: this.#pick([0, 1, 2, 5]),
          }),
          () => ({
            op: "get",
            value: this.expression("json", scope),
            pointer: this.#pick(["/a", "/0", "/b/0", "/a~1b"]),
            else: this.expression("json", scope),
          }),
          () => ({ op: "input", name: "doc", pointer: this.#pick(["", "/a", "/0", "/__proto__"]) }),
        ];
      default:
        break;
    }
    if (isList(type)) return this.#lists(type.list, scope);
    if (isOptional(type)) return this.#optionals(type.optional, scope);
    if ("dictionary" in type) {
      return [
        () => ({
          op: "merge",
          left: this.expression(type, scope),
          right: this.expression(type, scope),
        }),
        () => this.#literal(type),
      ];
    }
    return [
      () => ({
        op: "record",
        fields: Object.fromEntries(
          Object.entries(type.record).map(([name, of]) => [name, this.expression(of, scope)]),
        ),
      }),
      () => ({
        op: "merge",
        left: this.expression(type, scope),
        right: this.expression(type, scope),
      }),
    ];
  }

  /** A list, the name of its element, and the scope inside. */
  #over(of: ProgramType, scope: Scope): { list: unknown; as: string; inside: Scope } {
    const as = this.#name();
    return {
      list: this.expression(listOf(of), scope),
      as,
      inside: this.#within(scope, as, of, true),
    };
  }

  #integers(scope: Scope): (() => unknown)[] {
    const make = (of: ProgramType): unknown => this.expression(of, scope);
    const pair = () => ({ left: make("integer"), right: make("integer") });
    return [
      () => ({ op: this.#pick(["add", "subtract", "multiply"]), ...pair() }),
      () => ({
        op: this.#pick(["divide", "modulo"]),
        ...pair(),
        rounding: this.#pick(["floor", "ceiling", "truncate", "half_even", "half_up", "exact"]),
      }),
      () => ({
        op: "power",
        base: make("integer"),
        exponent: this.#g(fc.integer, { min: -1, max: 6 }),
      }),
      () => ({ op: "absolute", value: make("integer") }),
      () => ({ op: this.#pick(["minimum", "maximum"]), ...pair() }),
      () => ({ op: "length", value: make("text") }),
      () => ({ op: "decode", value: make("text"), type: "integer", else: make("integer") }),
      () => ({ op: "decode", value: make("text"), type: { decimal: 1 } }),
      () => ({ op: "days_between", from: make("date"), to: make("date") }),
      () => ({ op: "seconds_between", from: make("timestamp"), to: make("timestamp") }),
      () => ({ op: "sum", list: make(listOf("integer")) }),
      () => {
        const { list, as, inside } = this.#over(ROW, scope);
        return { op: "sum", list, as, value: this.expression("integer", inside) };
      },
      () => {
        const { list, as, inside } = this.#over(this.type(1), scope);
        return { op: "count", list, as, where: this.expression("boolean", inside) };
      },
      () => {
        const into = this.#name();
        const { list, as, inside } = this.#over("integer", scope);
        const within = this.#within(inside, into, "integer", false);
        return {
          op: "fold",
          list,
          as,
          into,
          from: make("integer"),
          value: this.expression("integer", within),
        };
      },
    ];
  }

  #booleans(scope: Scope): (() => unknown)[] {
    const make = (of: ProgramType): unknown => this.expression(of, scope);
    const plain = (): ProgramType => {
      const type = this.type(2);
      return isOptional(type) ? type.optional : type;
    };
    const pair = (of: ProgramType) => ({ left: make(of), right: make(of) });
    return [
      () => ({ op: this.#pick(["equal", "not_equal"]), ...pair(plain()) }),
      () => ({ op: "equal", left: make("integer"), right: make({ optional: "integer" }) }),
      () => ({ op: "equal", left: this.#absentable("text", scope), right: null }),
      () => ({
        op: this.#pick(["less", "less_or_equal", "greater", "greater_or_equal"]),
        ...pair(this.#pick(["integer", "text", "date", "timestamp"] as const)),
      }),
      () => ({ op: this.#pick(["and", "or"]), values: this.#few(() => make("boolean")) }),
      () => ({ op: "not", value: make("boolean") }),
      () => ({ op: "has", value: this.#absentable("integer", scope) }),
      () => ({
        op: "has",
        value: make("json"),
        pointer: this.#pick(["/a", "/0", "/toString", "/__proto__/a"]),
      }),
      () => ({ op: "has", value: make(listOf("integer")), key: make("integer") }),
      () => ({
        op: this.#pick(["starts_with", "ends_with"]),
        value: make("text"),
        with: make("text"),
      }),
      () => ({ op: "contains", in: make("text"), value: make("text") }),
      () => {
        const type = plain();
        return { op: "contains", in: make(listOf(type)), value: make(type) };
      },
      () => {
        const { list, as, inside } = this.#over(this.type(1), scope);
        const where = this.expression("boolean", inside);
        return this.#chance(2)
          ? { op: "any", list, as, where }
          : { op: "all", list, as, where, empty: this.#chance(2) };
      },
    ];
  }

  #texts(scope: Scope): (() => unknown)[] {
    const make = (of: ProgramType): unknown => this.expression(of, scope);
    return [
      () => ({ op: "concat", values: this.#few(() => make("text")) }),
      () => ({ op: this.#pick(["lower", "trim"]), value: make("text") }),
      () => ({ op: "join", list: make(listOf("text")), separator: make("text") }),
      () => ({ op: "slice", value: make("text"), from: make("integer"), count: make("integer") }),
      () => ({ op: "to_text", value: make("integer"), scale: this.#pick([0, 2, 3]) }),
      () => ({ op: "to_text", value: make(this.#pick(["boolean", "date", "timestamp"] as const)) }),
      () => ({ op: "digest", value: make(this.type(2)) }),
    ];
  }

  #lists(of: ProgramType, scope: Scope): (() => unknown)[] {
    const make = (type: ProgramType): unknown => this.expression(type, scope);
    const ways: (() => unknown)[] = [
      () => ({ op: "list", values: [make(of), ...this.#few(() => make(of))] }),
      () => {
        const { list, as, inside } = this.#over(this.type(1), scope);
        return { op: "map", list, as, value: this.expression(of, inside) };
      },
      () => {
        const { list, as, inside } = this.#over(of, scope);
        return { op: "filter", list, as, where: this.expression("boolean", inside) };
      },
      () => {
        const { list, as, inside } = this.#over(of, scope);
        const key = this.expression(
          this.#pick(["integer", "text", "date", "timestamp"] as const),
          inside,
        );
        return { op: "sort_by", list, as, key, order: this.#pick(["ascending", "descending"]) };
      },
      () => {
        const { list, as, inside } = this.#over(of, scope);
        if (this.#chance(2)) return { op: "distinct", list, as };
        return { op: "distinct", list, as, key: this.expression(this.type(1), inside) };
      },
      () => ({ op: "slice", value: make(listOf(of)), from: make("integer") }),
      () => ({ op: "flatten", list: make(listOf(listOf(of))) }),
    ];
    if (!isOptional(of) && !isList(of) && of !== "json") {
      ways.push(() => ({
        op: "flatten",
        list: [this.#absentable(of, scope), ...this.#few(() => make(of))],
      }));
    }
    if (of === "integer")
      ways.push(() => ({
        op: "range",
        from: make("integer"),
        count: this.#g(fc.integer, { min: -1, max: 5 }),
      }));
    if (of === "text")
      ways.push(() => ({ op: "split", value: make("text"), separator: make("text") }));
    if (same(of, KEY)) {
      ways.push(() => {
        const paired = { op: "zip", left: make(listOf("integer")), right: make(listOf("text")) };
        const as = this.#name();
        return {
          op: "map",
          list: paired,
          as,
          value: {
            op: "record",
            fields: { a: { item: `${as}/left` }, b: { item: `${as}/right` } },
          },
        };
      });
      ways.push(() => {
        const as = this.#name();
        const value = {
          op: "record",
          fields: { a: { item: `${as}/value` }, b: { item: `${as}/key` } },
        };
        return {
          op: "map",
          list: { op: "entries", value: make({ dictionary: "integer" }) },
          as,
          value,
        };
      });
      ways.push(() => {
        const { list, as, inside } = this.#over(ROW, scope);
        const group = this.#name();
        const grouped = { op: "group_by", list, as, key: this.expression("text", inside) };
        const size = { op: "count", list: { item: `${group}/items` } };
        const fields = { a: size, b: { item: `${group}/key` } };
        return { op: "map", list: grouped, as: group, value: { op: "record", fields } };
      });
    }
    return ways;
  }

  #optionals(of: ProgramType, scope: Scope): (() => unknown)[] {
    return [
      () => this.expression(of, scope),
      // With its type: a bare null has type null, and a record field of that type is written, not left out.
      () => ({ op: "literal", value: null, type: { optional: of } }),
      () => this.#absentable(of, scope),
      () => this.#absentable(of, scope),
      () => ({
        op: "decode",
        value: this.expression("json", scope),
        type: { optional: of },
        else: null,
      }),
    ];
  }

  /** An expression that may be absent by its type, not only by what is wanted of it. */
  #absentable(of: ProgramType, scope: Scope): unknown {
    const make = (type: ProgramType): unknown => this.expression(type, scope);
    const known = scope.variables.filter(
      ({ type, exact }) => exact && same(type, { optional: of }),
    );
    return this.#pick<() => unknown>([
      ...known.map(
        ({ reference }) =>
          () =>
            reference,
      ),
      () => ({ op: "if", condition: make("boolean"), then: make(of) }),
      () => ({ op: this.#pick(["first", "last"]), list: make(listOf(of)) }),
      () => {
        const { list, as, inside } = this.#over(of, scope);
        return { op: "lookup", list, as, where: this.expression("boolean", inside) };
      },
    ])();
  }
}

function nullObject(entries: readonly (readonly [string, unknown])[]): object {
  const made: Record<string, unknown> = Object.create(null);
  for (const [key, value] of entries) made[key] = value;
  return made;
}
