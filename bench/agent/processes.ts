/** Processes that play, from the side of who starts them. */
import { type ChildProcess, fork } from "node:child_process";
import { CHILD_ENV } from "../../test/support/host.ts";
import type { Answer, Job, Said } from "./job.ts";

/** No scenario takes so long. What costs are measured with has a limit of its own. */
const LIMIT_MS = 120_000;

export interface Process {
  /** It has loaded what it needs, and will begin at once. */
  readonly ready: Promise<void>;
  /** Its answer, or `killed` when it died before it gave one. */
  work(job: Job): Promise<Answer | "killed">;
  /** Resolves when it has been stopped in a model call; ask for it before the job is given. */
  asleep(): Promise<void>;
  wake(): void;
  close(): void;
}

export function start(program: string): Process {
  const child = fork(program, [], {
    env: { ...process.env, ...CHILD_ENV },
    execArgv: ["--no-warnings"],
    // Nothing but the table goes to standard output.
    stdio: ["ignore", 2, 2, "ipc"],
  });
  const ready = new Promise<void>((resolve) => child.once("message", () => resolve()));
  return {
    ready,
    work: (job) => answered(child, job),
    asleep: () =>
      new Promise((resolve) => {
        child.on("message", (said: Said) => {
          if ("asleep" in said) resolve();
        });
      }),
    wake: () => child.kill("SIGCONT"),
    close: () => child.kill("SIGKILL"),
  };
}

function answered(child: ChildProcess, job: Job): Promise<Answer | "killed"> {
  return new Promise((resolve, reject) => {
    const late = () => {
      child.kill("SIGKILL");
      reject(new Error(`no answer to ${JSON.stringify(job)}`));
    };
    const limit = job.kind === "cost" ? undefined : setTimeout(late, LIMIT_MS);
    const done = (with_: () => void) => {
      clearTimeout(limit);
      child.off("message", heard);
      child.off("exit", gone);
      with_();
    };
    const heard = (said: Said) => {
      if ("ready" in said || "asleep" in said) return;
      done(() => resolve(said));
    };
    const gone = (code: number | null, signal: NodeJS.Signals | null) =>
      done(() => {
        if (signal === "SIGKILL") resolve("killed");
        else reject(new Error(`ended by ${signal ?? code} at ${JSON.stringify(job)}`));
      });
    child.on("message", heard);
    child.on("exit", gone);
    child.send(job);
  });
}
