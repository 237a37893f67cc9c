/** One line from the person at the terminal, on standard error so that standard output stays what was asked for. */
import { fault } from "./fault.ts";

const ENTER = /[\r\n]/;
const INTERRUPT = "\u0003";
const END = "\u0004";
const ERASE = /[\u007f\b]/;

/** @throws RoteError `user_cancelled` for Ctrl-C, and for an input that ends before the line does */
export function askLine(
  question: string,
  hidden: boolean,
  interruption: AbortController,
): Promise<string> {
  const { stdin, stderr } = process;
  return new Promise((resolve, reject) => {
    let line = "";

    const finish = (settle: () => void): void => {
      stdin.off("data", take).off("end", cancel);
      interruption.signal.removeEventListener("abort", cancel);
      stdin.setRawMode(false);
      stdin.pause();
      if (hidden) stderr.write("\n");
      settle();
    };
    const cancel = (): void =>
      finish(() => {
        // What follows is no part of the line that was begun.
        if (!hidden) stderr.write("\n");
        reject(fault("user_cancelled", "cancelled"));
      });
    // In raw mode the terminal neither shows nor edits a line, nor makes a signal of Ctrl-C.
    const take = (chunk: string): void => {
      for (const character of chunk) {
        if (ENTER.test(character)) return finish(() => resolve(line));
        if (character === INTERRUPT) return interruption.abort();
        if (character === END && line === "") return cancel();
        line = ERASE.test(character) ? [...line].slice(0, -1).join("") : line + character;
      }
    };

    interruption.signal.addEventListener("abort", cancel, { once: true });
    stdin.setEncoding("utf8");
    // Before anything is asked, so that no answer comes so fast that it is shown.
    stdin.setRawMode(hidden);
    stdin.on("data", take).on("end", cancel);
    stdin.resume();
    stderr.write(question);
  });
}
