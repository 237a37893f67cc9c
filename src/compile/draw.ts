/**
 * Plans as graph descriptions: Mermaid for pages, DOT for Graphviz. Edges lead from what is waited for to what waits;
 * dashed edges lead from an approval to the effects it asks for, dotted ones from a pure node to its twin.
 *
 * Names of tools, roles and recipes come from documents; they are written so that no character can end a label or
 * start anything else.
 */
import type { Plan, PlanNode, StepKind } from "../model/plan.ts";

/** The plan as a Mermaid flowchart. */
export function toMermaid(plan: Plan): string {
  const lines = [
    "---",
    `title: ${JSON.stringify((plan.title ?? plan.id).replace(UNSHOWN, "\ufffd"))}`,
    "---",
    "flowchart TD",
    ...plan.nodes.map((node) => {
      const [open, close] = MERMAID_SHAPES[node.step.kind];
      const label = labelOf(node).map(entities).join("<br/>");
      const terminal = node.index === plan.terminal ? ":::terminal" : "";
      return `  n${node.index}${open}"${label}"${close}${terminal}`;
    }),
    ...edgesOf(plan).map(({ from, to, style }) => `  n${from} ${MERMAID_ARROWS[style]} n${to}`),
    "  classDef terminal stroke-width:3px",
  ];
  return `${lines.join("\n")}\n`;
}

/** The plan as a Graphviz digraph. */
export function toDot(plan: Plan): string {
  const lines = [
    `digraph ${quoted([plan.id])} {`,
    `  label=${quoted([plan.title ?? plan.id])} labelloc=t fontname="sans-serif"`,
    '  node [shape=box fontname="sans-serif"]',
    ...plan.nodes.map((node) => {
      const width = node.index === plan.terminal ? " penwidth=3" : "";
      return `  n${node.index} [label=${quoted(labelOf(node))} shape=${DOT_SHAPES[node.step.kind]}${width}]`;
    }),
    ...edgesOf(plan).map(({ from, to, style }) => `  n${from} -> n${to}${DOT_EDGES[style]}`),
    "}",
  ];
  return `${lines.join("\n")}\n`;
}

type EdgeStyle = "after" | "asks" | "twin";

interface Edge {
  readonly from: number;
  readonly to: number;
  readonly style: EdgeStyle;
}

function edgesOf({ nodes }: Plan): readonly Edge[] {
  const edges: Edge[] = [];
  for (const node of nodes) {
    for (const from of node.after) edges.push({ from, to: node.index, style: "after" });
    if (node.step.kind === "approval") {
      for (const to of node.step.effects) edges.push({ from: node.index, to, style: "asks" });
    }
    if (node.twin !== null) edges.push({ from: node.twin, to: node.index, style: "twin" });
  }
  return edges;
}

/** Lines of a node's label: id, what it does, and whether it may be skipped or repeated. */
function labelOf(node: PlanNode): readonly string[] {
  const lines = [node.id, whatOf(node)];
  if (node.when !== null) lines.push("when");
  if (node.each !== null) lines.push(`each ${node.each.as}, at most ${node.each.limit}`);
  return lines;
}

function whatOf({ step }: PlanNode): string {
  switch (step.kind) {
    case "read":
    case "effect":
      return `${step.kind} ${step.tool}`;
    case "model":
      return `model ${step.role}`;
    default:
      return step.kind;
  }
}

const MERMAID_SHAPES: { readonly [kind in StepKind]: readonly [open: string, close: string] } = {
  pure: ["[", "]"],
  read: ["[(", ")]"],
  model: ["([", "])"],
  verify: ["{{", "}}"],
  policy: ["{{", "}}"],
  approval: ["[/", "\\]"],
  effect: ["[[", "]]"],
  checkpoint: [">", "]"],
};

const MERMAID_ARROWS: { readonly [style in EdgeStyle]: string } = {
  after: "-->",
  asks: "-. asks .->",
  twin: "-. same .->",
};

const DOT_SHAPES: { readonly [kind in StepKind]: string } = {
  pure: "box",
  read: "cylinder",
  model: "ellipse",
  verify: "hexagon",
  policy: "hexagon",
  approval: "trapezium",
  effect: "box3d",
  checkpoint: "note",
};

const DOT_EDGES: { readonly [style in EdgeStyle]: string } = {
  after: "",
  asks: " [style=dashed constraint=false]",
  twin: " [style=dotted constraint=false]",
};

/** Everything but letters, digits and a few harmless marks becomes a numbered entity of Mermaid. */
function entities(text: string): string {
  return [...text]
    .map((one) => (/[A-Za-z0-9 _.,-]/.test(one) ? one : `#${one.codePointAt(0)};`))
    .join("");
}

/** Lines as one quoted string of DOT: a backslash starts nothing, and a quote ends nothing. */
function quoted(lines: readonly string[]): string {
  const escaped = lines.map((line) =>
    line.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replace(UNSHOWN, "\ufffd"),
  );
  return `"${escaped.join("\\n")}"`;
}

const UNSHOWN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must be found
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
