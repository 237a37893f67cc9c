import type { LearnedAnswer } from "../model/run.ts";

/**
 * What a compiled run needs from procedure memory. `run/` never imports `memory/`: the application hands it this.
 * All calls are synchronous, since a demotion must be seen before the next step is taken.
 */
export interface Qualification {
  /** Names it in the journal, where an admission asks in its own transaction whether it stands. */
  readonly id: string;
  readonly learned: readonly LearnedAnswer[];
  /** True as long as nobody, in any process, has demoted it. Doubt (an error while asking) is false. */
  stands(): boolean;
  /** Demotes at once and durably; called when a compiled run fails its verification. */
  demote(why: { readonly run: string; readonly reason: string }): void;
}
