/**
 * The house rules as import rules (docs/architecture.md). A folder under src/ imports itself and the folders before
 * it in LAYERS, type imports included. test/pins/layers.test.ts derives the same from the source text and proves
 * that every rule below fires.
 */
const LAYERS = [
  "base",
  "model",
  "ports",
  "expression",
  "compile",
  "trust",
  "policy",
  "host",
  "run",
  "memory",
  "audit",
  "learn",
  "agent",
  "goal",
];
const ADAPTERS = ["store", "tools", "llm", "os"];
const EDGES = ["cli", "mcp", "console"];
const all = [...LAYERS, ...ADAPTERS, "app", ...EDGES];

const inside = (folders) => `^src/(${folders.join("|")})/`;
const others = (allowed) => all.filter((folder) => !allowed.includes(folder));
const package_ = (...names) => `(^|/)node_modules/(${names.join("|")})/`;

const upward = LAYERS.map((folder, index) => ({
  name: `layer-${folder}`,
  comment: `${folder}/ imports itself and what stands before it in the list of layers`,
  severity: "error",
  from: { path: inside([folder]) },
  to: { path: `${inside(others(LAYERS.slice(0, index + 1)))}|^src/[^/]+$` },
}));

/** A database is opened in one way only, so workpapers open theirs through the store's. */
const SHARED_OPENING = "^src/store/sqlite/(format|open|writer)\\.ts$";

const WORKPAPERS = "^src/tools/(workpaper|spreadsheet-paper)\\.ts$";

const adapters = ADAPTERS.map((folder) => ({
  name: `adapter-${folder}`,
  comment: `${folder}/ is an adapter: it sees base, model and ports, and no other adapter`,
  severity: "error",
  from: { path: inside([folder]), pathNot: WORKPAPERS },
  to: { path: `${inside(others(["base", "model", "ports", folder]))}|^src/[^/]+$` },
}));

const workpaper = {
  name: "workpaper-shares-opening",
  comment: "a workpaper is an adapter like the others, but for how the store opens a database",
  severity: "error",
  from: { path: WORKPAPERS },
  to: {
    path: `${inside(others(["base", "model", "ports", "tools"]))}|^src/[^/]+$`,
    pathNot: SHARED_OPENING,
  },
};

/** Who may import a package or a builtin, everything else may not. */
const only = (name, comment, to, from) => ({
  name,
  comment,
  severity: "error",
  from: { path: "^src/", pathNot: from },
  to,
});

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    ...upward,
    ...adapters,
    workpaper,
    {
      name: "app-below-edges",
      comment: "app/ wires everything and starts no edge",
      severity: "error",
      from: { path: "^src/app/" },
      to: { path: `${inside(EDGES)}|^src/[^/]+$` },
    },
    {
      name: "edges-pick-no-adapter",
      comment: "only app/ picks adapters",
      severity: "error",
      from: { path: inside(EDGES) },
      to: { path: inside(ADAPTERS) },
    },
    {
      name: "edges-apart",
      comment: "mcp/ and console/ know no other edge; cli/ may start them",
      severity: "error",
      from: { path: "^src/(mcp|console)/" },
      to: { path: "^src/(cli|mcp|console)/", pathNot: "^src/$1/" },
    },
    {
      name: "no-cycle",
      comment: "a ring of modules has no first one to read; type imports count",
      severity: "error",
      from: { path: "^src/" },
      to: { circular: true },
    },
    {
      name: "src-stands-alone",
      comment: "what ships imports nothing that does not ship",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(test|bench|scripts|examples|recipes|dist)/" },
    },
    {
      name: "resolvable",
      comment: "an import that resolves to nothing would be counted as no dependency at all",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
    only(
      "sqlite-in-its-adapter",
      "the native module is loaded by the sqlite store alone",
      { path: package_("better-sqlite3", "@types/better-sqlite3") },
      "^src/store/sqlite/",
    ),
    only(
      "graphlib-in-dag",
      "base/dag.ts is the only file that knows the graph library",
      { path: package_("@dagrejs/graphlib") },
      "^src/base/dag\\.ts$",
    ),
    only(
      "zod-at-documents",
      "documents are read in model/, compile/ and trust/, functions bring their schemas; nothing else loads zod",
      { path: package_("zod") },
      "^src/((model|compile|trust)/|tools/functions\\.ts$)",
    ),
    only(
      "mcp-in-its-adapter",
      "the client of the Model Context Protocol is an optional peer of one adapter",
      { path: package_("@modelcontextprotocol/[^/]+") },
      "^src/tools/mcp-",
    ),
    only(
      "pdf-in-its-process",
      "the parser of PDF is an optional peer, loaded in a process of its own",
      { path: package_("unpdf") },
      "^src/tools/pdf-child\\.mjs$",
    ),
    only(
      "sheets-in-one-file",
      "the writer of spreadsheets is an optional peer of one file",
      { path: package_("write-excel-file") },
      "^src/tools/spreadsheet-seal\\.ts$",
    ),
    only(
      "ai-sdk-in-its-adapter",
      "the AI SDK writes requests for one adapter; its packages are optional peers",
      { path: package_("@ai-sdk/[^/]+") },
      "^src/llm/(providers|sdk-chat|sdk-request)\\.ts$",
    ),
    only(
      "otel-in-one-file",
      "the interface of OpenTelemetry is an optional peer of one file",
      { path: package_("@opentelemetry/[^/]+") },
      "^src/app/otel\\.ts$",
    ),
    only(
      "commander-in-cli",
      "the command line parser stays at the edge",
      { path: package_("commander") },
      "^src/cli/",
    ),
    only(
      "viz-in-cli",
      "the drawing engine is an optional peer of the command",
      { path: package_("@viz-js/viz") },
      "^src/cli/",
    ),
    {
      name: "no-development-package",
      comment: "what ships needs no development dependency, and every package is declared",
      severity: "error",
      from: { path: "^src/" },
      to: {
        dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown", "unknown", "undetermined"],
        // Type packages are erased; optional peers are what the tests install as development packages.
        pathNot: `${package_("@types/[^/]+", "@viz-js/viz", "@modelcontextprotocol/client", "unpdf", "write-excel-file", "@ai-sdk/[^/]+", "@opentelemetry/api")}`,
      },
    },
    only(
      "crypto-in-base",
      "hashing and signing have one home among the pure folders",
      { path: "^(node:)?crypto$", dependencyTypes: ["core"] },
      "^src/(base/|store/|tools/|llm/|os/|app/|cli/|mcp/|console/)",
    ),
    only(
      "buffer-in-base",
      "decoding bytes is pure and has one home",
      { path: "^(node:)?buffer$", dependencyTypes: ["core"] },
      "^src/(base|store|tools|llm|os|app|cli|mcp|console)/",
    ),
    only(
      "no-builtin-in-pure-code",
      "what is not an adapter, the wiring or an edge reaches the outside through ports only",
      { pathNot: "^(node:)?(crypto|buffer)$", dependencyTypes: ["core"] },
      "^src/(store|tools|llm|os|app|cli|mcp|console)/",
    ),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    combinedDependencies: false,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "types", "node", "default"],
      extensions: [".ts", ".mjs", ".js", ".json"],
    },
  },
};
