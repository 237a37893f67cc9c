import { listedKey, nextTrust, secondsNow, storeIn } from "../app/trust-change.ts";
import { usageFault } from "./fault.ts";
import { type Call, type Outcome, textOption } from "./spec.ts";
import { editTimes, keyEnd, openRoots, readTrust, written } from "./trust-file.ts";

/** Lists a new key in the place of another: the same holder and role; the old one ends, and stays listed. */
export async function run(call: Call): Promise<Outcome> {
  const { options } = call;
  const named = textOption(options, "old");
  const fresh = textOption(options, "new");
  if (named === undefined || fresh === undefined) {
    throw usageFault("a rotation is from one key to another", "give --old KEY --new PUBLIC");
  }
  const trust = await readTrust(call);
  const store = storeIn(trust);
  const old = listedKey(store, named);
  const entry = store.document.keys.find((one) => one.public === old);
  const times = editTimes(call);
  if (entry === undefined) {
    const replaceRoot = { old, new: fresh };
    return written(call, nextTrust(trust, { ...times, replaceRoot }, await openRoots(call)));
  }
  const { name, role, valid_to: to } = entry;
  const now = secondsNow();
  const add = [{ public: fresh, name, role, valid_from: now, valid_to: keyEnd(call) }];
  const end = { public: old, at: Math.min(to, now) };
  return written(call, nextTrust(trust, { ...times, add, end }, await openRoots(call)));
}
