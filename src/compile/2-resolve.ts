/**
 * Phase 2: names become nodes. Ids are unique, every `after`, fence and terminal names a node, the graph has an order,
 * and everything in it leads to the terminal. Which node may read which is answered here, for phase 3 to report.
 */
import { orderGraph, reaching } from "../base/dag.ts";
import { nearest } from "../base/text.ts";
import type { Report } from "../model/diagnostic.ts";
import { type AncestorQuestion, type Ancestry, ancestryOf, areAncestors } from "./ancestry.ts";
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
  linkNodes(named, report);
  const { order, cyclic } = orderNodes(named, report);
  const terminal = findTerminal(parsed, named, report);
  if (terminal !== undefined) refuseUnreachable(terminal, parsed, named, report);
  return placeNodes(parsed, named, order, cyclic, terminal);
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

/** `after` as written, or exactly the nodes referred to where it is left out. */
function linkNodes(named: ReadonlyMap<string, NamedNode>, report: Report): void {
  for (const node of named.values()) {
    const { after, references, pointer, step } = node.parsed;
    for (const [position, id] of (after ?? []).entries()) {
      if (named.has(id)) continue;
      const message = `node "${node.id}" waits for "${id}", which is not a node`;
      report(missingNode(`${pointer}/after/${position}`, message, id, named));
    }
    if (step?.kind === "approval") {
      for (const [position, id] of step.effects.entries()) {
        if (named.has(id)) continue;
        const message = `node "${node.id}" asks approval for "${id}", which is not a node`;
        report(missingNode(`${pointer}/step/effects/${position}`, message, id, named));
      }
    }
    node.after = [...new Set(after ?? references)].filter((id) => named.has(id));
  }
}

function missingNode(
  pointer: string,
  message: string,
  id: string,
  named: ReadonlyMap<string, unknown>,
) {
  const near = nearest(id, named.keys());
  const diagnostic = { code: "missing_node" as const, pointer, message };
  return near === undefined ? diagnostic : { ...diagnostic, hint: `did you mean "${near}"?` };
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

function findTerminal(
  { terminal }: ParsedRecipe,
  named: ReadonlyMap<string, NamedNode>,
  report: Report,
): string | undefined {
  if (terminal === undefined || named.has(terminal)) return terminal;
  const message = `the terminal "${terminal}" is not a node`;
  report(missingNode("/terminal", message, terminal, named));
  return undefined;
}

function refuseUnreachable(
  terminal: string,
  { nodes }: ParsedRecipe,
  named: ReadonlyMap<string, NamedNode>,
  report: Report,
): void {
  // What a nameless or repeated node waits for leads somewhere, though it is not known where.
  const elsewhere = nodes
    .filter(({ id }, position) => named.get(id ?? "")?.parsed.position !== position)
    .flatMap(({ after, references }) => after ?? references);
  const leading = reaching(terminal, [...named.values(), { id: terminal, after: elsewhere }]);
  for (const { id, parsed } of named.values()) {
    if (leading.has(id)) continue;
    report({
      code: "unreachable_node",
      pointer: parsed.pointer,
      message: `node "${id}" does not lead to the terminal "${terminal}"`,
      hint: "what the terminal does not wait for would never run; refer to it or list it in an after",
    });
  }
}

function placeNodes(
  parsed: ParsedRecipe,
  named: ReadonlyMap<string, NamedNode>,
  order: readonly string[],
  cyclic: ReadonlySet<string>,
  terminal: string | undefined,
): ResolvedRecipe {
  const positions = new Map(order.map((id, index) => [id, index] as const));
  const after = order.map((id) =>
    cyclic.has(id) ? [] : indexesOf(named.get(id)?.after ?? [], positions),
  );
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
  return {
    parsed,
    nodes,
    positions,
    terminal: terminal === undefined ? undefined : positions.get(terminal),
    ancestry,
  };
}

const NOTHING: ReadonlySet<string> = new Set();

function indexesOf(ids: readonly string[], positions: ReadonlyMap<string, number>): number[] {
  const indexes: number[] = [];
  for (const id of ids) {
    const index = positions.get(id);
    if (index !== undefined) indexes.push(index);
  }
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
