/** A host for the shipped workflows in a folder of its own. What it is made of stands in that folder's `host.mjs`. */
export { WORKFLOWS, type Workflow } from "../../model/workflows.ts";
export { type PrepareOptions, prepareWorkflows } from "./prepare-workflows.ts";
