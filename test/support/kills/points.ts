/** Places at which a process may be made to stop: before, inside and after every commit, around every dispatch. */
import type { JournalTables } from "../../../src/store/journal/tables.ts";

export interface Stop {
  /** The n-th place that the process reaches, from 1. */
  readonly at: number;
  readonly signal: "SIGKILL" | "SIGSTOP";
}

export interface Points {
  reach(place: string): void;
  /** Places reached so far, in order. */
  readonly reached: readonly string[];
}

export function pointsWith(stop: Stop | null): Points {
  const reached: string[] = [];
  return {
    reached,
    reach(place) {
      reached.push(place);
      if (stop === null || reached.length !== stop.at) return;
      process.send?.("stopping");
      process.kill(process.pid, stop.signal);
      // The signal may take a moment to arrive; nothing may happen in it.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    },
  };
}

/** Journal tables that reach a place around every transaction. */
export function commitPoints(points: Points): (tables: JournalTables) => JournalTables {
  return (tables) => ({
    ...tables,
    write<T>(work: () => T): T {
      points.reach("commit:before");
      const made = tables.write(() => {
        const value = work();
        points.reach("commit:inside");
        return value;
      });
      points.reach("commit:after");
      return made;
    },
  });
}
