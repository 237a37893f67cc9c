import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { unnamedTypes } from "../support/public-types.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const INDEX = join(ROOT, "dist/index.js");

/** What a child process prints that imports the built package root and then runs `code`. */
function afterImport(code: string): unknown {
  const program = `const rote = await import(${JSON.stringify(pathToFileURL(INDEX).href)});\n${code}`;
  const printed = execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
    encoding: "utf8",
  });
  return JSON.parse(printed);
}

describe("the package root", () => {
  it("exports these values", () => {
    expect(afterImport("console.log(JSON.stringify(Object.keys(rote).sort()))")).toEqual([
      "DIAGNOSTIC_CODES",
      "EMPTY_ENVIRONMENT",
      "ERROR_CODES",
      "LEAST_REQUIREMENT",
      "PHASES",
      "Procedure",
      "ProcedureMemory",
      "RoteError",
      "SEMANTICS_VERSION",
      "STOP_REASONS",
      "TERMINAL_STATES",
      "WAITING_STATES",
      "advanceAnswering",
      "bindRecipe",
      "compile",
      "compileVerifier",
      "createHost",
      "expressions",
      "formatDiagnostics",
      "generateKey",
      "loadKey",
      "openReview",
      "scriptedModel",
      "stateOf",
      "toDot",
      "toMermaid",
    ]);
  });

  it("exports these types beside them", () => {
    const text = readFileSync(join(ROOT, "src/index.ts"), "utf8");
    const typed = [...text.matchAll(/export (type )?\{([^}]*)\}/g)].flatMap(
      ([, whole, names = ""]) =>
        names
          .split(",")
          .map((name) => name.trim())
          .filter((name) => name !== "" && (whole !== undefined || name.startsWith("type ")))
          .map((name) => name.replace(/^type /, "").replace(/^.* as /, "")),
    );
    expect(typed.sort()).toEqual([
      "Advance",
      "Answering",
      "Asking",
      "Budget",
      "Clock",
      "CompileOptions",
      "CompiledExpression",
      "CurrencyTotal",
      "Deciding",
      "Decision",
      "Demotion",
      "DemotionCause",
      "Diagnostic",
      "DiagnosticCode",
      "Digest",
      "DocumentLimits",
      "DurableAdvance",
      "EntryType",
      "Environment",
      "ErrorCode",
      "EvaluationLimits",
      "Expression",
      "FiledDecision",
      "Forgotten",
      "FormatOptions",
      "FrozenOperation",
      "GateCode",
      "GenerateOptions",
      "Host",
      "HostOptions",
      "HostSignal",
      "JsonObject",
      "JsonValue",
      "KeyId",
      "KeyPart",
      "LanguageModel",
      "LearnedAnswer",
      "LookUp",
      "MemoryLimits",
      "MemoryOptions",
      "Mismatch",
      "ModelAnswer",
      "ModelIdentity",
      "ModelReply",
      "ModelUsage",
      "Models",
      "NodeTrace",
      "ObservationReport",
      "Observing",
      "OpenRequest",
      "Operation",
      "OperationSecurity",
      "Outcome",
      "PendingModel",
      "PendingRequest",
      "Phase",
      "PhaseStatus",
      "Plan",
      "PlanAndVerifier",
      "PlanEach",
      "PlanInput",
      "PlanNode",
      "PlanStep",
      "PolicyDocument",
      "PrivateKey",
      "ProbeOutcome",
      "ProcedureKey",
      "ProcedureOptions",
      "ProcedureStart",
      "ProcedureStatus",
      "ProcedureSummary",
      "PublicKey",
      "QualifiedProcedure",
      "QualifiedStart",
      "Random",
      "Reconciliation",
      "RecordValue",
      "Replaced",
      "RequestStatus",
      "Requirement",
      "Result",
      "Review",
      "ReviewOptions",
      "ReviewRequest",
      "Run",
      "RunFailure",
      "RunLimits",
      "RunMode",
      "RunReport",
      "RunStateName",
      "RunSummary",
      "ScriptProblem",
      "SecurityDecision",
      "SignalCounts",
      "SignalReport",
      "Sources",
      "StopReason",
      "TerminalState",
      "Tool",
      "ToolCall",
      "ToolCategory",
      "ToolDefinition",
      "ToolOutcome",
      "ToolRegistration",
      "Totals",
      "Type",
      "TypeSource",
      "Value",
      "Verdict",
      "Verifier",
      "VoidEvidence",
      "WaitingState",
      "Wanted",
    ]);
  });

  it("names every type that its declarations mention, at this entry point or another", () => {
    const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
      readonly exports: { readonly [entry: string]: string | { readonly types: string } };
    };
    const entries = Object.values(exports).flatMap((entry) =>
      typeof entry === "string" ? [] : [entry.types.replace("./dist/", "")],
    );
    expect(unnamedTypes(join(ROOT, "dist"), entries)).toEqual([
      // How digests are told from other texts: `Digest` and `KeyId` are their names.
      "base/brand Brand",
    ]);
  });

  it("loads no native module, and no builtin that reaches the network", () => {
    const loaded = afterImport(`
      const { createRequire } = await import("node:module");
      const natives = Object.keys(createRequire(${JSON.stringify(INDEX)}).cache ?? {});
      const builtins = process.moduleLoadList.filter((name) => /NativeModule (net|http|https|tls|dgram|dns)$/.test(name));
      console.log(JSON.stringify({ natives: natives.filter((file) => /\\.node$|better-sqlite3/.test(file)), builtins }));
    `);
    expect(loaded).toEqual({ natives: [], builtins: [] });
  });

  it("the check above sees a native module once one is loaded", () => {
    const loaded = afterImport(`
      const { createRequire } = await import("node:module");
      const require = createRequire(${JSON.stringify(INDEX)});
      new (require("better-sqlite3"))(":memory:").close();
      console.log(JSON.stringify(Object.keys(require.cache).some((file) => /\\.node$/.test(file))));
    `);
    expect(loaded).toBe(true);
  });
});
