/** Child processes of a case. Those that will be needed next are started ahead, since starting Node is the dearest part. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { childProgram } from "../children.ts";
import type { Order, Report } from "./obey.ts";

export interface Ended {
  /** Null when it was killed. */
  readonly report: Report | null;
  readonly killed: boolean;
}

export interface Worker {
  readonly process: ChildProcess;
  /** Calls back when it waits for an approval; `goOn` tells it that there is one. */
  onWaiting(this: void, then: () => void): void;
  goOn(this: void): void;
  /** Resolves when it is at the place where it stops. */
  readonly stopping: Promise<void>;
  /** Has it go on from there. */
  wake(this: void): void;
  /** Resolves when the process is gone. */
  readonly ended: Promise<Ended>;
}

export interface Pool {
  /** Gives an order to a process that is ready. */
  start(order: Order): Promise<Worker>;
  close(): void;
}

export function openPool(ahead: number): Pool {
  const waiting: ChildProcess[] = [];
  const ready = new Map<ChildProcess, Promise<unknown>>();
  const spare = () => {
    const child = fork(childProgram("kills"), {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      // Ctrl-C is meant for the parent, and would reach its whole group.
      detached: true,
    });
    ready.set(child, once(child, "message"));
    waiting.push(child);
  };
  return {
    async start(order) {
      while (waiting.length < ahead) spare();
      const child = waiting.shift();
      if (child === undefined) throw new Error("no process was started");
      spare();
      await ready.get(child);
      ready.delete(child);
      const ended = endOf(child);
      child.send(order);
      return {
        process: child,
        ended,
        stopping: new Promise((stops) => {
          child.on("message", (message) => {
            if (message === "stopping") stops();
          });
        }),
        wake: () => {
          // It says that it stops before it does: a signal that finds it still on its way wakes nobody.
          const again = setInterval(() => child.kill("SIGCONT"), 100);
          child.once("close", () => clearInterval(again));
          child.kill("SIGCONT");
        },
        onWaiting: (then) => {
          child.on("message", (message) => {
            if (message === "waiting") then();
          });
        },
        // It may have been killed meanwhile.
        goOn: () => void child.send("go on", () => undefined),
      };
    },
    close() {
      for (const child of waiting.splice(0)) child.kill("SIGKILL");
    },
  };
}

async function endOf(child: ChildProcess): Promise<Ended> {
  let report: Report | null = null;
  child.on("message", (message) => {
    if (typeof message === "object") report = message as Report;
  });
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  if (signal === "SIGKILL") return { report: null, killed: true };
  if (report === null) throw new Error(`a process ended with ${code ?? signal} and no report`);
  return { report, killed: false };
}
