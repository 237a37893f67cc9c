/**
 * The trusted side, as its owner holds it. What it is made of cannot be reached through it: whoever gets a `Host` can
 * have operations judged and done, and can neither approve nor widen anything.
 */
import { RoteError } from "../base/error.ts";
import type { HostParts } from "./parts.ts";

/** Only this module can pass it, so only `hostOf` can construct a `Host`. */
const KEY = Symbol("host");

let partsIn: (host: object) => HostParts | undefined;

export class Host {
  readonly #parts: HostParts;

  static {
    partsIn = (host) => (#parts in host ? host.#parts : undefined);
  }

  /** Not for callers: `createHost` makes hosts. */
  constructor(key: symbol, parts: HostParts) {
    if (key !== KEY) throw new RoteError("not_constructible", "hosts are made by createHost");
    this.#parts = parts;
    Object.freeze(this);
  }

  /** The journal's name: the audience of everything that is signed for this host. */
  get origin(): string {
    return this.#parts.journal.origin;
  }
}

export function hostOf(parts: HostParts): Host {
  return new Host(KEY, parts);
}

/** @throws RoteError `not_a_host` for anything that `hostOf` did not make */
export function partsOf(host: Host): HostParts {
  const parts = typeof host === "object" && host !== null ? partsIn(host) : undefined;
  if (parts === undefined) throw new RoteError("not_a_host", "only createHost makes hosts");
  return parts;
}
