/** Random types, and random JSON values of them. */
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

export const KEY = { record: { a: "integer", b: "text" } } as const;
export const ROW = {
  record: { id: "integer", k: "text", o: { optional: "integer" }, tags: { list: "text" } },
} as const;

export const same = (left: ProgramType, right: ProgramType): boolean =>
  JSON.stringify(left) === JSON.stringify(right);
export const listOf = (list: ProgramType): ProgramType => ({ list });
export const isList = (type: ProgramType): type is { readonly list: ProgramType } =>
  typeof type === "object" && "list" in type;
export const isOptional = (type: ProgramType): type is { readonly optional: ProgramType } =>
  typeof type === "object" && "optional" in type;

/** What is drawn from one generator of fast-check. */
export class RandomValues {
  readonly #g: GeneratorValue;
  #names = 0;

  constructor(g: GeneratorValue) {
    this.#g = g;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.#g(fc.nat, { max: choices.length - 1 })]!;
  }

  chance(one: number): boolean {
    return this.#g(fc.nat, { max: one - 1 }) === 0;
  }

  name(): string {
    this.#names += 1;
    return `v${this.#names}`;
  }

  type(depth: number): ProgramType {
    const scalars = ["integer", "text", "boolean", "date", "timestamp"] as const;
    if (depth === 0) return this.pick(scalars);
    const of = (): ProgramType => this.type(depth - 1);
    const optional = (): ProgramType => {
      const inner = of();
      return isOptional(inner) || inner === "json" ? "integer" : { optional: inner };
    };
    return this.pick<() => ProgramType>([
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
        return this.pick([
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
        return this.pick([true, false]);
      case "date":
        return this.pick(["2024-02-29", "2026-01-31", "1999-12-31", "0001-01-01", "9999-12-31"]);
      case "timestamp":
        return this.pick([
          "2026-01-01T00:00:00Z",
          "2026-01-01T00:30:00.5+01:00",
          "1969-12-31T23:59:59.999Z",
        ]);
      case "json":
        return this.#json(2);
      default:
        break;
    }
    if ("optional" in type) return this.chance(3) ? null : this.value(type.optional);
    if ("list" in type) return this.few(() => this.value(type.list));
    if ("dictionary" in type) {
      const keys = this.few(() => this.pick(["a", "b", "", "__proto__", "ab", "constructor"]));
      return nullObject(keys.map((key) => [key, this.value(type.dictionary)]));
    }
    const fields = Object.entries(type.record).filter(
      ([, of]) => !isOptional(of) || !this.chance(3),
    );
    return nullObject(fields.map(([name, of]) => [name, this.value(of)]));
  }

  #integer(): unknown {
    const small = this.#g(fc.integer, { min: -4, max: 12 });
    return this.pick([
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
      this.pick([null, true, 0, 1.5, -3, 1e21, "x", "12", "2024-02-29", ""]);
    if (depth === 0) return scalar();
    return this.pick([
      scalar,
      () => this.few(() => this.#json(depth - 1)),
      () =>
        nullObject(
          this.few(() => [
            this.pick(["a", "b", "a/b", "0", "__proto__"]),
            this.#json(depth - 1),
          ]) as never,
        ),
    ])();
  }

  few<T>(make: () => T): T[] {
    return Array.from({ length: this.#g(fc.nat, { max: 4 }) }, make);
  }

  between(min: number, max: number): number {
    return this.#g(fc.integer, { min, max });
  }
}

function nullObject(entries: readonly (readonly [string, unknown])[]): object {
  const made: Record<string, unknown> = Object.create(null);
  for (const [key, value] of entries) made[key] = value;
  return made;
}
