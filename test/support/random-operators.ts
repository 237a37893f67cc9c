/** Ways to a random expression that exist for one type only. */

import type { RandomExpressions, Scope } from "./random-programs.ts";
import { isList, isOptional, KEY, listOf, type ProgramType, ROW, same } from "./random-values.ts";

export function integers(random: RandomExpressions, scope: Scope): (() => unknown)[] {
  const make = (of: ProgramType): unknown => random.expression(of, scope);
  const pair = () => ({ left: make("integer"), right: make("integer") });
  return [
    () => ({ op: random.pick(["add", "subtract", "multiply"]), ...pair() }),
    () => ({
      op: random.pick(["divide", "modulo"]),
      ...pair(),
      rounding: random.pick(["floor", "ceiling", "truncate", "half_even", "half_up", "exact"]),
    }),
    () => ({
      op: "power",
      base: make("integer"),
      exponent: random.between(-1, 6),
    }),
    () => ({ op: "absolute", value: make("integer") }),
    () => ({ op: random.pick(["minimum", "maximum"]), ...pair() }),
    () => ({ op: "length", value: make("text") }),
    () => ({ op: "decode", value: make("text"), type: "integer", else: make("integer") }),
    () => ({ op: "decode", value: make("text"), type: { decimal: 1 } }),
    () => ({ op: "days_between", from: make("date"), to: make("date") }),
    () => ({ op: "seconds_between", from: make("timestamp"), to: make("timestamp") }),
    () => ({ op: "sum", list: make(listOf("integer")) }),
    () => {
      const { list, as, inside } = random.over(ROW, scope);
      return { op: "sum", list, as, value: random.expression("integer", inside) };
    },
    () => {
      const { list, as, inside } = random.over(random.type(1), scope);
      return { op: "count", list, as, where: random.expression("boolean", inside) };
    },
    () => {
      const into = random.name();
      const { list, as, inside } = random.over("integer", scope);
      const within = random.within(inside, into, "integer", false);
      return {
        op: "fold",
        list,
        as,
        into,
        from: make("integer"),
        value: random.expression("integer", within),
      };
    },
  ];
}

export function booleans(random: RandomExpressions, scope: Scope): (() => unknown)[] {
  const make = (of: ProgramType): unknown => random.expression(of, scope);
  const plain = (): ProgramType => {
    const type = random.type(2);
    return isOptional(type) ? type.optional : type;
  };
  const pair = (of: ProgramType) => ({ left: make(of), right: make(of) });
  return [
    () => ({ op: random.pick(["equal", "not_equal"]), ...pair(plain()) }),
    () => ({ op: "equal", left: make("integer"), right: make({ optional: "integer" }) }),
    () => ({ op: "equal", left: absentable(random, "text", scope), right: null }),
    () => ({
      op: random.pick(["less", "less_or_equal", "greater", "greater_or_equal"]),
      ...pair(random.pick(["integer", "text", "date", "timestamp"] as const)),
    }),
    () => ({ op: random.pick(["and", "or"]), values: random.few(() => make("boolean")) }),
    () => ({ op: "not", value: make("boolean") }),
    () => ({ op: "has", value: absentable(random, "integer", scope) }),
    () => ({
      op: "has",
      value: make("json"),
      pointer: random.pick(["/a", "/0", "/toString", "/__proto__/a"]),
    }),
    () => ({ op: "has", value: make(listOf("integer")), key: make("integer") }),
    () => ({
      op: random.pick(["starts_with", "ends_with"]),
      value: make("text"),
      with: make("text"),
    }),
    () => ({ op: "contains", in: make("text"), value: make("text") }),
    () => {
      const type = plain();
      return { op: "contains", in: make(listOf(type)), value: make(type) };
    },
    () => {
      const { list, as, inside } = random.over(random.type(1), scope);
      const where = random.expression("boolean", inside);
      return random.chance(2)
        ? { op: "any", list, as, where }
        : { op: "all", list, as, where, empty: random.chance(2) };
    },
  ];
}

export function texts(random: RandomExpressions, scope: Scope): (() => unknown)[] {
  const make = (of: ProgramType): unknown => random.expression(of, scope);
  return [
    () => ({ op: "concat", values: random.few(() => make("text")) }),
    () => ({ op: random.pick(["lower", "trim"]), value: make("text") }),
    () => ({ op: "join", list: make(listOf("text")), separator: make("text") }),
    () => ({ op: "slice", value: make("text"), from: make("integer"), count: make("integer") }),
    () => ({ op: "to_text", value: make("integer"), scale: random.pick([0, 2, 3]) }),
    () => ({ op: "to_text", value: make(random.pick(["boolean", "date", "timestamp"] as const)) }),
    () => ({ op: "digest", value: make(random.type(2)) }),
  ];
}

export function lists(random: RandomExpressions, of: ProgramType, scope: Scope): (() => unknown)[] {
  const make = (type: ProgramType): unknown => random.expression(type, scope);
  const ways: (() => unknown)[] = [
    () => ({ op: "list", values: [make(of), ...random.few(() => make(of))] }),
    () => {
      const { list, as, inside } = random.over(random.type(1), scope);
      return { op: "map", list, as, value: random.expression(of, inside) };
    },
    () => {
      const { list, as, inside } = random.over(of, scope);
      return { op: "filter", list, as, where: random.expression("boolean", inside) };
    },
    () => {
      const { list, as, inside } = random.over(of, scope);
      const key = random.expression(
        random.pick(["integer", "text", "date", "timestamp"] as const),
        inside,
      );
      return { op: "sort_by", list, as, key, order: random.pick(["ascending", "descending"]) };
    },
    () => {
      const { list, as, inside } = random.over(of, scope);
      if (random.chance(2)) return { op: "distinct", list, as };
      return { op: "distinct", list, as, key: random.expression(random.type(1), inside) };
    },
    () => ({ op: "slice", value: make(listOf(of)), from: make("integer") }),
    () => ({ op: "flatten", list: make(listOf(listOf(of))) }),
  ];
  if (!isOptional(of) && !isList(of) && of !== "json") {
    ways.push(() => ({
      op: "flatten",
      list: [absentable(random, of, scope), ...random.few(() => make(of))],
    }));
  }
  if (of === "integer")
    ways.push(() => ({
      op: "range",
      from: make("integer"),
      count: random.between(-1, 5),
    }));
  if (of === "text")
    ways.push(() => ({ op: "split", value: make("text"), separator: make("text") }));
  if (same(of, KEY)) {
    ways.push(() => {
      const paired = { op: "zip", left: make(listOf("integer")), right: make(listOf("text")) };
      const as = random.name();
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
      const as = random.name();
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
      const { list, as, inside } = random.over(ROW, scope);
      const group = random.name();
      const grouped = { op: "group_by", list, as, key: random.expression("text", inside) };
      const size = { op: "count", list: { item: `${group}/items` } };
      const fields = { a: size, b: { item: `${group}/key` } };
      return { op: "map", list: grouped, as: group, value: { op: "record", fields } };
    });
  }
  return ways;
}

export function optionals(
  random: RandomExpressions,
  of: ProgramType,
  scope: Scope,
): (() => unknown)[] {
  return [
    () => random.expression(of, scope),
    // With its type: a bare null has type null, and a record field of that type is written, not left out.
    () => ({ op: "literal", value: null, type: { optional: of } }),
    () => absentable(random, of, scope),
    () => absentable(random, of, scope),
    () => ({
      op: "decode",
      value: random.expression("json", scope),
      type: { optional: of },
      else: null,
    }),
  ];
}

/** An expression that may be absent by its type, not only by what is wanted of it. */
export function absentable(random: RandomExpressions, of: ProgramType, scope: Scope): unknown {
  const make = (type: ProgramType): unknown => random.expression(type, scope);
  const known = scope.variables.filter(({ type, exact }) => exact && same(type, { optional: of }));
  return random.pick<() => unknown>([
    ...known.map(
      ({ reference }) =>
        () =>
          reference,
    ),
    () => ({ op: "if", condition: make("boolean"), then: make(of) }),
    () => ({ op: random.pick(["first", "last"]), list: make(listOf(of)) }),
    () => {
      const { list, as, inside } = random.over(of, scope);
      return { op: "lookup", list, as, where: random.expression("boolean", inside) };
    },
  ])();
}
