/** Randomness from outside: run ids, sampling. */
export interface Random {
  /** `count` unpredictable bytes. */
  bytes(count: number): Uint8Array;
}
