import { listedKey, nextTrust, secondsNow, storeIn } from "../app/trust-change.ts";
import { usageFault } from "./fault.ts";
import { type Call, type Outcome, textOption } from "./spec.ts";
import { editTimes, openRoots, readTrust, written } from "./trust-file.ts";

/** Revokes a key for everything new. It stays listed: what it signed before must stay checkable. */
export async function run(call: Call): Promise<Outcome> {
  const { options } = call;
  const named = textOption(options, "key");
  const reason = textOption(options, "reason");
  if (named === undefined || reason === undefined) {
    throw usageFault("a revocation names a key and says why", "give --key KEY --reason TEXT");
  }
  const trust = await readTrust(call);
  const since = sinceOf(textOption(options, "since-seq"));
  const revoked = {
    at: secondsNow(),
    reason,
    ...(since === undefined ? {} : { since_seq: since }),
  };
  const revoke = { public: listedKey(storeIn(trust), named), revoked };
  return written(call, nextTrust(trust, { ...editTimes(call), revoke }, await openRoots(call)));
}

function sinceOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^(0|[1-9][0-9]{0,14})$/.test(text)) return Number(text);
  throw usageFault(
    `--since-seq ${text} is no index of the log`,
    "write for example --since-seq 120",
  );
}
