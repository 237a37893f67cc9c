/**
 * Tools that a host can offer without further packages. Tools of MCP servers (`rote/tools/mcp`) and the workpaper
 * (`rote/tools/workpaper`) are entry points of their own, since they load more.
 */
export {
  evidenceDigest,
  evidenceDocument,
  type FileRegistration,
  type FileSources,
  registerFiles,
} from "./file-sources.ts";
export { type FileToolOptions, fileTool } from "./files.ts";
export { type FunctionTool, functionTool } from "./functions.ts";
export { type HttpToolOptions, httpTool } from "./http.ts";
export { notApplied, refusal } from "./outcome.ts";
