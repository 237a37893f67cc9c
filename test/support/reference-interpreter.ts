/**
 * A second, naive interpreter of docs/expressions.md: every value carries its kind, every operator is a few lines that
 * say what the document says. It shares no code with src/expression, so that a mistake there is not repeated here.
 * It counts the operators it evaluates and knows no other limit than the size of integers.
 */
import { type Names, OPERATORS, type Source } from "./reference-operators.ts";
import { follow, int, list, need, type Tagged, untyped } from "./reference-values.ts";

export interface ReferenceResult {
  readonly value: Tagged;
  /** Operators evaluated, and n log2 n for sorting n elements. */
  readonly fuel: number;
}

/** Evaluates an expression, short forms included. Throws `ReferenceFailure`. */
export function interpret(
  expression: unknown,
  inputs: ReadonlyMap<string, Tagged>,
  nodes: ReadonlyMap<string, Tagged> = new Map(),
): ReferenceResult {
  const machine = new Machine(inputs, nodes);
  return { value: machine.run(expression, new Map()), fuel: machine.fuel };
}

export class Machine {
  fuel = 0;
  readonly inputs: ReadonlyMap<string, Tagged>;
  readonly nodes: ReadonlyMap<string, Tagged>;

  constructor(inputs: ReadonlyMap<string, Tagged>, nodes: ReadonlyMap<string, Tagged>) {
    this.inputs = inputs;
    this.nodes = nodes;
  }

  run(source: unknown, names: Names): Tagged {
    this.fuel += 1;
    if (Array.isArray(source)) return list(source.map((each) => this.run(each, names)));
    if (typeof source !== "object" || source === null) return untyped(source);
    const e = source as Source;
    if (!("op" in e)) return this.#short(e, names);
    const operator = OPERATORS[e["op"] as string];
    if (operator === undefined) throw new TypeError(`no operator ${String(e["op"])}`);
    return operator(e, {
      names,
      machine: this,
      at: (member) => this.run(e[member], names),
      has: (member) => e[member] !== undefined && !isDefaultMember(e, member),
      int: (member) => (this.run(e[member], names) as { v: bigint }).v,
      text: (member) => (this.run(e[member], names) as { v: string }).v,
      bool: (member) => (this.run(e[member], names) as { v: boolean }).v,
      list: (member) => (this.run(e[member], names) as { v: readonly Tagged[] }).v,
      each: (elements, member, name = "as", standard = "item") =>
        elements.map((value, at) =>
          this.run(
            e[member],
            new Map([...names, [(e[name] as string) ?? standard, { value, at }]]),
          ),
        ),
    });
  }

  #short(e: Source, names: Names): Tagged {
    const [form = "", path] = Object.entries(e)[0] ?? [];
    const [name = "", ...rest] = String(path).split("/");
    const tokens = rest.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
    if (form === "index") return int(BigInt(names.get(name)?.at ?? 0));
    return need(follow(this.find(form, name, names), tokens));
  }

  find(form: string, name: string, names: Names): Tagged {
    const found =
      form === "input"
        ? this.inputs.get(name)
        : form === "node"
          ? this.nodes.get(name)
          : names.get(name)?.value;
    if (found === undefined) throw new TypeError(`no ${form} ${name}`);
    return found;
  }
}

/** An expression that says what leaving it out would mean is not there: it has the same normal form. */
function isDefaultMember(e: Source, member: string): boolean {
  const written = e[member] as Source | string | number | null;
  const plain =
    typeof written === "object" && written?.["op"] === "literal" && !("type" in written)
      ? written["value"]
      : written;
  if (e["op"] === "if" && member === "else") return plain === null;
  if (e["op"] === "join" && member === "separator") return plain === "";
  if (e["op"] === "date_add" && member !== "value") return plain === 0;
  const element = (e["as"] as string) ?? "item";
  if ((e["op"] === "sum" && member === "value") || (e["op"] === "distinct" && member === "key")) {
    const item = written as Source;
    return (
      item["item"] === element ||
      (item["op"] === "item" &&
        (item["name"] ?? "item") === element &&
        (item["pointer"] ?? "") === "")
    );
  }
  return false;
}
