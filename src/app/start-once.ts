/**
 * Starts that happen once under a name that the caller chooses: whoever starts again under it, with the same recipe,
 * verifier and inputs, gets the run that is there; with anything else, an error.
 *
 * The name decides the run's id, so it is the journal that lets only one of two processes begin it.
 */
import { digestOf, sha256Hex, taggedBytes } from "../base/digest.ts";
import { RoteError } from "../base/error.ts";
import { TAGS } from "../base/tags.ts";
import { type Body, type Host, kept, partsOf } from "../host/index.ts";
import type { Random } from "../ports/random.ts";
import { evidenceOf, type Run } from "../run/index.ts";

/** What a procedure, or a memory, is made with whose next start is the one of that name. */
export function startNamed(name: string): Random {
  return {
    bytes: (count) =>
      Buffer.from(sha256Hex(taggedBytes(TAGS.start, Buffer.from(name))), "hex").subarray(0, count),
  };
}

/**
 * True when the run was begun before, by the same procedure on the same inputs as this one, which is given up for it.
 *
 * @throws RoteError `other_start` when it was begun as something else
 */
export function wasStarted(host: Host, run: Run): boolean {
  const { journal } = partsOf(host);
  const [first] = journal.read(run.id);
  if (first === undefined) return false;
  const wanted = evidenceOf(run);
  const started = first.entry.body as Body;
  const inputs = digestOf(TAGS.inputs, kept(journal, started, "inputs") ?? null);
  const differing = [
    ...(started["plan"] === wanted.plan ? [] : ["recipe"]),
    ...(started["verifier"] === wanted.verifier ? [] : ["verifier"]),
    ...(inputs === wanted.inputs ? [] : ["inputs"]),
  ];
  if (differing.length === 0) return true;
  throw new RoteError(
    "other_start",
    `Something else was started under this name, with another ${differing.join(" and another ")}; nothing was started.`,
    { run: run.id, differing },
  );
}
