/**
 * `npm run generate`: writes every file that is derived from the source. `npm run generate -- --check` writes nothing
 * and fails, naming them, when a committed file differs from what the source says.
 *
 * A generator is a file `generate/<name>.ts` that exports `outputs()`.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Text by path from the repository's root. */
export type Outputs = ReadonlyMap<string, string>;

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FOLDER = fileURLToPath(new URL("generate", import.meta.url));

/** Everything that all generators derive. No file is written by two of them. */
export async function allOutputs(): Promise<Outputs> {
  const all = new Map<string, string>();
  for (const file of readdirSync(FOLDER)
    .filter((each) => each.endsWith(".ts"))
    .sort()) {
    const generator = (await import(pathToFileURL(join(FOLDER, file)).href)) as {
      outputs(): Outputs | Promise<Outputs>;
    };
    for (const [path, text] of await generator.outputs()) {
      if (all.has(path)) throw new Error(`two generators write ${path}`);
      all.set(path, text);
    }
  }
  return all;
}

/** Paths whose committed text is not what the source says. */
export function outdated(outputs: Outputs): readonly string[] {
  return [...outputs].filter(([path, text]) => committed(path) !== text).map(([path]) => path);
}

function committed(path: string): string | undefined {
  try {
    return readFileSync(join(ROOT, path), "utf8");
  } catch {
    return undefined;
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const outputs = await allOutputs();
  const stale = outdated(outputs);
  if (process.argv.includes("--check")) {
    for (const path of stale) process.stderr.write(`${path} is not what the source says\n`);
    if (stale.length > 0) process.stderr.write("run: npm run generate\n");
    process.exitCode = stale.length > 0 ? 1 : 0;
  } else {
    for (const path of stale) {
      writeFileSync(join(ROOT, path), outputs.get(path) ?? "");
      process.stdout.write(`wrote ${path}\n`);
    }
  }
}
