import { toDot, toMermaid } from "../compile/index.ts";
import type { Plan } from "../model/plan.ts";
import { loadRecipe } from "./documents.ts";
import { fault } from "./fault.ts";
import { writeDocument } from "./files.ts";
import { type Call, type Outcome, switchOption, textOption } from "./spec.ts";

/** Draws a recipe. SVG is the DOT text drawn by Graphviz, in WebAssembly, loaded only for that. */
export async function run(call: Call): Promise<Outcome> {
  const file = call.arguments[0] ?? "";
  const format = textOption(call.options, "format") ?? "mermaid";
  const { plan } = await loadRecipe(file, call.terminal);
  const drawing = await draw(plan, format);
  const out = textOption(call.options, "out");
  if (out === undefined) {
    return {
      exit: "verified",
      json: { recipe: file, format, drawing },
      text: drawing,
      exact: true,
    };
  }
  writeDocument(
    out,
    drawing.endsWith("\n") ? drawing : `${drawing}\n`,
    switchOption(call.options, "force"),
  );
  return { exit: "verified", json: { recipe: file, format, out }, text: `wrote ${out}` };
}

async function draw(plan: Plan, format: string): Promise<string> {
  if (format === "mermaid") return toMermaid(plan);
  const dot = toDot(plan);
  return format === "dot" ? dot : await drawSvg(dot);
}

async function drawSvg(dot: string): Promise<string> {
  let viz: typeof import("@viz-js/viz");
  try {
    viz = await import("@viz-js/viz");
  } catch {
    throw fault(
      "package_missing",
      "drawing SVG needs the package @viz-js/viz, which is not installed",
      "npm install @viz-js/viz@3.31.0, or use --format dot with a Graphviz of your own",
    );
  }
  const instance = await viz.instance();
  const drawn = instance.render(dot, { format: "svg" });
  if (drawn.status === "success") return drawn.output;
  const message = drawn.errors.map((error) => error.message).join("; ");
  throw fault(
    "drawing_failed",
    `Graphviz could not draw the recipe: ${message}`,
    "try --format dot",
  );
}
