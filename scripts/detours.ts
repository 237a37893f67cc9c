/**
 * Files that a bundler makes for itself, taken out of the way: each that is opened costs about a millisecond, and these
 * hold nothing that is not in another one.
 */
import { posix } from "node:path";

interface Written {
  readonly fileName: string;
  readonly code: string;
  readonly isEntry: boolean;
}

const PASSES_ON = /^export \{ [\w$]+(?:, [\w$]+)* \} from "(\.[^"]+)";\s*$/;
const LOADS = /\bimport\("(\.[^"]+)"\)/g;
const MAKER = /^var __exportAll = [\s\S]*?\n\};$/m;
const TAKES_MAKER = /^import \{ __exportAll \} from "\.\/rolldown-runtime\.js";$/m;

/**
 * The same files without those that only pass on names of another under the same names, which is then loaded in their
 * place; and with the bundler's own few lines in the file that takes nothing else of them. Lines stay where they are,
 * for the maps.
 */
export function withoutDetours<File extends Written>(files: readonly File[]): readonly File[] {
  const passing = new Map(
    files.flatMap(({ fileName, code, isEntry }) => {
      const to = isEntry ? undefined : PASSES_ON.exec(code)?.[1];
      return to === undefined ? [] : [[fileName, from(fileName, to)] as const];
    }),
  );
  const maker = files
    .flatMap(({ code }) => MAKER.exec(code)?.[0] ?? [])[0]
    ?.replace(/\s+/g, " ")
    .replaceAll("__defProp(", "Object.defineProperty(");
  return files
    .filter(({ fileName }) => !passing.has(fileName))
    .map((file) => ({
      ...file,
      code: file.code
        .replaceAll(LOADS, (all, name: string) => {
          const to = passing.get(from(file.fileName, name));
          if (to === undefined) return all;
          const path = posix.relative(posix.dirname(file.fileName), to);
          return `import("${path.startsWith(".") ? path : `./${path}`}")`;
        })
        .replace(TAKES_MAKER, (all) => maker ?? all),
    }));
}

function from(file: string, name: string): string {
  return posix.join(posix.dirname(file), name);
}
