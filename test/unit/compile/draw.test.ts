import { instance } from "@viz-js/viz";
import { describe, expect, it } from "vitest";
import { toDot, toMermaid } from "../../../src/compile/index.ts";
import { approval, effect, planOf, pure, recipe, verify } from "../../support/compiling.ts";

const HOSTILE = 'a"] --> x["b\\" <b>`#quot;\u202e;\n%%{init}%%';

const PLAN = planOf(
  recipe(
    [
      pure("calculate", { input: "price" }),
      pure("duplicate", { input: "price" }),
      {
        id: "ask.model",
        output: "text",
        when: true,
        step: { kind: "model", role: "fast", prompt: { node: "duplicate" } },
      },
      verify("v", { after: ["calculate", "ask.model"] }),
      approval("fence", ["send"], { after: ["v"] }),
      effect(
        "send",
        {
          after: ["fence"],
          output: { list: "json" },
          each: { list: [1, 2], as: "line", limit: 9 },
        },
        { tool: "mail:send/v1" },
      ),
    ],
    { title: HOSTILE },
  ),
);

describe("a plan as Mermaid", () => {
  it("shows nodes by kind, dependencies, approvals and twins", () => {
    expect(toMermaid(PLAN).split("\n").slice(3)).toEqual([
      "flowchart TD",
      '  n0["calculate<br/>pure"]',
      '  n1["duplicate<br/>pure"]',
      '  n2(["ask.model<br/>model fast<br/>when"])',
      '  n3{{"v<br/>verify"}}',
      '  n4[/"fence<br/>approval"\\]',
      '  n5[["send<br/>effect mail#58;send#47;v1<br/>each line, at most 9"]]:::terminal',
      "  n0 -. same .-> n1",
      "  n1 --> n2",
      "  n0 --> n3",
      "  n2 --> n3",
      "  n3 --> n4",
      "  n4 -. asks .-> n5",
      "  n4 --> n5",
      "  classDef terminal stroke-width:3px",
      "",
    ]);
  });

  it("keeps a hostile title inside one quoted line", () => {
    expect(toMermaid(PLAN).split("\n")[1]).toBe(
      'title: "a\\"] --> x[\\"b\\\\\\" <b>`#quot;\ufffd;\ufffd%%{init}%%"',
    );
  });
});

describe("a plan as DOT", () => {
  it("is read by Graphviz, hostile title and all", async () => {
    const viz = await instance();
    const svg = viz.renderString(toDot(PLAN), { format: "svg" });
    const drawn = [...svg.matchAll(/<title>([^<]*)<\/title>/g)].map(([, title]) => title);
    expect(drawn.filter((title) => /^n\d+$/.test(title ?? "")).sort()).toEqual([
      "n0",
      "n1",
      "n2",
      "n3",
      "n4",
      "n5",
    ]);
    expect(svg).toContain("effect mail:send/v1");
    expect(svg).not.toContain("<b>");
  });
});
