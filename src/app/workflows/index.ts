/** A host for the shipped workflows in a folder of its own: made once, opened whenever it is needed. */
export { WORKFLOWS, type Workflow } from "./folder.ts";
export { type OpenedWorkflows, openWorkflows } from "./open-workflows.ts";
export { type PrepareOptions, prepareWorkflows } from "./prepare-workflows.ts";
