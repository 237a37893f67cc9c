/**
 * Phase 2: names become nodes. Ids are unique, every `after`, fence and terminal names a node, the graph has an order,
 * and everything in it leads to the terminal. Which node may read which is answered here, for phase 3 to report.
 */
import { orderGraph } from "../base/dag.ts";
import type { Report } from "../model/diagnostic.ts";
import { type AncestorQuestion, type Ancestry, ancestryOf, areAncestors } from "./ancestry.ts";
import { type Hints, hintsFrom } from "./hints.ts";
import type { ParsedNode, ParsedRecipe } from "./parsed.ts";

export interface ResolvedRecipe {
  readonly parsed: ParsedRecipe;
  /** In plan order: topological, ties by id. */
  readonly nodes: readonly ResolvedNode[];
  /** Plan index of each id. */
  readonly positions: ReadonlyMap<string, number>;
  readonly terminal: number | undefined;
  readonly ancestry: Ancestry;
}

export interface ResolvedNode {
  readonly id: string;
  readonly index: number;
  readonly parsed: ParsedNode;
  /** Direct dependencies as plan indexes, ascending, without repeats. */
  readonly after: readonly number[];
  /** Nodes that its expressions refer to although they do not come before it. */
  readonly beyondReach: ReadonlySet<string>;
  /** It cannot be ordered, or part of it could not be read: its output has no known type. */
  readonly failed: boolean;
}

interface NamedNode {
  readonly id: string;
  readonly parsed: ParsedNode;
  /** Ids of direct dependencies that exist, without repeats. */
  after: readonly string[];
}

export function resolveRecipe(parsed: ParsedRecipe, report: Report): ResolvedRecipe {
  const named = nameNodes(parsed.nodes, report);
  const hints = hintsFrom([...named.keys()]);
  const meant = linkNodes(named, hints, report);
  const { order, cyclic } = orderNodes(named, report);
  const placed = placeNodes(named, order, cyclic);
  const terminal = findTerminal(parsed, placed.positions, hints, report);
  if (terminal !== undefined) {
    refuseUnreachable(terminal, [...meant, ...unplaced(parsed.nodes, named)], placed, report);
  }
  return { parsed, ...placed, terminal };
}

/** The first node of each id, by id. */
function nameNodes(nodes: readonly ParsedNode[], report: Report): ReadonlyMap<string, NamedNode> {
  const named = new Map<string, NamedNode>();
  for (const parsed of nodes) {
    const { id } = parsed;
    if (id === undefined) continue;
    const first = named.get(id);
    if (first === undefined) {
      named.set(id, { id, parsed, after: [] });
      continue;
    }
    report({
      code: "duplicate_node",
      pointer: `${parsed.pointer}/id`,
      message: `there is already a node "${id}"`,
      hint: "ids are unique in a recipe; give every copy its own",
      related: [`${first.parsed.pointer}/id`],
    });
  }
  return named;
}

/**
 * `after` as written, or exactly the nodes referred to where it is left out. Returns the ids that misspelt ones were
 * probably meant to be.
 */
function linkNodes(
  named: ReadonlyMap<string, NamedNode>,
  hints: Hints,
  report: Report,
): readonly string[] {
  const meant: string[] = [];
  const missing = (pointer: string, message: string, id: string): void => {
    const near = hints.nearest(id);
    if (near !== undefined) meant.push(near);
    report(missingNode(pointer, message, near));
  };
  for (const node of named.values()) {
    const { after, references, pointer, step } = node.parsed;
    for (const [position, id] of (after ?? []).entries()) {
      if (named.has(id)) continue;
      const message = `node "${node.id}" waits for "${id}", which is not a node`;
      missing(`${pointer}/after/${position}`, message, id);
    }
    if (step?.kind === "approval") {
      for (const [position, id] of step.effects.entries()) {
        if (named.has(id)) continue;
        const message = `node "${node.id}" asks approval for "${id}", which is not a node`;
        missing(`${pointer}/step/effects/${position}`, message, id);
      }
    }
    const wanted = after === undefined ? references : [...new Set(after)];
    node.after = wanted.every((id) => named.has(id))
      ? wanted
      : wanted.filter((id) => named.has(id));
    if (node.after === wanted || after !== undefined) continue;
    // Reported in phase 3, where the expression is.
    for (const id of wanted) {
      const near = named.has(id) ? undefined : hints.nearest(id);
      if (near !== undefined) meant.push(near);
    }
  }
  return meant;
}

function missingNode(pointer: string, message: string, near: string | undefined) {
  const diagnostic = { code: "missing_node" as const, pointer, message };
  return near === undefined ? diagnostic : { ...diagnostic, hint: `did you mean ${near}?` };
}

/**
 * The order of all nodes. Cycles are reported and the dependencies of their members cut, so that whatever waits for
 * them still has its place.
 */
function orderNodes(
  named: ReadonlyMap<string, NamedNode>,
  report: Report,
): { readonly order: readonly string[]; readonly cyclic: ReadonlySet<string> } {
  const cyclic = new Set<string>();
  const first = orderGraph([...named.values()]);
  if (first.ok) return { order: first.value, cyclic };
  for (const cycle of first.error.cycles) {
    const pointers = cycle.map((id) => {
      cyclic.add(id);
      return named.get(id)?.parsed.pointer ?? "";
    });
    report({
      code: "cycle",
      pointer: pointers[0] ?? "",
      message:
        cycle.length === 1
          ? `node ${listed(cycle)} waits for itself`
          : `nodes ${listed(cycle)} wait for each other`,
      hint: "a recipe is a graph without cycles; drop one of these dependencies or references",
      related: pointers.slice(1),
    });
  }
  const cut = [...named.values()].map(({ id, after }) => ({
    id,
    after: cyclic.has(id) ? [] : after,
  }));
  const second = orderGraph(cut);
  return { order: second.ok ? second.value : [], cyclic };
}

const LISTED = 20;

function listed(ids: readonly string[]): string {
  const shown = ids.slice(0, LISTED).map((id) => `"${id}"`);
  const rest = ids.length - shown.length;
  return rest === 0 ? shown.join(", ") : `${shown.join(", ")} and ${rest} more`;
}

/** Nodes in plan order, with all that follows from the order. */
interface Placed {
  readonly nodes: readonly ResolvedNode[];
  readonly positions: ReadonlyMap<string, number>;
  readonly ancestry: Ancestry;
  /** Dependencies as written, those that make cycles included. */
  readonly uncut: readonly (readonly number[])[];
}

function placeNodes(
  named: ReadonlyMap<string, NamedNode>,
  order: readonly string[],
  cyclic: ReadonlySet<string>,
): Placed {
  const positions = new Map<string, number>();
  for (const id of order) positions.set(id, positions.size);
  const uncut = order.map((id) => indexesOf(named.get(id)?.after ?? [], positions));
  const after =
    cyclic.size === 0
      ? uncut
      : uncut.map((one, index) => (cyclic.has(order[index] ?? "") ? [] : one));
  const ancestry = ancestryOf(after);
  const beyond = beyondReach(order, named, positions, ancestry, cyclic);
  const nodes: ResolvedNode[] = [];
  for (const [index, id] of order.entries()) {
    const node = named.get(id);
    if (node === undefined) continue;
    nodes.push({
      id,
      index,
      parsed: node.parsed,
      after: after[index] ?? [],
      beyondReach: beyond.get(id) ?? NOTHING,
      failed: node.parsed.broken || cyclic.has(id),
    });
  }
  return { nodes, positions, ancestry, uncut };
}

function findTerminal(
  { terminal }: ParsedRecipe,
  positions: ReadonlyMap<string, number>,
  hints: Hints,
  report: Report,
): number | undefined {
  if (terminal === undefined) return undefined;
  const position = positions.get(terminal);
  if (position === undefined) {
    const message = `the terminal "${terminal}" is not a node`;
    report(missingNode("/terminal", message, hints.nearest(terminal)));
  }
  return position;
}

/** What nameless and repeated nodes wait for: it leads somewhere, though it is not known where. */
function unplaced(
  nodes: readonly ParsedNode[],
  named: ReadonlyMap<string, NamedNode>,
): readonly string[] {
  if (nodes.length === named.size) return [];
  return nodes
    .filter(({ id, position }) => named.get(id ?? "")?.parsed.position !== position)
    .flatMap(({ after, references }) => after ?? references);
}

/** Reports what does not lead to the terminal, nor to anything in `elsewhere`. */
function refuseUnreachable(
  terminal: number,
  elsewhere: readonly string[],
  { nodes, positions, uncut }: Placed,
  report: Report,
): void {
  const leading = new Uint8Array(nodes.length);
  const open = [terminal, ...indexesOf(elsewhere, positions)];
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    if (leading[index] === 1) continue;
    leading[index] = 1;
    for (const before of uncut[index] ?? []) if (leading[before] === 0) open.push(before);
  }
  for (const { id, index, parsed } of nodes) {
    if (leading[index] === 1) continue;
    report({
      code: "unreachable_node",
      pointer: parsed.pointer,
      message: `node "${id}" does not lead to the terminal "${nodes[terminal]?.id}"`,
      hint: "what the terminal does not wait for would never run; refer to it or list it in an after",
    });
  }
}

const NOTHING: ReadonlySet<string> = new Set();

function indexesOf(ids: readonly string[], positions: ReadonlyMap<string, number>): number[] {
  const indexes: number[] = [];
  for (const id of ids) {
    const index = positions.get(id);
    if (index !== undefined) indexes.push(index);
  }
  return ascending(indexes);
}

function ascending(indexes: number[]): number[] {
  const [first, second] = indexes;
  if (first === undefined || second === undefined) return indexes;
  if (indexes.length === 2) return first <= second ? indexes : [second, first];
  return indexes.sort((left, right) => left - right);
}

/** References that the written `after` does not cover, by node. Without an `after` every reference is covered. */
function beyondReach(
  order: readonly string[],
  named: ReadonlyMap<string, NamedNode>,
  positions: ReadonlyMap<string, number>,
  ancestry: Ancestry,
  cyclic: ReadonlySet<string>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const questions: (AncestorQuestion & { readonly reader: string; readonly read: string })[] = [];
  for (const [descendant, reader] of order.entries()) {
    const node = named.get(reader);
    if (node?.parsed.after === undefined || cyclic.has(reader)) continue;
    for (const read of node.parsed.references) {
      const ancestor = positions.get(read);
      if (ancestor !== undefined) questions.push({ ancestor, descendant, reader, read });
    }
  }
  const answers = areAncestors(ancestry, questions);
  const beyond = new Map<string, Set<string>>();
  for (const [place, { reader, read }] of questions.entries()) {
    if (answers[place] === true) continue;
    const known = beyond.get(reader);
    if (known === undefined) beyond.set(reader, new Set([read]));
    else known.add(read);
  }
  return beyond;
}
