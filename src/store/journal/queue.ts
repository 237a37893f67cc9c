/**
 * Group commit: what is asked for while a commit is under way, or in the same turn of the event loop, shares one
 * transaction. Each job judges for itself and answers only after the commit.
 */

import type { Timers } from "../../ports/timers.ts";

/** Does its part inside of the transaction, and returns what to do once that is durable. */
export type Work = () => () => void;

export interface Queue {
  put<T>(work: (answer: (value: T) => void) => () => void): Promise<T>;
  /** Commits what is queued. */
  flush(): void;
}

interface Job {
  readonly work: Work;
  readonly fail: (error: unknown) => void;
}

/** `commit` runs all of a batch in one transaction, or throws when nothing may be assumed about it. */
export function createQueue(
  timers: Timers,
  commit: (batch: readonly Work[]) => readonly (() => void)[],
): Queue {
  let jobs: Job[] = [];
  let scheduled = false;

  function flush(): void {
    scheduled = false;
    const batch = jobs;
    if (batch.length === 0) return;
    jobs = [];
    let answers: readonly (() => void)[];
    try {
      answers = commit(batch.map(({ work }) => work));
    } catch (error) {
      for (const { fail } of batch) fail(error);
      return;
    }
    for (const answer of answers) answer();
  }

  return {
    put: (work) =>
      new Promise((resolve, reject) => {
        jobs.push({ work: () => work(resolve), fail: reject });
        if (scheduled) return;
        scheduled = true;
        timers.soon(flush);
      }),
    flush,
  };
}
