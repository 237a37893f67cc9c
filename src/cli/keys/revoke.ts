import { readTrust } from "../../app/keys.ts";
import { secondsNow } from "../../app/time.ts";
import { usageFault } from "../fault.ts";
import { type Call, type Outcome, textOption } from "../spec.ts";
import { changedBy, editTimes, listedKey, openRoots, trustIn, written } from "./trust-file.ts";

/** Revokes a key for everything new. It stays listed: what it signed before must stay checkable. */
export async function run(call: Call): Promise<Outcome> {
  const { options } = call;
  const named = textOption(options, "key");
  const reason = textOption(options, "reason");
  if (named === undefined || reason === undefined) {
    throw usageFault("a revocation names a key and says why", "give --key KEY --reason TEXT");
  }
  const trust = await trustIn(call);
  const since = sinceOf(textOption(options, "since-seq"));
  const revoked = {
    at: secondsNow(),
    reason,
    ...(since === undefined ? {} : { since_seq: since }),
  };
  const revoke = { public: listedKey(readTrust(trust), named), revoked };
  return written(
    call,
    changedBy(call, trust, { ...editTimes(call), revoke }, await openRoots(call)),
  );
}

function sinceOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^(0|[1-9][0-9]{0,14})$/.test(text)) return Number(text);
  throw usageFault(
    `--since-seq ${text} is no index of the log`,
    "write for example --since-seq 120",
  );
}
