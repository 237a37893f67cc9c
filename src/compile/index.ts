/** Recipe text -> plan or diagnostics. Pure: no I/O, no clock, no state. */
export { contextTypes, OPERATION_CATEGORIES, OPERATION_OUTCOMES } from "./context.ts";
export { toDot, toMermaid } from "./draw.ts";
export {
  bindRecipe,
  EMPTY_ENVIRONMENT,
  ENVIRONMENT_TAGS,
  environmentDigest,
} from "./environment.ts";
export { type FormatOptions, formatDiagnostics } from "./format.ts";
export { type CompileOptions, compileRecipe } from "./recipe.ts";
export { compileVerifier } from "./verifier.ts";
