/**
 * What all runs of one command share: the procedure, the model, the memory, and how each run starts. A run that is
 * meant to be observed is guided, since a compiled run is no evidence for what it used. At a host the memory is the
 * host's own, where every admission asks whether a qualification stands.
 */
import { ProcedureMemory } from "../app/procedure-memory.ts";
import { startNamed } from "../app/start-once.ts";
import type { QualifiedProcedure } from "../memory/index.ts";
import { PHASES, type Phase } from "../model/memory.ts";
import type { RunMode } from "../model/run.ts";
import { fault, usageFault } from "./fault.ts";
import { isVacant } from "./files.ts";
import type { OpenHost } from "./host.ts";
import { type CommandModel, loadModel } from "./models.ts";
import { loadReady, type Ready, type Starting } from "./ready.ts";
import { type Call, type OptionValues, textOption } from "./spec.ts";

export interface Session {
  readonly ready: Ready;
  readonly model: CommandModel;
  readonly memory: ProcedureMemory | null;
  readonly phase: Phase | null;
  /** The standing qualification that runs use; null where they are guided. */
  readonly qualified: QualifiedProcedure | null;
  /** True with `--mode compiled`: a run that cannot be compiled is refused, not run guided. */
  readonly insists: boolean;
  readonly mode: RunMode;
  /** Why the mode is what it is, in words. */
  readonly why: string;
  /** Null where runs touch nothing outside. */
  readonly at: OpenHost | null;
}

/** Loads everything and starts nothing. The caller closes it, and the host after it. */
export async function openSession(call: Call, at: OpenHost | null): Promise<Session> {
  const { options, terminal } = call;
  const wish = wishOf(options, at !== null);
  const once = textOption(options, "once");
  const starting: Starting = {
    ...(at === null ? {} : { host: at.host }),
    ...(once === undefined ? {} : { random: startNamed(once) }),
  };
  const ready = await loadReady(call.arguments[0] ?? "", options, terminal, starting);
  const model = await loadModel(options, terminal);
  const base = { ready, model, at };
  if (at !== null) {
    const { random } = starting;
    const memory = ProcedureMemory.at(at.host, random === undefined ? {} : { random });
    return await chosen(base, memory, wish);
  }
  if (wish.directory === undefined) {
    const why = wish.mode === "guided" ? ASKED_FOR : "no --memory is named";
    return { ...base, ...guided(null, null, why) };
  }
  const memory = await openMemory(wish.directory, wish.phase !== null);
  try {
    return await chosen(base, memory, wish);
  } catch (error) {
    await memory.close();
    throw error;
  }
}

/** The memory of a host is closed with the host. */
export async function closeSession({ memory, at }: Session): Promise<void> {
  if (at === null) await memory?.close();
}

/** Opens a memory; `make` makes one in a directory that does not exist yet or is empty. */
export async function openMemory(directory: string, make: boolean): Promise<ProcedureMemory> {
  if (make && isVacant(directory)) return await ProcedureMemory.create(directory);
  return await ProcedureMemory.open(directory);
}

export function phaseOf(options: OptionValues): Phase | null {
  return PHASES.find((name) => name === textOption(options, "phase")) ?? null;
}

interface Wish {
  readonly mode: string | undefined;
  readonly phase: Phase | null;
  readonly directory: string | undefined;
}

/** What the command line wants, if it can be meant. */
function wishOf(options: OptionValues, atHost: boolean): Wish {
  const mode = textOption(options, "mode");
  const directory = textOption(options, "memory");
  const phase = phaseOf(options);
  const kept = directory !== undefined || atHost;
  if (directory !== undefined && atHost) {
    throw usageFault(
      "--memory cannot go with --host: a host has a memory of its own",
      "leave --memory out",
    );
  }
  if (phase !== null && !kept) {
    throw usageFault("--phase observes into a memory, and none is named", "add --memory DIRECTORY");
  }
  if (phase !== null && mode === "compiled") {
    throw usageFault(
      "--phase cannot go with --mode compiled: a compiled run is no evidence for what it used",
      "leave one of them out",
    );
  }
  if (mode === "compiled" && !kept) {
    throw usageFault("--mode compiled needs a qualification", "add --memory DIRECTORY");
  }
  for (const name of ["once", "wait"]) {
    if (options[name] === undefined || atHost) continue;
    throw usageFault(`--${name} goes with --host`, "name the host's module with --host FILE");
  }
  return { mode, phase, directory };
}

const ASKED_FOR = "asked for with --mode";

type Base = Pick<Session, "ready" | "model" | "at">;
type Choice = Omit<Session, keyof Base>;

async function chosen(base: Base, memory: ProcedureMemory, wish: Wish): Promise<Session> {
  const { mode, phase } = wish;
  if (phase !== null) {
    return { ...base, ...guided(memory, phase, "a run that is observed is guided") };
  }
  if (mode === "guided") return { ...base, ...guided(memory, null, ASKED_FOR) };
  return { ...base, ...(await lookedUp(base.ready, memory, mode === "compiled")) };
}

function guided(memory: ProcedureMemory | null, phase: Phase | null, why: string): Choice {
  return { memory, phase, qualified: null, insists: false, mode: "guided", why };
}

async function lookedUp(
  { procedure, environment }: Ready,
  memory: ProcedureMemory,
  insists: boolean,
): Promise<Choice> {
  const qualified = (await memory.recall(procedure, { environment })) ?? null;
  if (qualified !== null) {
    const why = `qualified on ${qualified.clean_runs} clean runs`;
    return { memory, phase: null, qualified, insists, mode: "compiled", why };
  }
  const { missing, demotion } = await memory.status(procedure, { environment });
  const reasons =
    missing.length > 0 ? missing : ["the evidence suffices, but nobody has qualified it"];
  const ended = demotion === null ? [] : [`it was demoted: ${demotion.reason}`];
  if (insists) {
    throw fault(
      "not_qualified",
      `${procedure.plan.id} has no qualification for exactly this recipe, verifier and environment`,
      "leave --mode out to run guided; `rote memory status` shows the evidence",
      {
        details: [...ended, ...reasons].map((line) => `  ${line}`).join("\n"),
        missing: [...reasons],
      },
    );
  }
  return guided(memory, null, `not qualified: ${[...ended, ...reasons].join("; ")}`);
}
