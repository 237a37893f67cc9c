/** The module of a prepared folder, as its owner finds it and changes it. */
import { readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { moduleFromHome, placeFromHome } from "../../base/code-home.ts";
import { ACTOR } from "../../model/workflows.ts";
import { OPEN_ENGAGEMENT, PLACES, READING } from "./folder.ts";

/** Entry points of this package that the module imports, by the modules that they are. */
const ENTRIES = {
  "rote/keys": "app/keys",
  "rote/tools": "tools/index",
  "rote/tools/workpaper": "tools/workpaper",
} as const;

/** What `host.mjs` in this folder says. */
export function moduleText(directory: string, origin: string): string {
  const from = entriesFor(directory);
  const tool = (kind: keyof typeof READING): string =>
    `fileTool(only(${kind}), {
        name: ${JSON.stringify(READING[kind].name)},
        description: ${JSON.stringify(READING[kind].description)},
      })`;
  return `/**
 * The host of this folder: the one gate for what is read and written here, as \`createHost\` takes it. It is yours to
 * change. Procedures qualify under one policy, one set of tools and one set of documents: after a change of those they
 * start again with guided runs.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { loadKey } from ${from("rote/keys")};
import { evidenceDocument, fileTool, registerFiles } from ${from("rote/tools")};
import { openWorkpaper } from ${from("rote/tools/workpaper")};

// Everything stands in this folder, wherever the command is typed.
const at = (name) => fileURLToPath(new URL(name, import.meta.url));

let workpaper;

export function host() {
  // Documents of your own: put them into ${PLACES.documents}/ and name them in ${PLACES.sources}. A run names a source and never a
  // path. While "sha256" is given, a document that is another one by now keeps this host from opening.
  const { engagements, evidence } = json("${PLACES.sources}");
  const documents = registerFiles(
    [...engagements, ...evidence].map((one) => ({ ...one, file: at(one.file) })),
  );
  const only = (list) => new Map(list.map(({ source }) => [source, documents.get(source)]));

  workpaper = openWorkpaper(at("${PLACES.workpaper}"), { mode: "open" });
  const tools = [
    // What may be looked at is approved before it is: ${PLACES.policy} has this permission in "approvable".
    {
      tool: ${tool("engagements")},
      permissions: ["${OPEN_ENGAGEMENT}"],
    },
    {
      tool: ${tool("evidence")},
    },
    { tool: workpaper.read },
    { tool: workpaper.append },
  ];
  // Signed, in this order. A tool that nobody reviewed cannot be used; the tutorial of Rote shows how one is reviewed.
  const reviews = json("${PLACES.reviews}");

  // The host's own keys: nobody types when it starts, so their passphrase lies beside them. Those of people do not.
  const passphrase = text("${PLACES.passphrase}").trim();
  const key = (name) => loadKey(at(\`${PLACES.keys}/\${name}.key\`), passphrase);

  return {
    directory: at("${PLACES.store}"),
    // The name of this host in everything that is signed for it. It cannot change: ${PLACES.trust} is for this name.
    origin: ${JSON.stringify(origin)},
    // Who acts, and for what. Whoever acts cannot approve (${PLACES.policy}, "requester_may_approve").
    identity: { name: "${ACTOR}" },
    intent: {
      statement: "Test what the engagement documents say, and write it into the workpaper",
      tools: tools.map(({ tool }) => tool.definition.name),
    },
    warrant: null,
    trust: json("${PLACES.trust}"),
    keys: { journal: key("journal"), receipt: key("receipt") },
    tools: tools.map((one, index) => ({ ...one, review: reviews[index] ?? null })),
    policy: json("${PLACES.policy}"),
    budget: { run: { effects: 100, operations: 500 }, host: {} },
    evidence: evidenceDocument(documents),
  };
}

export function close() {
  workpaper?.close();
}

function text(name) {
  return readFileSync(at(name), "utf8");
}

function json(name) {
  const written = text(name);
  try {
    return JSON.parse(written);
  } catch (error) {
    throw new Error(\`\${name} is no JSON: \${error.message}\`);
  }
}
`;
}

/**
 * By the package's name where the folder finds this package under it, so that the folder moves along with a project and
 * its updates. Elsewhere, as for a command that is installed for the whole machine, by the place of this package.
 */
function entriesFor(directory: string): (entry: keyof typeof ENTRIES) => string {
  const found = isFoundFrom(directory);
  return (entry) => JSON.stringify(found ? entry : moduleFromHome(ENTRIES[entry]).href);
}

function isFoundFrom(directory: string): boolean {
  const own = fileURLToPath(placeFromHome("../package.json"));
  const { name } = JSON.parse(readFileSync(own, "utf8")) as { readonly name: string };
  try {
    const found = createRequire(join(resolve(directory), PLACES.module)).resolve(
      `${name}/package.json`,
    );
    return realpathSync(found) === realpathSync(own);
  } catch {
    return false;
  }
}
