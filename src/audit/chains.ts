/** Chains inside the log: dense, each entry naming the one before it, and ended for good by the end of a run. */
import { type Entry, FIRST_PREV, HOST_CHAIN } from "../model/journal.ts";
import { BUNDLE_FILES } from "../ports/bundle.ts";
import type { Findings, Span } from "./finding.ts";
import type { FindingCode } from "./finding-codes.ts";
import { createSeen } from "./seen.ts";

interface Tail {
  readonly seq: number;
  readonly hash: string;
  readonly epoch: number;
}

export interface Chains {
  /** True when the entry stands where its chain goes on, so that what it says can be judged. */
  follow(entry: Entry, hash: string, index: number): boolean;
  hasEnded(chain: string): boolean;
}

export function createChains(findings: Findings): Chains {
  const tails = new Map<string, Tail>();
  const ended = createSeen();
  let lastTime = 0;

  function judge(
    { chain, seq, prev, epoch, type }: Entry,
    tail: Tail | undefined,
    add: (code: FindingCode, message: string, seq?: Span) => void,
  ): boolean {
    const expected = tail === undefined ? 0 : tail.seq + 1;
    if (seq < expected) {
      add("chain_repeat", `entry ${seq} of ${chain} stands behind entry ${expected - 1}`);
      return false;
    }
    const missing: Span = [expected, seq - 1];
    const which = `${chain}: ${seq - expected} entries, ${expected} to ${seq - 1}`;
    if (seq > expected && tail === undefined) {
      add(
        "chain_genesis",
        `the chain does not start at its beginning; missing are ${which}`,
        missing,
      );
    } else if (seq > expected) {
      add("chain_gap", `missing are ${which}`, missing);
    } else if (prev !== (tail?.hash ?? FIRST_PREV)) {
      const before = tail === undefined ? "the beginning" : `entry ${tail.seq}`;
      add("chain_link", `it names ${prev} as ${before}, which is ${tail?.hash ?? FIRST_PREV}`);
    }
    judgeEpoch();
    return true;

    function judgeEpoch(): void {
      const before = tail?.epoch ?? 0;
      const takesOver = type === "run_resumed" || tail === undefined;
      const least = chain === HOST_CHAIN ? 0 : takesOver ? before + 1 : before;
      if (epoch < least) {
        add("epoch_fell", `its epoch is ${epoch}, and at least ${least} is due`);
      } else if (epoch > least && (chain === HOST_CHAIN || !takesOver)) {
        add("epoch_rose", `its epoch is ${epoch}, and ${least} is due without a take-over`);
      }
    }
  }

  return {
    follow(entry, hash, index) {
      const { chain, seq, epoch, time, type } = entry;
      const place = { file: BUNDLE_FILES.journal, index: [index, index] as const, chain };
      const add = (code: FindingCode, message: string, where: Span = [seq, seq]) =>
        findings.add(code, { ...place, seq: where }, message);
      if (time < lastTime) add("time_fell", `its time is ${time}, and ${lastTime} came before it`);
      lastTime = Math.max(lastTime, time);
      const tail = tails.get(chain);
      // A chain that has ended has no tail.
      if (tail === undefined && ended.has(chain)) {
        add("run_after_end", `a ${type} stands behind the end of ${chain}`);
        return false;
      }
      const follows = judge(entry, tail, add);
      if (follows && type === "run_ended") {
        tails.delete(chain);
        ended.add(chain);
      } else if (follows) {
        tails.set(chain, { seq, hash, epoch });
      }
      return follows;
    },
    hasEnded: (chain) => ended.has(chain),
  };
}
