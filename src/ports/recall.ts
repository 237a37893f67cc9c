/**
 * Long-term notes of an application, which an agent may be reminded of. What it gives is text from outside: it is shown to
 * the model as such, and grants nothing.
 */
export interface Recall {
  /** At most `k` notes about the query, the most fitting first. */
  recall(query: string, k: number): Promise<readonly string[]>;
  /** The answer of a completed run. */
  remember(note: {
    readonly run: string;
    readonly goal: string;
    readonly answer: string;
  }): Promise<void>;
}
