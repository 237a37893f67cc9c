/** Recipe text -> plan or diagnostics. Pure: no I/O, no clock, no state. */
export { contextTypes } from "./context.ts";
export { toDot, toMermaid } from "./draw.ts";
export {
  bindRecipe,
  differingParts,
  EMPTY_ENVIRONMENT,
  environmentDiffers,
  environmentDigest,
} from "./environment.ts";
export { type FormatOptions, formatDiagnostics } from "./format.ts";
export { type CompileOptions, compileRecipe } from "./recipe.ts";
export { compileVerifier } from "./verifier.ts";
