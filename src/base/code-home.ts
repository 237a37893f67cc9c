/**
 * Where the code of this package is: `src/` as a developer runs it, `dist/` as it ships. Files that are found by their
 * place are found from here and nowhere else, since a bundle has few modules and none of them is where its source is.
 *
 * Holds for a module in a folder directly below, which this file is, and which the build sees to of its own.
 */
const HOME = new URL("../", import.meta.url);

/** Source runs as it is written, what ships as JavaScript. */
const ENDING = import.meta.url.endsWith(".ts") ? ".ts" : ".js";

/** A file or a folder, relative to the folder of the code. */
export function placeFromHome(relative: string): URL {
  return new URL(relative, HOME);
}

/** A module by its name without an ending, such as `cli/main`. It has to be an entry point of the build. */
export function moduleFromHome(name: string): URL {
  return new URL(name + ENDING, HOME);
}
