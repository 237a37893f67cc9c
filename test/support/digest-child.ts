/** Says, in a process of its own, which digests a recipe has and which qualification a memory recalls for it. */
import { readFileSync } from "node:fs";
import { Procedure } from "../../src/app/procedure.ts";
import { ProcedureMemory } from "../../src/app/procedure-memory.ts";
import { keyOf } from "../../src/memory/index.ts";

const { recipe, verifier, directory } = JSON.parse(readFileSync(0, "utf8")) as {
  readonly recipe: unknown;
  readonly verifier: unknown;
  readonly directory: string;
};
const procedure = new Procedure(recipe, { verifier });
const environment = procedure.plan.environment;
if (environment === null) throw new Error("the recipe names no environment");
const memory = await ProcedureMemory.open(directory);
const recalled = await memory.recall(procedure, { environment });
const { plan, verifier: rule, environment: digest } = keyOf(procedure, environment);
await memory.close();
process.stdout.write(
  JSON.stringify({ plan, verifier: rule, environment: digest, qualification: recalled?.id }),
);
