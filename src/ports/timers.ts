/** Being called back later. */
export interface Timers {
  /** When what is under way now, and what that has set going, is done. */
  soon(this: void, work: () => void): void;
  /** Once, after that many milliseconds, unless cancelled by what is returned. The process does not live on for it. */
  after(this: void, ms: number, work: () => void): () => void;
  /** As `after`, and the process lives on until then or until it is cancelled. */
  deadline(this: void, ms: number, work: () => void): () => void;
}
