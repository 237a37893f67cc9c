/** Runs that wait for a reviewer: what is asked, told word for word, and waiting until it is decided. */
import { setTimeout as sleep } from "node:timers/promises";
import { advanceAtHost } from "../app/answering.ts";
import { lapsedDecisions } from "../app/review-request.ts";
import { undecidedRequests } from "../app/run-record.ts";
import type { JsonValue } from "../base/json.ts";
import type { OpenRequest } from "../host/index.ts";
import type { Run } from "../run/index.ts";
import type { OpenHost } from "./host.ts";
import type { CommandModel } from "./models.ts";
import { resumeAsked } from "./next.ts";
import { count } from "./table.ts";
import type { Terminal } from "./terminal.ts";

/** How a run is moved on. */
export interface Moving {
  readonly model: CommandModel["model"];
  readonly terminal: Terminal;
  /** Wait until whoever is asked has decided. */
  readonly wait: boolean;
  /** Tells people what they are asked while the command waits; in JSON nobody reads along. */
  readonly tell: boolean;
  /** A signed decision to go on with, as its envelope. */
  readonly approval?: JsonValue;
}

/** Milliseconds between two looks at the journal. */
const POLL_MS = 500;

/** Moves the run on whenever one of its requests was decided, by whomever, until it ends or waits for something else. */
export async function waitForDecisions(run: Run, at: OpenHost, moving: Moving): Promise<void> {
  const { terminal, model } = moving;
  const { interrupted } = terminal;
  const shown = new Set<string>();
  while (run.state === "awaiting_approval" && !interrupted.aborted) {
    const waiting = undecidedRequests(at.host, run.id);
    for (const request of waiting) {
      if (shown.has(request.nonce)) continue;
      shown.add(request.nonce);
      if (moving.tell) terminal.print(`${requestText(request, at, true).join("\n")}\n\n`);
      terminal.note(`waiting for a decision about request ${request.nonce} of ${run.id} ..\n`);
    }
    do {
      await sleep(POLL_MS, undefined, { signal: interrupted }).catch(() => undefined);
    } while (stillUndecided(run, at, waiting) && !interrupted.aborted);
    await advanceAtHost(run, at.host, { model, signal: interrupted });
  }
}

function stillUndecided(run: Run, { host }: OpenHost, waiting: readonly OpenRequest[]): boolean {
  const now = new Set(undecidedRequests(host, run.id).map(({ nonce }) => nonce));
  return waiting.length > 0 && waiting.every(({ nonce }) => now.has(nonce));
}

export function requestJson(request: OpenRequest): { readonly [key: string]: JsonValue } {
  const { run, node, nonce, display, text, expires, replaces } = request;
  const operations = request.operations.map(({ digest }) => digest);
  return {
    nonce,
    run,
    node,
    operations,
    display,
    text,
    expires,
    replaces: replaces === null ? null : { ...replaces },
  };
}

/** The request with the exact text that a signature covers, and how to answer it. */
export function requestText(
  request: OpenRequest,
  { file, host, stored }: OpenHost,
  waits = false,
): readonly string[] {
  const { nonce } = request;
  return [
    ...requestHead(request),
    ...lapsedDecisions(host, request).map(
      ({ decision, approver, filed_ms: filed }) =>
        `note    ${decision} by ${approver} at ${new Date(filed).toISOString()} does not count any more: its time is over, or its key is not good now`,
    ),
    ...(stored
      ? [
          `hint: approve it with  rote approvals approve ${nonce} --host ${file} --key KEY --as NAME`,
          ...(waits ? [] : [`hint: then go on with  ${resumeAsked(request, file)}`]),
        ]
      : ["hint: this host keeps its journal in this process only; nobody else can answer"]),
  ];
}

/** What is signed stands between the rules, unchanged. */
export function requestHead(request: OpenRequest): readonly string[] {
  const { nonce, node, operations, display, text, expires, replaces } = request;
  const until = expires === null ? "" : `, until ${new Date(expires * 1000).toISOString()}`;
  return [
    `asks    approval of ${count(operations.length, "operation")} at ${node}${until}`,
    `request ${nonce}`,
    ...(replaces === null ? [] : [`instead of ${replaces.nonce}, since then: ${replaces.code}`]),
    `shown   ${display}`,
    RULE,
    text.trimEnd(),
    RULE,
    ...(ESCAPED.test(text) ? [WARNING] : []),
  ];
}

/** A character that is written out: behind an even number of backslashes, since one that was there itself is doubled. */
const ESCAPED = /(?<!\\)(?:\\\\)*\\u(?:\{|[0-9a-f]{4})/;
const WARNING =
  "warn    what is written as \\u.. is there, and would not show or would look like something else";

const RULE = "-".repeat(72);
