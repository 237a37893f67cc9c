/**
 * Random well-typed programs: an expression of a wanted type over fixed typed inputs with random values. Most run to a
 * value, some fail on the way, as real ones do.
 */
import fc from "fast-check";
import { absentable, booleans, integers, lists, optionals, texts } from "./random-operators.ts";
import {
  isList,
  isOptional,
  KEY,
  listOf,
  type ProgramType,
  RandomValues,
  ROW,
  same,
} from "./random-values.ts";

interface Variable {
  readonly reference: unknown;
  readonly type: ProgramType;
  /** Inputs have just this type; what an expression named may have a narrower one. */
  readonly exact: boolean;
}

export interface Scope {
  readonly variables: readonly Variable[];
  readonly depth: number;
}

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

/** A random program: an expression, its type, and inputs as JSON. */
export interface Program {
  readonly expression: unknown;
  readonly type: ProgramType;
  readonly inputs: Readonly<Record<string, unknown>>;
}

export const programs: fc.Arbitrary<Program> = fc.gen().map((g) => {
  const random = new RandomExpressions(g);
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

export class RandomExpressions extends RandomValues {
  expression(type: ProgramType, scope: Scope): unknown {
    const known = scope.variables.filter((variable) => same(variable.type, type));
    if (scope.depth === 0 || this.chance(6)) {
      return known.length > 0 && !this.chance(3) ? this.pick(known).reference : this.literal(type);
    }
    const inner: Scope = { ...scope, depth: scope.depth - 1 };
    const choices = [
      ...this.anyType(type, inner),
      ...this.ofType(type, inner),
      ...this.ofType(type, inner),
    ];
    return this.pick(choices)();
  }

  literal(type: ProgramType): unknown {
    const value = this.value(type);
    if (type === "boolean") return value;
    if (type === "integer" && typeof value === "number")
      return this.chance(2) ? value : { op: "literal", value };
    return { op: "literal", value, type };
  }

  within(scope: Scope, name: string, type: ProgramType, position: boolean): Scope {
    const added = parts({ item: name }, name, "item", type);
    if (position) added.push({ reference: { index: name }, type: "integer", exact: true });
    return { ...scope, variables: [...scope.variables, ...added, ...added] };
  }

  /** Ways to an expression that exist for every type. */
  anyType(type: ProgramType, scope: Scope): (() => unknown)[] {
    const make = (of: ProgramType): unknown => this.expression(of, scope);
    const ways: (() => unknown)[] = [
      () => ({ op: "if", condition: make("boolean"), then: make(type), else: make(type) }),
      () => {
        const name = this.name();
        const bound = this.type(1);
        const inside = this.within(scope, name, bound, false);
        return { op: "let", name, value: make(bound), in: this.expression(type, inside) };
      },
      () => ({ op: "get", value: make({ record: { a: type, b: "integer" } }), pointer: "/a" }),
    ];
    if (!isOptional(type) && type !== "json") {
      ways.push(
        () => ({ op: "default", value: absentable(this, type, scope), else: make(type) }),
        () => ({ op: "get", value: absentable(this, type, scope) }),
        () => ({ op: "get", value: absentable(this, type, scope), else: make(type) }),
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

  ofType(type: ProgramType, scope: Scope): (() => unknown)[] {
    switch (type) {
      case "integer":
        return integers(this, scope);
      case "boolean":
        return booleans(this, scope);
      case "text":
        return texts(this, scope);
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
          () => this.literal("timestamp"),
        ];
      case "json":
        return [
          () => ({ op: "to_json", value: this.expression(this.type(1), scope) }),
          () => ({
            op: "to_json",
            value: this.expression("integer", scope),
            number: this.pick([0, 1, 2, 5]),
          }),
          () => ({
            op: "get",
            value: this.expression("json", scope),
            pointer: this.pick(["/a", "/0", "/b/0", "/a~1b"]),
            else: this.expression("json", scope),
          }),
          () => ({ op: "input", name: "doc", pointer: this.pick(["", "/a", "/0", "/__proto__"]) }),
        ];
      default:
        break;
    }
    if (isList(type)) return lists(this, type.list, scope);
    if (isOptional(type)) return optionals(this, type.optional, scope);
    if ("dictionary" in type) {
      return [
        () => ({
          op: "merge",
          left: this.expression(type, scope),
          right: this.expression(type, scope),
        }),
        () => this.literal(type),
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
  over(of: ProgramType, scope: Scope): { list: unknown; as: string; inside: Scope } {
    const as = this.name();
    return {
      list: this.expression(listOf(of), scope),
      as,
      inside: this.within(scope, as, of, true),
    };
  }
}
