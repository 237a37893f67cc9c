/** Operator trees -> typed operators. One table says who checks what; the checks stand beside the code they give. */

import type { Report } from "../model/diagnostic.ts";
import type { OperatorName } from "../model/operators.ts";
import type { Type } from "../model/type.ts";
import {
  type Checking,
  madeTooMuch,
  type Operation,
  type Scope,
  type Typed,
  withinExtent,
} from "./checking.ts";
import { arithmetic } from "./operators/arithmetic.ts";
import { comparisons } from "./operators/comparison.ts";
import { conversions } from "./operators/conversion.ts";
import { dates } from "./operators/dates.ts";
import { lists } from "./operators/lists.ts";
import { logic } from "./operators/logic.ts";
import { parts } from "./operators/parts.ts";
import { references } from "./operators/references.ts";
import { sequences } from "./operators/sequences.ts";
import { structure } from "./operators/structure.ts";
import { texts } from "./operators/text.ts";
import type { ParsedExpression } from "./parse.ts";
import type { ParsedNode } from "./parse-tree.ts";
import { noExtents } from "./type-extent.ts";

/** An expression with a type, ready to be compiled. */
export interface TypedExpression {
  readonly at: string;
  readonly parsed: ParsedExpression;
  readonly type: Type;
  readonly root: Typed;
  /** True when it stands inside a node's `each`. */
  readonly inEach: boolean;
  /** Most names in scope at once, the element of `each` included. */
  readonly names: number;
}

const OPERATIONS: { readonly [operator in OperatorName]: Operation } = {
  ...references,
  ...arithmetic,
  ...comparisons,
  ...logic,
  ...texts,
  ...conversions,
  ...dates,
  ...structure,
  ...parts,
  ...lists,
  ...sequences,
};

/**
 * Checks an expression against what it may refer to. Undefined after reporting what is wrong; an operand that was
 * reported causes no second report in its readers.
 */
export function checkExpression(
  parsed: ParsedExpression,
  scope: Scope,
  report: Report,
): TypedExpression | undefined {
  const { item } = scope;
  const checking: Checking = {
    scope,
    report,
    bindings: item === undefined ? [] : [{ name: item.name, slot: 0, type: item.type, list: true }],
    names: { most: item === undefined ? 0 : 1 },
    extents: noExtents(),
    check,
  };
  const root = check(parsed.tree, checking);
  if (root === undefined) return undefined;
  const { most: names } = checking.names;
  return { at: parsed.at, parsed, type: root.type, root, inEach: item !== undefined, names };
}

function check(node: ParsedNode, checking: Checking): Typed | undefined {
  if (madeTooMuch(checking)) return undefined;
  if (node.kind === "broken") {
    for (const part of node.parts) check(part, checking);
    return undefined;
  }
  const found = OPERATIONS[node.op](node, checking);
  return found !== undefined && withinExtent(found, node, checking) ? found : undefined;
}
