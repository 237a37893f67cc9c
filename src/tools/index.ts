/**
 * Tools that a host can offer without further packages. Tools of MCP servers (`rote/tools/mcp`) and the workpaper
 * (`rote/tools/workpaper`) are entry points of their own, since they load more.
 */
export type { Credential, Secrets } from "./credentials.ts";
export type { ToolWords } from "./definition.ts";
export {
  type ByteRange,
  evidenceDigest,
  evidenceDocument,
  type FileRegistration,
  type FileSource,
  type FileSources,
  type RegisterOptions,
  registerFiles,
} from "./file-sources.ts";
export { type FileToolOptions, fileTool } from "./files.ts";
export {
  type FunctionContext,
  type FunctionProbe,
  type FunctionTool,
  functionTool,
} from "./functions.ts";
export { type HttpProbe, type HttpToolOptions, httpTool } from "./http.ts";
export type { Allowance, HttpMethod } from "./http-allow.ts";
export type { StatusMeaning } from "./http-answer.ts";
export { type Declared, notApplied, refusal } from "./outcome.ts";
