import { existsSync } from "node:fs";
import { newTrust, publicKeyText } from "../../app/keys.ts";
import { usageFault } from "../fault.ts";
import { type Call, type Outcome, textOption, textOptions } from "../spec.ts";
import {
  changedBy,
  editTimes,
  expiryOf,
  keyEnd,
  keyFrom,
  openRoots,
  originOf,
  trustIn,
  written,
} from "./trust-file.ts";

/** Lists keys in a trust store, which is made when there is none yet. */
export async function run(call: Call): Promise<Outcome> {
  const { options } = call;
  const [file = ""] = call.arguments;
  const origin = textOption(options, "origin");
  const until = keyEnd(call);
  const add = textOptions(options, "add").map((text) => keyFrom(text, until));
  const times = editTimes(call);
  if (existsSync(file)) {
    if (origin !== undefined || textOption(options, "threshold") !== undefined) {
      throw usageFault(
        `${file} exists: --origin and --threshold are for a new trust store`,
        "leave them out",
      );
    }
    if (add.length === 0) {
      throw usageFault("no key is named", "add --add ROLE:NAME:PUBLIC, once for each key");
    }
    const trust = await trustIn(call);
    return written(call, changedBy(call, trust, { ...times, add }, await openRoots(call)));
  }
  if (origin === undefined) {
    throw usageFault(
      `${file} does not exist, and a new trust store is for one host`,
      "name the host's journal with --origin, for example --origin accounts.example/payments",
    );
  }
  const audience = originOf(origin);
  const roots = await openRoots(call);
  const threshold = thresholdOf(textOption(options, "threshold"), roots.length);
  const root = { threshold, keys: roots.map((key) => publicKeyText(key)) };
  const made = { ...times, add, root, audience, expires: expiryOf(times) };
  return written(call, newTrust(made, roots));
}

function thresholdOf(text: string | undefined, roots: number): number {
  if (text === undefined) return roots;
  if (/^[1-9][0-9]?$/.test(text) && Number(text) <= roots) return Number(text);
  throw usageFault(`--threshold ${text} is no number from 1 to ${roots}`, "leave it out for all");
}
