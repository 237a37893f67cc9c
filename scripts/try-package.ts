/**
 * Packs the package as it would be published, unpacks it into an empty project and uses it there: the command, the
 * import, the schemas, a host made by `rote init`, and a type check without `skipLibCheck`. Dependencies are linked from
 * this repository, so that nothing is downloaded or compiled.
 */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const project = mkdtempSync(join(tmpdir(), "rote-package-"));
const modules = join(project, "node_modules");

function inProject(program: string, ...given: readonly string[]): string {
  return execFileSync(program, given, {
    cwd: project,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

function expect(what: string, condition: boolean): void {
  if (!condition) throw new Error(`the packed package: ${what} does not hold`);
  process.stdout.write(`passed ${what}\n`);
}

try {
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    readonly name: string;
    readonly version: string;
    readonly bin: { readonly rote: string };
    readonly dependencies: Readonly<Record<string, string>>;
  };
  // `prepare` would build again what the stage before this one has built.
  execFileSync("npm", ["pack", "--ignore-scripts", "--pack-destination", project], {
    cwd: ROOT,
    stdio: "ignore",
  });
  const home = join(modules, manifest.name);
  mkdirSync(home, { recursive: true });
  inProject(
    "tar",
    "-xzf",
    `${manifest.name}-${manifest.version}.tgz`,
    "-C",
    home,
    "--strip-components=1",
  );
  for (const name of [...Object.keys(manifest.dependencies), "@types/node"]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  }
  writeFileSync(join(project, "package.json"), '{"type": "module"}\n');

  const shipped = readdirSync(home).sort();
  expect(
    "ships what it says and no more",
    shipped.join(" ") ===
      "CONTRIBUTING.md LICENSE README.md SECURITY.md dist docs package.json recipes schema src",
  );
  const notices = readFileSync(join(home, "dist/THIRD-PARTY-NOTICES.txt"), "utf8");
  expect("has the licences of what it holds", notices.includes("Permission is hereby granted"));
  const help = inProject(process.execPath, join(home, manifest.bin.rote), "--help");
  expect("`rote --help` starts", help.includes("rote"));
  const recipes = readdirSync(join(home, "recipes"), { recursive: true, encoding: "utf8" });
  expect(
    "has recipes",
    recipes.some((file) => file.endsWith(".json")),
  );

  writeFileSync(
    join(project, "use.ts"),
    [
      `import { Procedure, ProcedureMemory } from "${manifest.name}";`,
      `import { openChatModel } from "${manifest.name}/llm";`,
      // What needs an optional package has its types from there, and is not looked at here.
      ...["agent", "audit", "keys", "tools", "tools/workpaper", "trust", "workflows"].map(
        (name) => `export * as ${name.replace("/", "_")} from "${manifest.name}/${name}";`,
      ),
      `import recipe from "${manifest.name}/schema/recipe.json" with { type: "json" };`,
      `import verifier from "${manifest.name}/schema/verifier.json" with { type: "json" };`,
      "console.log(typeof Procedure, typeof ProcedureMemory.open, typeof recipe, typeof verifier);",
      'console.log(await openChatModel("ollama:m").catch((error: { code: string }) => error.code));',
    ].join("\n"),
  );
  const options = [
    "--strict",
    "--target",
    "es2022",
    "--module",
    "nodenext",
    "--resolveJsonModule",
    "--types",
    "node",
  ];
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  inProject(process.execPath, tsc, ...options, "use.ts");
  expect("its types check in another project", true);
  const said = inProject(process.execPath, "--no-warnings", "use.js");
  const [imported, opened] = said.trim().split("\n");
  expect("it imports by name", imported === "function function object object");
  expect("it says which optional package is missing", opened === "package_missing");

  const rote = (...words: readonly string[]) =>
    inProject(process.execPath, join(home, manifest.bin.rote), ...words);
  writeFileSync(join(project, "passphrase"), `${randomUUID()}\n`, { mode: 0o600 });
  rote("init", "recalculation", "--passphrase-file", "passphrase");
  const module = readFileSync(join(project, "recalculation/host/host.mjs"), "utf8");
  expect(
    "a folder of `rote init` names it by name",
    module.includes(`from "${manifest.name}/keys"`),
  );
  const runs = rote("runs", "list", "--host", "recalculation/host/host.mjs", "--json");
  expect("the host of that folder opens", runs.includes('"exit_code": 0'));
} catch (error) {
  const { stdout = "", stderr = "" } = error as {
    readonly stdout?: string;
    readonly stderr?: string;
  };
  process.stdout.write(`${String(error)}\n${stdout}${stderr}\n`);
  process.exitCode = 1;
} finally {
  rmSync(project, { recursive: true, force: true });
}
