import { readTrust } from "../../app/keys.ts";
import { secondsNow } from "../../app/time.ts";
import type { JsonValue } from "../../base/json.ts";
import type { TrustDocument } from "../../model/trust.ts";
import { usageFault } from "../fault.ts";
import { type Call, type Outcome, textOption } from "../spec.ts";
import {
  changedBy,
  editTimes,
  keyEnd,
  listedKey,
  openRoots,
  trustIn,
  written,
} from "./trust-file.ts";

/** Lists a new key in the place of another: the same holder and role; the old one ends, and stays listed. */
export async function run(call: Call): Promise<Outcome> {
  const { options } = call;
  const named = textOption(options, "old");
  const fresh = textOption(options, "new");
  if (named === undefined || fresh === undefined) {
    throw usageFault("a rotation is from one key to another", "give --old KEY --new PUBLIC");
  }
  const trust = await trustIn(call);
  const store = readTrust(trust);
  const old = listedKey(store, named);
  const entry = store.document.keys.find((one) => one.public === old);
  if (entry === undefined) return await rotateRoot(call, trust, store.document.root, old, fresh);
  const { name, role, valid_to: to } = entry;
  const now = secondsNow();
  const add = [{ public: fresh, name, role, valid_from: now, valid_to: keyEnd(call) }];
  const end = { public: old, at: Math.min(to, now) };
  return written(
    call,
    changedBy(call, trust, { ...editTimes(call), add, end }, await openRoots(call)),
  );
}

/** In two versions, so that each opens by itself: first both keys are in the root, then the old one is not. */
async function rotateRoot(
  call: Call,
  trust: JsonValue,
  root: TrustDocument["root"],
  old: string,
  fresh: string,
): Promise<Outcome> {
  const both = root.keys.includes(fresh);
  const keys = both ? root.keys.filter((text) => text !== old) : [...root.keys, fresh];
  const edit = { ...editTimes(call), root: keys };
  const outcome = written(call, changedBy(call, trust, edit, await openRoots(call)));
  const next = both
    ? "ok the old root key is not in the root any more"
    : "hint: both keys are in the root now; once the host has taken this over, do the same again, signed with the new key, and the old one is out";
  return { ...outcome, json: { ...outcome.json, done: both }, text: `${outcome.text}\n${next}` };
}
