import { fault } from "./fault.ts";
import { askLine } from "./prompt.ts";

/**
 * What a command sees of the process it runs in. Commands get this instead of `process`, so that they can be run in
 * a test, and so that one place decides about colour, control characters and broken pipes.
 */
export interface Terminal {
  /** Writes to standard output as it is: JSON, generated text. */
  readonly data: (text: string) => void;
  /** Writes text for people to standard output; what documents contributed cannot steer the terminal. */
  readonly print: (text: string) => void;
  /** The same on standard error: errors, warnings. */
  readonly note: (text: string) => void;
  /** Replaces the progress line on standard error; the empty text removes it. Only where `watched`. */
  readonly progress: (text: string) => void;
  /** True when somebody watches standard error. */
  readonly watched: boolean;
  readonly standardInput: () => AsyncIterable<Uint8Array>;
  /** Asks whoever sits there and takes one line; null where nobody does. What is `hidden` is not shown as it is typed. */
  readonly ask: ((question: string, hidden: boolean) => Promise<string>) | null;
  readonly environment: { readonly [name: string]: string | undefined };
  /** Aborted by Ctrl-C. */
  readonly interrupted: AbortSignal;
}

/** Exit code of a command whose reader went away, as a shell reports SIGPIPE. */
const BROKEN_PIPE = 141;
const INTERRUPTED = 130;

/** The terminal of this process. Called once, by the entry point. */
export function processTerminal(): Terminal {
  const interruption = new AbortController();
  process.on("SIGINT", () => {
    if (interruption.signal.aborted) process.exit(INTERRUPTED);
    interruption.abort();
  });
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(BROKEN_PIPE);
    process.stderr.write(`error: cannot write the output: ${error.message}\n`);
    process.exit(1);
  });
  // Progress that nobody reads any more is no reason to stop working.
  process.stderr.on("error", () => undefined);
  const outColour = wantsColour(process.env, process.stdout.isTTY === true);
  const noteColour = wantsColour(process.env, process.stderr.isTTY === true);
  return {
    data: (text) => void process.stdout.write(text),
    print: (text) => void process.stdout.write(render(text, outColour)),
    note: (text) => void process.stderr.write(render(text, noteColour)),
    progress: (text) => void process.stderr.write(`\r${render(text, false)}\u001b[K`),
    watched: process.stderr.isTTY === true,
    standardInput: () => standardInput(interruption.signal),
    ask:
      process.stdin.isTTY && process.stderr.isTTY
        ? (question, hidden) => askLine(render(question, noteColour), hidden, interruption)
        : null,
    environment: process.env,
    interrupted: interruption.signal,
  };
}

/** Ends with `user_cancelled` when interrupted: somebody who waits for input cannot look at the signal. */
async function* standardInput(interrupted: AbortSignal): AsyncGenerator<Uint8Array> {
  interrupted.addEventListener("abort", () => process.stdin.destroy(), { once: true });
  try {
    for await (const chunk of process.stdin) yield chunk as Uint8Array;
  } catch (error) {
    if (!interrupted.aborted) throw error;
  }
  if (interrupted.aborted) throw fault("user_cancelled", "cancelled while reading standard input");
}

/** NO_COLOR wins, then FORCE_COLOR, then whether it is a terminal that is not dumb. */
export function wantsColour(
  environment: { readonly [name: string]: string | undefined },
  isTty: boolean,
): boolean {
  if ((environment["NO_COLOR"] ?? "") !== "") return false;
  if ((environment["FORCE_COLOR"] ?? "") !== "") return environment["FORCE_COLOR"] !== "0";
  return isTty && environment["TERM"] !== "dumb";
}

const COLOURS: { readonly [word: string]: string } = {
  error: "31",
  fail: "31",
  hint: "36",
  warn: "33",
  note: "33",
  ok: "32",
};

/**
 * Text ready for a terminal: control, bidirectional and other invisible characters escaped, then colour added at
 * the words that start our own lines.
 */
export function render(text: string, colour: boolean): string {
  const visible = text.replace(INVISIBLE, escapeCharacter);
  if (!colour) return visible;
  return visible.replace(
    /^(\s*)(error|hint|warn|note|ok|fail)\b/gm,
    (_, space: string, word: string) => `${space}\u001b[${COLOURS[word] ?? "0"}m${word}\u001b[0m`,
  );
}

/**
 * A document for programs, which may end up on a terminal all the same: what that would obey is written as JSON's own
 * escapes, so that it says the same.
 */
export function jsonText(document: unknown, indent = 0): string {
  return JSON.stringify(document, null, indent).replace(INVISIBLE, (character) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

/** All but line feed and tab that does not show, moves the cursor or turns text around. */
const INVISIBLE = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

function escapeCharacter(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
