/** The store that a reviewer looks into: named by itself, or as the host's module names it. */

import { loadHostModule } from "../../app/host-module.ts";
import { openReview, type Review, type ReviewOptions } from "../../app/review.ts";
import { isJsonArray, type JsonValue } from "../../base/json.ts";
import { quoted } from "../../base/quoted.ts";
import { fault, usageFault } from "../fault.ts";
import { closing } from "../host.ts";
import { ofTrustFile, readJsonFile } from "../json-file.ts";
import { type Call, textOption } from "../spec.ts";
import type { Terminal } from "../terminal.ts";

export interface OpenReview {
  readonly review: Review;
  /** The options that named the store, for further command lines. */
  readonly place: string;
  /** The module of the host as a shell takes it, when that is what named the store. */
  readonly file: string | null;
}

/** @throws RoteError `bad_usage` and as `openReview` */
export async function withReview<T>(
  call: Call,
  work: (open: OpenReview) => Promise<T>,
): Promise<T> {
  const file = textOption(call.options, "host");
  const directory = textOption(call.options, "store");
  const trust = textOption(call.options, "trust");
  if (file !== undefined) {
    for (const name of ["store", "trust", "reviews"]) {
      if (textOption(call.options, name) === undefined) continue;
      throw usageFault(`--host says already what --${name} says`, "leave one of them out");
    }
    const module = await loadHostModule(file);
    return await closing(module, () => atHost(file, module.options, work));
  }
  if (directory === undefined || trust === undefined) {
    throw usageFault(
      `rote ${call.command} needs the store of a host and its trust file`,
      "give --store DIRECTORY --trust FILE, or --host FILE",
    );
  }
  const reviews = textOption(call.options, "reviews");
  const toolReviews = reviews === undefined ? [] : await readReviews(reviews, call.terminal);
  const given = await readJsonFile(trust, "trust", call.terminal);
  const review = await ofTrustFile(trust, () =>
    openReview({ directory, trust: given, toolReviews }),
  );
  const place = `--store ${quoted(directory)} --trust ${quoted(trust)}`;
  return await closing(review, () => work({ review, place, file: null }));
}

type Described = Awaited<ReturnType<typeof loadHostModule>>["options"];

async function atHost<T>(
  file: string,
  { directory, trust, heads, tools }: Described,
  work: (open: OpenReview) => Promise<T>,
): Promise<T> {
  if (directory === null) {
    throw fault(
      "store_missing",
      `the host of ${file} keeps its journal in its own process only`,
      "give it a directory",
      { file },
    );
  }
  const options: ReviewOptions = {
    directory,
    trust,
    toolReviews: tools.flatMap(({ review }) => (review === null ? [] : [review])),
    ...(heads === undefined ? {} : { heads }),
  };
  const review = await openReview(options);
  return await closing(review, () =>
    work({ review, place: `--host ${quoted(file)}`, file: quoted(file) }),
  );
}

/** A list of signed reviews, or one. */
async function readReviews(file: string, terminal: Terminal): Promise<readonly JsonValue[]> {
  const read = await readJsonFile(file, "reviews", terminal);
  return isJsonArray(read) ? read : [read];
}
