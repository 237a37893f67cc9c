import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

export interface RawCryptography {
  readonly signatures: number;
  readonly verifications: number;
  readonly digests: number;
  /** Does all of it again, and nothing besides; or a part of it, from one share to another (0 to 1). */
  repeat(from?: number, to?: number): void;
}

/** Every signature, verification and digest that some work makes, to be made again on its own. */
export async function rawCryptography(work: () => Promise<void>): Promise<RawCryptography> {
  const { sign, verify, hash } = crypto;
  const signed: Parameters<typeof sign>[] = [];
  const verified: Parameters<typeof verify>[] = [];
  const hashed: Parameters<typeof hash>[] = [];
  const patched = crypto as unknown as Record<string, unknown>;
  patched["sign"] = (...given: Parameters<typeof sign>) => {
    signed.push(given);
    return sign(...given);
  };
  patched["verify"] = (...given: Parameters<typeof verify>) => {
    verified.push(given);
    return verify(...given);
  };
  patched["hash"] = (...given: Parameters<typeof hash>) => {
    hashed.push(given);
    return hash(...given);
  };
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    Object.assign(patched, { sign, verify, hash });
    syncBuiltinESMExports();
  }
  return {
    signatures: signed.length,
    verifications: verified.length,
    digests: hashed.length,
    repeat(from = 0, to = 1) {
      for (const given of share(signed, from, to)) sign(...given);
      for (const given of share(verified, from, to)) verify(...given);
      for (const given of share(hashed, from, to)) hash(...given);
    },
  };
}

function share<T>(of: readonly T[], from: number, to: number): readonly T[] {
  return of.slice(Math.round(from * of.length), Math.round(to * of.length));
}
