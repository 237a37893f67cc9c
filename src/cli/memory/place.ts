/** The memory that a command is about: one in a directory of its own, or that of a host. */
import { ProcedureMemory } from "../../app/procedure-memory.ts";
import { usageFault } from "../fault.ts";
import { closing, withHost } from "../host.ts";
import { loadReady, type Ready } from "../ready.ts";
import { openMemory } from "../session.ts";
import { type Call, textOption } from "../spec.ts";

/** Works with the memory and the procedure named. @throws RoteError `bad_usage` when one is missing */
export async function withMemory<T>(
  call: Call,
  work: (memory: ProcedureMemory, ready: Ready) => Promise<T>,
): Promise<T> {
  return await withMemoryOf(call, async (memory, ready) => {
    if (ready === null) throw missing(call, "recipe");
    return await work(memory, ready);
  });
}

/** As `withMemory`, where the procedure may be left out. */
export async function withMemoryOf<T>(
  call: Call,
  work: (memory: ProcedureMemory, ready: Ready | null) => Promise<T>,
): Promise<T> {
  const { options, terminal } = call;
  if (textOption(options, "host") !== undefined) {
    const [recipe, more] = call.arguments;
    if (more !== undefined) {
      throw usageFault("with --host the memory is the host's own", "leave the directory out");
    }
    return await withHost(call, async ({ host }) => {
      const ready =
        recipe === undefined ? null : await loadReady(recipe, options, terminal, { host });
      return await work(ProcedureMemory.at(host), ready);
    });
  }
  const [directory, recipe] = call.arguments;
  if (directory === undefined) throw missing(call, "directory");
  const ready = recipe === undefined ? null : await loadReady(recipe, options, terminal);
  const memory = await openMemory(directory, false);
  return await closing(memory, () => work(memory, ready));
}

function missing({ command }: Call, argument: string): Error {
  const hint = `see \`rote ${command} --help\``;
  return usageFault(
    `missing required argument '${argument}'`,
    argument === "directory" ? `${hint}; with --host FILE it is the memory of the host` : hint,
  );
}
